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

/// Pieces of one object that one call writes.
using Group = std::span<const core::Write* const>;

/// Cuts pieces, in their order, into groups that need at most `most_bytes` when they are united; a
/// piece that needs more is a group of its own, and so is every piece where it is 0.  [local]
[[nodiscard]] std::vector<Group> groups_of(const core::Object& object, Group pieces,
                                           std::uint64_t most_bytes);

struct United {
    Selected selected;
    std::unique_ptr<std::byte[]> values;
    std::uint64_t elements = 0;  ///< each once, also where pieces overlap
};
/// Where pieces overlap the later one wins, as it does in calls of their own.  [local]
/// @param dims     present extents of the object
/// @param in_file  the dataset's whole space
[[nodiscard]] United unite(const core::Object& object, const core::Extents& dims, Group pieces,
                           h5::Id in_file);

}  // namespace tailrace::formats::hdf5
