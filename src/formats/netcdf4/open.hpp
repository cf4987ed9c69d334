// SPDX-License-Identifier: Apache-2.0
// The netCDF-4 format for the rest of Tailrace; free of netcdf.h.
#pragma once

#include <filesystem>
#include <memory>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::netcdf4 {

/// Creates `target` for writing by every rank of `comm`.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm,
                                                    const core::Target& target,
                                                    const Options& options, core::Phases& phases);

/// Opens a finished file for reading by every rank of `comm`.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source(const comm::Comm& comm,
                                                        const std::filesystem::path& path,
                                                        const Options& options,
                                                        core::Phases& phases);

/// Whether this build could follow the options with so many ranks; touches no file.  [local]
/// @throws core::Error{bad_input | unsupported}
void check(const Options& options, int ranks);

/// Refuses a name that netCDF would take for another.  [local]
/// @throws core::Error{Code::bad_input}
void check_path(const std::filesystem::path& path);

/// Whether a file could hold the objects and attributes.  [local]
/// @throws core::Error{bad_input | unsupported} as define() would
void check_schema(const Options& options, const core::Schema& schema);

}  // namespace tailrace::formats::netcdf4
