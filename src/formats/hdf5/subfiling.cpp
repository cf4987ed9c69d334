// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/subfiling.hpp"

#include <fstream>

#include "formats/companions.hpp"

namespace tailrace::formats::hdf5 {

std::map<std::string, std::string> subfiling_in_force(const std::filesystem::path& path) {
    const std::map<std::string, std::string> keys{{"subfile_count", "subfiles"},
                                                  {"stripe_size", "subfile_stripe_bytes"}};
    std::map<std::string, std::string> settings;
    for (const std::string& file : subfiles_of(path)) {
        if (!file.ends_with(".config")) continue;
        std::ifstream config(file);
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
