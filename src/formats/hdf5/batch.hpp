// SPDX-License-Identifier: Apache-2.0
// What the Sinks over HDF5 check, and agree on, before any of them touches a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/sink.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/hdf5/united.hpp"
#include "formats/options.hpp"
#include "formats/sink/batch.hpp"

namespace tailrace::formats::hdf5 {

/// An object of a file that is being written.
struct Dataset : Defined {
    h5::Id id;  ///< where this rank has the file open in HDF5
};

/// A batch whose pieces were united: `rounds` are the most groups of any rank.
struct GroupedBatch : Batch {
    std::vector<std::vector<Group>> groups{};  ///< of `mine`
    bool united = false;                       ///< some rank has pieces in one call
};

/// All checks that need no file: options that this build can follow, the same on all ranks.
/// [collective]
/// @throws core::Error{bad_input | unsupported | rank_mismatch} on all ranks
void check_opening(const comm::Comm& comm, const core::Target& target, const Options& options);

/// Refuses names that are taken, and objects and attributes that HDF5 could not store.  [local]
/// @throws core::Error{Code::bad_input}
void check_schema(const Options& options, std::span<const Dataset> datasets,
                  const core::Schema& schema);

/// Refuses an encoded chunk that does not fit its object.  [local]
/// @throws core::Error{wrong_call | bad_input}
void check_chunk(const Options& options, std::span<const Dataset> datasets,
                 const core::EncodedChunk& chunk, const std::string& file);

/// Makes a dataset. Collective where the file was opened by several ranks.
/// @throws core::Error
[[nodiscard]] h5::Id create_dataset(const h5::Id& file, const core::Object& object,
                                    const Options& options, Driver driver);

}  // namespace tailrace::formats::hdf5
