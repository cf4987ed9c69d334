// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "formats/file/companions.hpp"
#include "formats/file/part_file.hpp"
#include "formats/hdf5/in_force.hpp"

namespace tailrace::formats::hdf5 {

namespace {

/// A few lines at most; a file whose reads fail and are held has no end.
std::string beginning_of(const std::string& file) {
    constexpr std::size_t most_bytes = 64U << 10U;
    const Descriptor fd(open_file(file, O_RDONLY));
    std::string text(fd.open() ? most_bytes : 0, '\0');
    const ssize_t got = fd.open() ? ::pread(fd.get(), text.data(), text.size(), 0) : 0;
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

}  // namespace

std::map<std::string, std::string> subfiling_in_force(const std::filesystem::path& path) {
    const std::map<std::string, std::string> keys{{"subfile_count", "subfiles"},
                                                  {"stripe_size", "subfile_stripe_bytes"}};
    std::map<std::string, std::string> settings;
    for (const std::string& file : subfiles_of(path)) {
        if (!file.ends_with(".config")) continue;
        std::istringstream config(beginning_of(file));
        for (std::string line; std::getline(config, line);) {
            const std::size_t equals = line.find('=');
            const auto known = keys.find(line.substr(0, equals));
            if (equals != std::string::npos && known != keys.end())
                settings[known->second] = line.substr(equals + 1);
        }
    }
    return settings;
}

}  // namespace tailrace::formats::hdf5
