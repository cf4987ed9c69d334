// SPDX-License-Identifier: Apache-2.0
#include "formats/companions.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tailrace::formats {

namespace fs = std::filesystem;

fs::path manifest_of(const fs::path& path) {
    fs::path manifest = path;
    manifest += ".manifest";
    return manifest;
}

std::vector<fs::path> companions_of(const fs::path& path) {
    std::ifstream file(manifest_of(path));
    if (!file) return {};
    const auto manifest = nlohmann::json::parse(file, nullptr, false);
    if (!manifest.is_object() || manifest.value("format", "") != "tailrace-complete/1" ||
        !manifest.contains("files") || !manifest["files"].is_array())
        return {};
    const std::string prefix = path.filename().string() + ".subfile_";
    std::vector<fs::path> found;
    for (const auto& entry : manifest["files"]) {
        if (!entry.is_string()) continue;
        const auto name = entry.get<std::string>();
        if (name.starts_with(prefix) && name.find('/') == std::string::npos)
            found.push_back(path.parent_path() / name);
    }
    return found;
}

}  // namespace tailrace::formats
