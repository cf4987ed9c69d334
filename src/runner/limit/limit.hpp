// SPDX-License-Identifier: Apache-2.0
// The limit beside a kernel: its bytes by plain means, interleaved with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/record.hpp"
#include "formats/limit/limit.hpp"

namespace tailrace::runner::limit {

/// Runs all arms and `kernel` once each, in random order.  [collective]
/// @param beside  the name that the files of the arms are made after
/// @param kernel  may be empty: then the arms alone
/// @param record  what is known, also after a failure
/// @throws core::Error on all ranks, of `kernel` only; a failure of an arm stands in the record
void run_beside(const comm::Comm& comm, const formats::limit::Work& work,
                const std::filesystem::path& beside, const std::function<void()>& kernel,
                core::LimitRecord& record);

/// Rates of the arms over repetitions.
class Figures {
public:
    /// Takes the arms of a Record that were measured.  [local]
    void add(const core::Record& record);
    /// A table with the medians: rate of each arm, and the ratio of the kernel to it where there
    /// was one; empty where nothing was added.  [local]
    [[nodiscard]] std::string text() const;

private:
    struct Arm {
        std::vector<double> rates, ratios;
        std::string against, error;
    };
    std::map<std::string, Arm> x_arms;
    std::size_t x_records = 0;
};

}  // namespace tailrace::runner::limit
