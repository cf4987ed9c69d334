// SPDX-License-Identifier: Apache-2.0
#include "formats/file/companions.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/file/part_file.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;

namespace {

constexpr const char* complete_format = "tailrace-complete/1";
constexpr std::uintmax_t largest_manifest = std::uintmax_t{1} << 30;

bool is_regular(const fs::path& path) {
    std::error_code ignored;
    return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
}

bool says(const nlohmann::json& json, const char* key, const char* value) {
    return json.is_object() && json.contains(key) && json[key] == value;
}

/// The JSON object of a format of ours in a file; null where it is none. Large files of others are
/// not read to their end to find that out: ours say what they are at their beginning.
nlohmann::json object_in(const fs::path& path, const std::string& format) {
    std::error_code failed;
    if (!is_regular(path) || fs::file_size(path, failed) > largest_manifest || failed) return {};
    std::ifstream file(path);
    std::string head(4096, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (!head.starts_with('{') || head.find(format) == std::string::npos) return {};
    file.clear();
    file.seekg(0);
    auto json = nlohmann::json::parse(file, nullptr, false);
    return says(json, "format", format.c_str()) ? json : nlohmann::json();
}

/// The texts of a list in a manifest that are plain names.
std::vector<std::string> names_in(const nlohmann::json& manifest, const char* key) {
    std::vector<std::string> names;
    if (!manifest.contains(key) || !manifest[key].is_array()) return names;
    for (const auto& entry : manifest[key])
        if (entry.is_string() && entry.get<std::string>().find('/') == std::string::npos)
            names.push_back(entry.get<std::string>());
    return names;
}

/// The names of the parts where a file is the manifest of a file per rank.
std::vector<std::string> parts_named_by(const fs::path& file) {
    const nlohmann::json set = object_in(file, "tailrace-raw/1");
    if (!says(set, "kind", "per-rank")) return {};
    return names_in(set, "parts");
}

/// A set of subfiles without its configuration is none that we know.
bool has_configuration(const fs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    std::ifstream config(folder_of(path) / (path.filename().string() + ".subfile_" +
                                            std::to_string(info.st_ino) + ".config"));
    std::string line;
    return std::getline(config, line) && line.starts_with("stripe_size=");
}

}  // namespace

fs::path manifest_of(const fs::path& path) {
    fs::path manifest = path;
    manifest += ".manifest";
    return manifest;
}

bool is_manifest(const fs::path& manifest) {
    return object_in(manifest, complete_format).is_object();
}

std::vector<std::string> subfiles_of(const fs::path& path, ino_t inode) {
    const std::string prefix = path.filename().string() + ".subfile_" + std::to_string(inode);
    std::vector<std::string> names;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder_of(path), unreadable)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
        const char next = name[prefix.size()];
        if (next == '_' || next == '.') names.push_back((path.parent_path() / name).string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> subfiles_of(const fs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return subfiles_of(path, info.st_ino);
}

bool is_part_name(const std::string& manifest, const std::string& name) {
    if (!name.starts_with(manifest + ".")) return false;
    std::string number = name.substr(manifest.size() + 1);
    if (number.ends_with(".b")) number.resize(number.size() - 2);
    return number.size() >= 5 && number.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<fs::path> companions_of(const fs::path& path) {
    const std::string own = path.filename().string();
    std::vector<fs::path> found;
    const auto add = [&](const std::string& name) {
        const fs::path file = path.parent_path() / name;
        if (is_regular(file)) found.push_back(file);
    };
    const nlohmann::json complete = object_in(manifest_of(path), complete_format);
    if (complete.is_object()) {
        for (const std::string& name : names_in(complete, "files"))
            if (name.starts_with(own + ".subfile_")) add(name);
        add(own + ".manifest");
    }
    if (has_configuration(path))
        for (const std::string& file : subfiles_of(path)) add(fs::path(file).filename().string());
    for (const std::string& name : parts_named_by(path))
        if (is_part_name(own, name)) add(name);
    // What others are found by comes last: the configuration, then the manifest.
    std::sort(found.rbegin(), found.rend());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// Only where there is something to lose are the files of the folder looked at.
void check_unshared(const fs::path& path, const std::vector<fs::path>& files) {
    const std::string own = path.filename().string();
    std::set<std::string> ours;
    for (const fs::path& file : files)
        if (is_part_name(own, file.filename().string())) ours.insert(file.filename().string());
    if (ours.empty()) return;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder_of(path), unreadable)) {
        const std::string name = entry.path().filename().string();
        if (name == own || name.starts_with(part_of(own).string()) || is_part_name(own, name))
            continue;
        for (const std::string& part : parts_named_by(entry.path()))
            if (ours.contains(part))
                throw core::Error(core::Code::already_exists,
                                  "it holds data of " + entry.path().string() +
                                      ", whose manifest names it and was renamed or copied from " +
                                      own,
                                  (path.parent_path() / part).string(),
                                  "rename that one back, remove it, or choose another file name");
    }
}

}  // namespace tailrace::formats
