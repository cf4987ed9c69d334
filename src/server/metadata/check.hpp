// SPDX-License-Identifier: Apache-2.0
// What metadata may not say; internal to this room. All throw core::Error{Code::bad_input}.
#pragma once

#include <string>
#include <variant>

#include "server/metadata/metadata.hpp"

namespace tailrace::server {

void check_name(const std::string& name, const std::string& where);          ///< [local]
void check_attribute(const Attribute& attribute, const std::string& where);  ///< [local]
/// The fill value that an attribute gives a variable.  [local]
[[nodiscard]] std::variant<std::int64_t, double> fill_of(const Attribute& attribute,
                                                         const Variable& variable);
void check_fill(const Variable& variable);  ///< [local]
/// @param extents  of the whole variable; an unlimited dimension has the largest number  [local]
void check_storage(const Variable& variable, const core::Extents& extents);

}  // namespace tailrace::server
