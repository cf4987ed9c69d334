// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/hints.hpp"

#include <algorithm>

namespace tailrace::intent::plan {

std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> hints;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(';', at), text.size());
        const std::string part = text.substr(at, end - at);
        if (const std::size_t equals = part.find('='); equals != std::string::npos)
            hints.emplace_back(part.substr(0, equals), part.substr(equals + 1));
        at = end + 1;
    }
    return hints;
}

}  // namespace tailrace::intent::plan
