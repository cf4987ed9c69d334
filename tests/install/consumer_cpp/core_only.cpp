// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/box.hpp"
#include "core/context.hpp"

int main() {
    const tailrace::core::Box box{{0, 0}, {3, 4}};
    std::printf("tailrace %s: a box of %llu elements\n",
                std::string(tailrace::core::version()).c_str(),
                static_cast<unsigned long long>(box.volume()));
    return box.volume() == 12 ? 0 : 1;
}
