// SPDX-License-Identifier: Apache-2.0
// The JSON texts of the raw container (docs/reference/raw_container.md). No I/O.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schema.hpp"
#include "core/sink.hpp"
#include "formats/raw/layout.hpp"

namespace tailrace::formats::raw {

/// A piece in the part of a rank.
struct StoredPiece {
    core::ObjectId object = 0;
    core::Box place;
    std::uint64_t at = 0;  ///< byte in the part
};

/// What a description or a manifest says.
struct Contents {
    bool per_rank = false;
    std::vector<Placed> objects;  ///< of a file per rank: without a place
    std::vector<std::string>
        parts;  ///< of a file per rank: names relative to the manifest's folder
};

[[nodiscard]] std::string describe_shared(
    const std::vector<Placed>& objects,
    const std::vector<core::Attribute>& attributes);  ///< [local]
[[nodiscard]] std::string describe_manifest(const std::vector<Placed>& objects,
                                            const std::vector<core::Attribute>& attributes,
                                            const std::vector<std::string>& parts);  ///< [local]
[[nodiscard]] std::string describe_part(int rank,
                                        const std::vector<StoredPiece>& pieces);  ///< [local]

constexpr std::uint64_t any_bytes = UINT64_MAX;  ///< the size of the data region is not known

/// The inverse of describe_shared and describe_manifest.  [local]
/// @param where       name of the file, for messages
/// @param data_bytes  size of the data region: no object may reach beyond it
/// @throws core::Error{Code::io} where the text is not what it should be
[[nodiscard]] Contents parse_contents(const std::string& text, const std::string& where,
                                      std::uint64_t data_bytes = any_bytes);
/// The inverse of describe_part.  [local]
[[nodiscard]] std::vector<StoredPiece> parse_part(const std::string& text,
                                                  const std::vector<Placed>& objects,
                                                  const std::string& where,
                                                  std::uint64_t data_bytes = any_bytes);
/// Whether a text is the description of a part. Never throws on what is not.  [local]
[[nodiscard]] bool describes_part(const std::string& text);

/// "F.00012" for part 12 of F.  [local]
[[nodiscard]] std::string part_name(const std::string& manifest, int rank);

/// Puts `more` behind `attributes`; one of the same object and name takes the place of the older.
/// [local]
void merge_attributes(std::vector<core::Attribute>& attributes,
                      const std::vector<core::Attribute>& more);

}  // namespace tailrace::formats::raw
