// SPDX-License-Identifier: Apache-2.0
// Several pieces of one object and rank as one: a selection that has all their places, and their
// values in its order. docs/decisions/0010-pieces-united.md says when, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/sink.hpp"
#include "formats/hdf5/elements.hpp"

namespace tailrace::formats::hdf5 {

/// Values that are copied at most so that one call takes them.
constexpr std::uint64_t united_bytes = std::uint64_t{64} << 20U;

/// Pieces of one object that one call writes, or reads.
struct Group {
    std::span<const core::Write* const> pieces;
    bool in_box = false;  ///< their values lie in memory as in the file: in the box around them all
};

/// How the pieces of an object may be united.
struct Uniting {
    std::uint64_t most_bytes = 0;  ///< of memory for it; 0: each piece is a group of its own
    core::Extents chunk{};         ///< of the object; empty where it is contiguous
    bool filtered = false;
};

/// Cuts pieces, in their order, into groups.  [local]
[[nodiscard]] std::vector<Group> groups_of(const core::Object& object,
                                           std::span<const core::Write* const> pieces,
                                           const Uniting& how);

/// Elements that follow one another in the file, and where they lie among the united values.
struct Run {
    std::uint64_t at, count, position;
};

struct United {
    Selected selected;
    std::unique_ptr<std::byte[]> values;
    std::uint64_t elements = 0;     ///< each once, also where pieces overlap
    std::vector<core::Box> places;  ///< of the pieces, in an array of `dims`
    core::Extents dims;
    std::vector<Run> runs;
};
/// The places of the pieces, and room for their values.  [local]
/// @param dims     present extents of the object
/// @param in_file  the dataset's whole space
[[nodiscard]] United united_places(const core::Object& object, const core::Extents& dims,
                                   const Group& group, h5::Id in_file);
/// The same with their values. Where pieces overlap the later one wins, as it does in calls of
/// their own.  [local]
[[nodiscard]] United unite(const core::Object& object, const core::Extents& dims,
                           const Group& group, h5::Id in_file);
/// Copies values that were read to the pieces of the group.  [local]
/// @pre they are of the object's type
void hand_out(const core::Object& object, const United& united,
              std::span<core::Read* const> pieces);

}  // namespace tailrace::formats::hdf5
