// SPDX-License-Identifier: Apache-2.0
#include "fill_block.hpp"

namespace tailrace::python {

namespace {
using FillFunction = float (*)(int, std::uint64_t*, std::uint64_t*, std::uint64_t*, std::uint64_t*,
                               int, char**);
}

void fill_block(std::uintptr_t function, const PluginCall& call, const Triple& offset,
                const Triple& count, float* values) {
    const auto fill = reinterpret_cast<FillFunction>(function);
    // The ABI takes pointers to non-const: a plugin gets copies of its own.
    Triple system_size = call.system_size, block_size = call.block_size,
           block_number = call.block_number;
    std::vector<std::string> texts = call.arguments;
    std::vector<char*> arguments;
    for (auto& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    const int argc = static_cast<int>(texts.size());
    for (std::uint64_t x = 0; x < count[0]; ++x) {
        for (std::uint64_t y = 0; y < count[1]; ++y) {
            for (std::uint64_t z = 0; z < count[2]; ++z) {
                Triple position{offset[0] + x, offset[1] + y, offset[2] + z};
                *values++ = fill(call.rank, system_size.data(), block_size.data(),
                                 block_number.data(), position.data(), argc, arguments.data());
            }
        }
    }
}

}  // namespace tailrace::python
