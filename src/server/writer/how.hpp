// SPDX-License-Identifier: Apache-2.0
// From what the model says of a file to what the formats are asked for.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "core/schema.hpp"
#include "formats/options.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// The objects and attributes, with fill values if the format has none of its own.  [local]
[[nodiscard]] core::Schema schema_of(const FileSpec& spec);
enum class WriteTo { new_objects, present_objects };
/// For a writer alone, without MPI.  [local]
/// @throws core::Error{Code::unsupported} for storage that the format does not have
[[nodiscard]] formats::Options options_of(const FileSpec& spec,
                                          WriteTo where = WriteTo::new_objects);
/// What ranks that write have not, by format, and filter (deflate, zstd) or "" for the format.
using Lacking = std::map<std::pair<FileFormat, std::string>, core::Error>;
/// The same on all ranks.  [collective]
/// @param writes  whether this rank does
[[nodiscard]] Lacking lacking(const comm::Comm& comm, bool writes);
/// Refuses what the format of the files cannot hold, and what who writes it has not.  [local]
/// @throws core::Error{bad_input | unsupported}
void check(const FileSpec& spec, const Lacking& lacking);
/// One element of this type and value.  [local]
[[nodiscard]] std::vector<std::byte> element_of(Element type,
                                                const std::variant<std::int64_t, double>& value);
/// One element: the fill value of the variable, or that of netCDF for its type.  [local]
[[nodiscard]] std::vector<std::byte> fill_bytes(const Variable& variable);

}  // namespace tailrace::server
