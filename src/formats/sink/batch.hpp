// SPDX-License-Identifier: Apache-2.0
// Objects that a library keeps, and what all ranks together need for one call of write().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/sink.hpp"
#include "formats/sink/file_sink.hpp"

namespace tailrace::formats {

/// An object of a file that is being written.
struct Defined {
    core::Object object;
    core::Extents dims;  ///< present extents in the file
};

using DefinedList = std::vector<const Defined*>;

/// What the functions below take, of a range of Defined or of what derives from it.  [local]
template <class Range>
[[nodiscard]] DefinedList list_of(const Range& range) {
    DefinedList list;
    for (const Defined& one : range) list.push_back(&one);
    return list;
}

/// One call of write(): this rank's pieces by object, and what all ranks together need.
struct Batch {
    std::vector<std::vector<const core::Write*>> mine;
    std::vector<std::uint64_t> rounds;   ///< per object: most pieces of any rank
    std::vector<core::Extents> extents;  ///< per object: what the writes reach
};

/// Whether a dimension is unlimited.  [local]
[[nodiscard]] bool grows(const core::Object& object);

/// Checks the pieces of this rank; the rounds of every object, then the ends of those that grow.
/// Never throws.  [local]
[[nodiscard]] Needs batch_needs(const DefinedList& objects, std::span<const core::Write> pieces,
                                const std::string& file);

/// The batch of good pieces, from the needs that all ranks `agreed` on.  [local]
[[nodiscard]] Batch batch_of(const DefinedList& objects, std::span<const core::Write> pieces,
                             std::span<const std::uint64_t> agreed);

/// Refuses a schema that names an object twice, or like a group; asks `check_object` of each
/// object and `check_attribute(attribute, object_known)` of each attribute.  [local]
/// @throws core::Error{Code::bad_input}
void check_objects(const DefinedList& objects, const core::Schema& schema,
                   const std::function<void(const core::Object&)>& check_object,
                   const std::function<void(const core::Attribute&, bool)>& check_attribute);

}  // namespace tailrace::formats
