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

namespace tailrace::formats::hdf5 {

/// An object of a file that is being written.
struct Dataset {
    core::Object object;
    core::Extents dims;  ///< present extents in the file
    h5::Id id;           ///< where this rank has the file open in HDF5
};

/// One call of write(): this rank's pieces by object, and what all ranks together need.
struct Batch {
    std::vector<std::vector<const core::Write*>> mine;
    std::vector<std::vector<Group>> groups;  ///< of `mine`, filled by who unites pieces
    std::vector<std::uint64_t> rounds;       ///< per object: most pieces (or groups) of any rank
    std::vector<core::Extents> extents;      ///< per object: what the writes reach
};

/// All checks that need no file: options that this build can follow, the same on all ranks.
/// [collective]
/// @throws core::Error{bad_input | unsupported | rank_mismatch} on all ranks
void check_opening(const comm::Comm& comm, const core::Target& target, const Options& options);

/// Refuses names that are taken, and objects and attributes that HDF5 could not store.  [local]
/// @throws core::Error{Code::bad_input}
void check_schema(const Options& options, std::span<const Dataset> datasets,
                  const core::Schema& schema);

/// Checks the pieces of all ranks and finds what they need together.  [collective]
/// @throws core::Error{bad_input | wrong_call} on all ranks
[[nodiscard]] Batch agree_on_batch(const comm::Comm& comm, std::span<const Dataset> datasets,
                                   std::span<const core::Write> pieces, const std::string& file);

/// Refuses an encoded chunk that does not fit its object.  [local]
/// @throws core::Error{wrong_call | bad_input}
void check_chunk(const Options& options, std::span<const Dataset> datasets,
                 const core::EncodedChunk& chunk, const std::string& file);

/// Makes a dataset. Collective where the file was opened by several ranks.
/// @throws core::Error
[[nodiscard]] h5::Id create_dataset(const h5::Id& file, const core::Object& object,
                                    const Options& options, Driver driver);

/// Ids of the `count` objects that were defined last.  [local]
[[nodiscard]] std::vector<core::ObjectId> last_ids(std::span<const Dataset> datasets,
                                                   std::size_t count);

}  // namespace tailrace::formats::hdf5
