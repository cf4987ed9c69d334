// SPDX-License-Identifier: Apache-2.0
// One shared raw file, written through MPI-IO.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/target_file.hpp"
#include "formats/mpiio/file.hpp"
#include "formats/options.hpp"
#include "formats/raw/raw_sink.hpp"

namespace tailrace::formats::mpiio {

class Sink final : public raw::RawSink {
public:
    /// @throws core::Error on all ranks or on none  [collective]
    Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
         core::Phases& phases);
    ~Sink() override;

private:
    [[nodiscard]] std::vector<std::uint64_t> plan(std::span<const core::Write> pieces) override;
    void move(std::span<const core::Write> pieces, std::span<const std::uint64_t> agreed) override;
    void publish() override;
    void abandon() noexcept override;
    void discard() noexcept override;
    void tell(core::FileReport& report, bool published) override;

    void say_how_collective(core::FileReport& report) const;

    Options x_options;
    std::optional<File> x_file;
    Portions x_portions;  ///< of the batch between plan() and move()
    Hints x_hints_in_force;
};

/// Opens a finished shared file for reading through MPI-IO; a file per rank is read as by
/// posix.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source(const comm::Comm& comm,
                                                        const std::filesystem::path& path,
                                                        const Options& options,
                                                        core::Phases& phases);

}  // namespace tailrace::formats::mpiio
