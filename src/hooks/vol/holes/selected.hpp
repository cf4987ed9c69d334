// SPDX-License-Identifier: Apache-2.0
// What a selection in a file selects, whatever its kind.
#pragma once

#include "hooks/vol/holes/fill_values.hpp"
#include "hooks/vol/holes/written_places.hpp"

namespace tailrace::hooks::vol {

/// Blocks in equal steps, all within the array.  [local]
bool is_regular_within(const Library& of, Id space, const Array& array, ElementSet& place);

/// Adds all elements that a write into `space` writes. Where not all of them are found out, `to`
/// has lost some.  [local]
void add_selected(const Library& of, Id space, const Array& array, WrittenPlaces& to);

}  // namespace tailrace::hooks::vol
