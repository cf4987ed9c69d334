// SPDX-License-Identifier: Apache-2.0
// Objects that a library keeps, and what all ranks together need for one call of write().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// An object of a file that is being written.
struct Defined {
    core::Object object;
    core::Extents dims;  ///< present extents in the file
};

/// One call of write(): this rank's pieces by object, and what all ranks together need.
struct Batch {
    std::vector<std::vector<const core::Write*>> mine;
    std::vector<std::uint64_t> rounds;   ///< per object: most pieces of any rank
    std::vector<core::Extents> extents;  ///< per object: what the writes reach
};

/// Whether a dimension is unlimited.  [local]
[[nodiscard]] bool grows(const core::Object& object);

/// Checks the pieces of all ranks and finds what they need together.  [collective]
/// @throws core::Error{bad_input | wrong_call} on all ranks; nothing was written
[[nodiscard]] Batch agree_on_batch(const comm::Comm& comm, std::span<const Defined> objects,
                                   std::span<const core::Write> pieces, const std::string& file);

/// Calls `one(object, piece)` for the pieces of every object; where ranks go `together`, as often
/// on all of them, with nullptr for what this rank has not. The first failure of this rank goes to
/// `pending`; it stays in step, with nothing to write.
void in_rounds(const Batch& batch, std::optional<core::Error>& pending,
               const std::function<bool(std::size_t)>& together,
               const std::function<void(std::size_t, const core::Write*)>& one);

/// Refuses a schema that names an object twice, or like a group; asks `check_object` of each
/// object and `check_attribute(attribute, object_known)` of each attribute.  [local]
/// @throws core::Error{Code::bad_input}
void check_objects(std::span<const Defined> objects, const core::Schema& schema,
                   const std::function<void(const core::Object&)>& check_object,
                   const std::function<void(const core::Attribute&, bool)>& check_attribute);

}  // namespace tailrace::formats
