// SPDX-License-Identifier: Apache-2.0
// What `repack` and `tune` ask of the estimator, from the text of a profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intent/plan/compiled.hpp"
#include "intent/rules/advise.hpp"

namespace tailrace::intent::rules {

/// A dataset as it lies in the file that is there.
struct InFile {
    std::vector<std::string> paths;
    std::vector<std::uint64_t> dims, chunk;
    std::string layout;
    std::uint64_t item_bytes = 0;
    bool packed = false;
};
/// The reads of a dataset that move the most, and the chunk that suits all its reads; empty: they
/// are served well enough.
struct ForReads {
    std::vector<std::uint64_t> chunk, length;
    std::uint64_t calls = 0;
};
/// For each dataset; nothing where the profile has no reads of it.  [local]
/// @throws Error{bad_input | unknown_key | missing_key} naming the profile
[[nodiscard]] std::vector<std::optional<ForReads>> chunks_for_reads(
    const Document& profile, const std::string& file, const std::vector<InFile>& datasets);

/// A file that is only read, in chunks that do not suit its reads.
struct BadlyRead {
    std::string file;
    double times = 1;               ///< by how much less would be moved
    std::optional<double> saved_s;  ///< of the run that was profiled
};
/// All of them, those first that save the most; what they save on top of a plan, where one is
/// given.  [local]
/// @throws Error{bad_input | unknown_key | missing_key} naming the profile
[[nodiscard]] std::vector<BadlyRead> badly_read(const Document& profile,
                                                const plan::PlanView* kept = nullptr);

}  // namespace tailrace::intent::rules
