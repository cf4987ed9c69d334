// SPDX-License-Identifier: Apache-2.0
// From Options to a Sink or a Source.
#pragma once

#include <filesystem>
#include <memory>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats {

/// Opens `target` for writing by every rank of `comm`; reserves space.  [collective]
/// @throws core::Error on all ranks or on none; Code::unsupported where the format or an option is
///         not in this build
[[nodiscard]] std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm,
                                                    const core::Target& target,
                                                    const Options& options, core::Phases& phases);

/// Opens a finished file for reading by every rank of `comm`.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source(const comm::Comm& comm,
                                                        const std::filesystem::path& path,
                                                        const Options& options,
                                                        core::Phases& phases);

}  // namespace tailrace::formats
