// SPDX-License-Identifier: Apache-2.0
// From Options to a Sink or a Source; and what can be known of a file before it is created, for dry
// runs.
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

/// All that open_sink finds out before it creates anything: the name, its folder, another run that
/// writes it, what stands in the way, free space, filters and drivers of this build. Creates and
/// changes nothing.  [collective]
/// @param ranks  of the run that is planned; may be more than `comm` has
/// @throws core::Error on all ranks, as open_sink would
void check_sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                int ranks);

/// What this build lacks for these options on so many ranks: filters and drivers.  [local]
/// @throws core::Error{bad_input | unsupported} as open_sink() would
void check_build(const Options& options, int ranks);

/// What keeps a format from holding these objects and attributes, as far as that is known without a
/// library and depends on the options: types and sizes of the classic netCDF formats.  [local]
/// @throws core::Error{bad_input | unsupported} as define() would
void check_schema(const Options& options, const core::Schema& schema);

/// Before another thread writes files, by one that may call MPI: libraries that call MPI when they
/// begin do so here.  [local]
void begin();

/// When no more files are open, by a thread that may call MPI: libraries that have lost files end
/// without words, since an Error has told of them.  [local]
void before_end();

}  // namespace tailrace::formats
