// SPDX-License-Identifier: Apache-2.0
// The HDF5 format for the rest of Tailrace; free of hdf5.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::hdf5 {

/// Creates `target` for writing by every rank of `comm`; with Options::precreate the file itself
/// is made by rank 0 in the first define().  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm,
                                                    const core::Target& target,
                                                    const Options& options, core::Phases& phases);

/// Whether this build could follow the options with so many ranks; touches no file.  [local]
/// @throws core::Error{bad_input | unsupported}
void check(const Options& options, int ranks);

/// Subfiling records names inside the file: it cannot be renamed, whatever is asked for.  [local]
[[nodiscard]] inline core::Publish publish_of(const Options& options, core::Publish asked) {
    return options.subfiles == 0 ? asked : core::Publish::in_place;
}

/// Opens a finished file for reading by every rank of `comm`.  [collective]
/// @throws core::Error on all ranks or on none
[[nodiscard]] std::unique_ptr<core::Source> open_source(const comm::Comm& comm,
                                                        const std::filesystem::path& path,
                                                        const Options& options,
                                                        core::Phases& phases);

/// What this build of HDF5 can do, for `doctor`.
struct LibraryFacts {
    std::string version;  ///< "2.2.0"
    bool parallel = false;
    bool subfiling = false;
    bool deflate = false;
    std::vector<std::string> filters;  ///< names and numbers of the filters that are there
};
[[nodiscard]] LibraryFacts library_facts();  ///< [local]

/// HDF5 calls MPI when it begins (an attribute of MPI_COMM_SELF): by a thread that may.  [local]
void begin();

/// HDF5 forgets to free a chunk that it could not write, and at its end, in MPI_Finalize, says
/// "infinite loop closing library". If a file of one process was lost: its end is silent. To be
/// called after its first file, by a thread that may call MPI.  [local]
void before_end();

}  // namespace tailrace::formats::hdf5
