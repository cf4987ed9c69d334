// SPDX-License-Identifier: Apache-2.0
#include "formats/sink/settings.hpp"

#include <sstream>
#include <utility>

namespace tailrace::formats {

std::map<std::string, std::string> broadcast_settings(
    const comm::Comm& comm, const std::map<std::string, std::string>& mine) {
    std::string packed;
    if (comm.rank() == 0)
        for (const auto& [key, value] : mine) packed += key + '\n' + value + '\n';
    packed = comm.broadcast(std::move(packed));
    std::map<std::string, std::string> all;
    std::istringstream lines(packed);
    for (std::string key, value; std::getline(lines, key) && std::getline(lines, value);)
        all[key] = value;
    return all;
}

}  // namespace tailrace::formats
