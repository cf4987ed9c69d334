// SPDX-License-Identifier: Apache-2.0
// In a file of its own: without NaN and -0 the compiler may take several values at once.
#include <cstring>

#include "kernels/amr/fill.hpp"

namespace tailrace::kernels::amr {

Extremes extremes_of(std::span<const std::byte> values, std::uint64_t components) {
    const auto at = [&](std::size_t number) {
        double value = 0;
        std::memcpy(&value, values.data() + number * sizeof value, sizeof value);
        return value;
    };
    Extremes extremes;
    const std::size_t cells = values.size() / sizeof(double) / static_cast<std::size_t>(components);
    for (; !values.empty(); values = values.subspan(cells * sizeof(double))) {
        double least = at(0), most = least;
        for (std::size_t i = 1; i < cells; ++i) {
            const double value = at(i);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        extremes.least.push_back(least);
        extremes.most.push_back(most);
    }
    return extremes;
}

}  // namespace tailrace::kernels::amr
