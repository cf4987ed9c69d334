// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/fill.hpp"

#include <cstring>

#include "kernels/particle/geometry.hpp"

namespace tailrace::kernels::particle {

namespace {

template <class Value>
void put(std::byte*& at, Value value, std::uint64_t stride) {
    std::memcpy(at, &value, sizeof value);
    at += stride * element_bytes;
}

}  // namespace

void fill_variable(std::uint64_t step, std::size_t variable, core::Scalar type,
                   const core::Extents& dims, const core::Box& place, std::span<std::byte> values,
                   std::uint64_t stride) {
    std::uint64_t all = 1;
    for (const std::uint64_t extent : dims) all *= extent;
    const std::uint64_t before = (step * variables.size() + variable) * all;
    std::byte* at = values.data();
    core::for_each_run(place, dims, [&](std::uint64_t in_array, std::uint64_t, std::uint64_t n) {
        for (std::uint64_t index = before + in_array; n > 0; --n, ++index) {
            const std::uint32_t number = position_number(index);
            if (type == core::Scalar::i32)
                put(at, static_cast<std::int32_t>(number), stride);
            else if (variable == whole_variable)
                put(at, static_cast<float>(number), stride);
            else
                put(at, static_cast<float>(number) * 0x1p-24F, stride);
        }
    });
}

}  // namespace tailrace::kernels::particle
