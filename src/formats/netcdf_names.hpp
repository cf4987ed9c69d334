// SPDX-License-Identifier: Apache-2.0
// Names that the netCDF formats give to what a Schema does not name, so that all give the same.
#pragma once

#include <cstddef>
#include <string>

namespace tailrace::formats {

/// The one unlimited dimension of a file.
inline constexpr const char* record_dimension = "record";

/// Dimension `axis` of the variable `name`: "chunked_0".  [local]
[[nodiscard]] inline std::string dimension_name(const std::string& name, std::size_t axis) {
    return name + "_" + std::to_string(axis);
}

/// Several texts as one, for attributes that hold one only: a line each.
inline constexpr const char* text_separator = "\n";

}  // namespace tailrace::formats
