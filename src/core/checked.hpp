// SPDX-License-Identifier: Apache-2.0
// Products and sums of sizes that say when they leave 64 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/error.hpp"

namespace tailrace::core {

/// a * b.  [local]
/// @throws Error{Code::bad_input} naming `what` when it does not fit 64 bits
[[nodiscard]] inline std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b,
                                               std::string_view what) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw Error(Code::bad_input,
                    std::to_string(a) + " x " + std::to_string(b) + " does not fit 64 bits",
                    std::string(what), "make it smaller");
    return product;
}

/// a + b.  [local]
/// @throws Error{Code::bad_input} naming `what` when it does not fit 64 bits
[[nodiscard]] inline std::uint64_t checked_add(std::uint64_t a, std::uint64_t b,
                                               std::string_view what) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        throw Error(Code::bad_input,
                    std::to_string(a) + " + " + std::to_string(b) + " does not fit 64 bits",
                    std::string(what), "make it smaller");
    return sum;
}

/// Product of all factors (1 for none).  [local]
/// @throws Error{Code::bad_input} naming `what` when it does not fit 64 bits
[[nodiscard]] inline std::uint64_t checked_product(std::span<const std::uint64_t> factors,
                                                   std::string_view what) {
    std::uint64_t product = 1;
    for (std::uint64_t factor : factors) product = checked_mul(product, factor, what);
    return product;
}

}  // namespace tailrace::core
