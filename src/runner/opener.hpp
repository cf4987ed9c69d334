// SPDX-License-Identifier: Apache-2.0
// How the files of a kernel are opened: the run asks, and knows no format.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::runner {

class Opener {
public:
    virtual ~Opener() = default;
    [[nodiscard]] virtual std::string name() const = 0;  ///< "hdf5", for people  [local]
    /// What it cannot hold.  [local]
    /// @throws core::Error{bad_input | unsupported}
    virtual void check_schema(const core::Schema& schema) const = 0;
    /// What a sink finds out before it creates anything.  [collective]
    /// @param ranks  of the run that is planned
    virtual void check(const comm::Comm& comm, const core::Target& target, int ranks) const = 0;
    [[nodiscard]] virtual std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                           const core::Target& target,
                                                           core::Phases& phases) const = 0;
    [[nodiscard]] virtual std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                               const std::filesystem::path& path,
                                                               core::Phases& phases) const = 0;
};

/// One file that all ranks share. `options` outlive it.  [local]
[[nodiscard]] std::unique_ptr<Opener> one_file(const formats::Options& options);
/// A file per rank in that format: formats/split.  [local]
[[nodiscard]] std::unique_ptr<Opener> file_per_process(const formats::Options& options);
/// A folder of plain files, known by one of them: formats/split.  [local]
[[nodiscard]] std::unique_ptr<Opener> folder(std::string known_by);

}  // namespace tailrace::runner
