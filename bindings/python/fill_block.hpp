// SPDX-License-Identifier: Apache-2.0
// Values of a fill plugin over a box of one rank's block, for the verifier.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tailrace::python {

using Triple = std::array<std::uint64_t, 3>;

/// Who asks a plugin: the arguments that stay the same over a block.
struct PluginCall {
    int rank = 0;
    Triple system_size{};  ///< blocks per direction
    Triple block_size{};   ///< elements of a block
    Triple block_number{};
    std::vector<std::string> arguments;
};

/// Calls the function at `function` (a fill plugin's address) for each element of the box that
/// begins at `offset` within the block, row-major.  [local]
/// @param values  room for count[0] * count[1] * count[2] elements
void fill_block(std::uintptr_t function, const PluginCall& call, const Triple& offset,
                const Triple& count, float* values);

}  // namespace tailrace::python
