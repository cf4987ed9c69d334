// SPDX-License-Identifier: Apache-2.0
// One shared raw file, written through MPI-IO.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/mpiio/file.hpp"
#include "formats/options.hpp"
#include "formats/raw/sink_base.hpp"
#include "formats/target_file.hpp"

namespace tailrace::formats::mpiio {

class Sink final : public raw::SinkBase {
public:
    /// @throws core::Error on all ranks or on none  [collective]
    Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
         core::Phases& phases);
    ~Sink() override;

private:
    [[nodiscard]] raw::BatchPlan plan(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces, const raw::BatchPlan& agreed) override;
    [[nodiscard]] std::optional<core::Error> hidden_failure() override;
    void lost() override;
    void force() override;
    core::FileReport publish() override;
    void abandon(raw::Abandoned how) noexcept override;
    [[nodiscard]] TargetFile& target() noexcept override { return x_target; }

    void close_file();
    void say_how_collective(core::FileReport& report) const;

    Options x_options;
    TargetFile x_target;
    std::optional<File> x_file;
    Portions x_portions;  ///< of the batch between plan() and transfer()
    Hints x_hints_in_force;
    bool x_library_failed = false;  ///< MPI-IO itself told this rank of a failure
    bool x_out_of_step = false;     ///< it did so on some rank: the ranks may part inside of it
};

/// Opens a finished shared file for reading through MPI-IO; a file per rank is read as by
/// posix.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source(const comm::Comm& comm,
                                                        const std::filesystem::path& path,
                                                        const Options& options,
                                                        core::Phases& phases);

}  // namespace tailrace::formats::mpiio
