// SPDX-License-Identifier: Apache-2.0
#include "loaded_libraries.hpp"

#include <link.h>

#include <array>
#include <string_view>

namespace tailrace::test {
namespace {

int note_library(dl_phdr_info* info, std::size_t, void* paths) {
    static constexpr std::array<std::string_view, 7> telling = {
        "libmpi.", "libmpich.", "libhdf5", "libnetcdf", "libpnetcdf", "libtailrace", "libplugins"};
    const std::string_view path = info->dlpi_name;
    for (const auto name : telling) {
        if (path.find(name) == std::string_view::npos) continue;
        static_cast<std::vector<std::string>*>(paths)->emplace_back(path);
        break;
    }
    return 0;
}

}  // namespace

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(note_library, &paths);
    return paths;
}

}  // namespace tailrace::test
