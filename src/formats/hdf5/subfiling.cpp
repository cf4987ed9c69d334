// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/subfiling.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace tailrace::formats::hdf5 {

std::vector<std::string> subfiles_of(const std::filesystem::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    // "name.subfile_<inode>_1_of_4", "name.subfile_<inode>.config": a file of the same name from an
    // earlier run had another inode, and its subfiles are not ours.
    const std::string prefix = path.filename().string() + ".subfile_" + std::to_string(info.st_ino);
    std::vector<std::string> names;
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
        const char next = name[prefix.size()];
        if (next == '_' || next == '.') names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace tailrace::formats::hdf5
