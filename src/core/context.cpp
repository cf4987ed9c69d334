// SPDX-License-Identifier: Apache-2.0
#include "core/context.hpp"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

extern char** environ;

namespace tailrace::core {

namespace {

std::string contents(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The number in kB behind "Name:" in a text like /proc/meminfo, in bytes; 0 where missing.
std::uint64_t kilobytes_of(const std::string& text, std::string_view name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.size() <= name.size() || line.compare(0, name.size(), name) != 0 ||
            line[name.size()] != ':')
            continue;
        return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
    }
    return 0;
}

/// mountinfo writes blank, tab, line end and backslash as three octal digits.
std::string unescape(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                       (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool holds(const std::string& mount_point, const std::string& path) {
    if (mount_point == "/") return true;
    return path.compare(0, mount_point.size(), mount_point) == 0 &&
           (path.size() == mount_point.size() || path[mount_point.size()] == '/');
}

std::filesystem::path nearest_existing(const std::filesystem::path& path) {
    std::error_code ignored;
    std::filesystem::path here = std::filesystem::absolute(path, ignored);
    while (!std::filesystem::exists(here, ignored) && here.has_relative_path())
        here = here.parent_path();
    const std::filesystem::path real = std::filesystem::canonical(here, ignored);
    return real.empty() ? here : real;
}

// Of the machine, not of this process: a launcher binds each rank to one.
int cores_online() {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<int>(online) : 1;
}

std::vector<std::string> own_command() {
    const std::string text = contents("/proc/self/cmdline");
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\0', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::map<std::string, std::string> recorded_environment() {
    std::map<std::string, std::string> found;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        if (is_recorded(text.substr(0, equals), text.substr(equals + 1)))
            found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return found;
}

}  // namespace

std::optional<FileSystem> find_mount(std::string_view mountinfo,
                                     const std::filesystem::path& path) {
    std::optional<FileSystem> best;
    std::istringstream lines{std::string(mountinfo)};
    for (std::string line; std::getline(lines, line);) {
        // id parent major:minor root mount_point options [tags...] - type source super_options
        std::istringstream words(line);
        std::string skipped, mount_point, options, word;
        words >> skipped >> skipped >> skipped >> skipped >> mount_point >> options;
        while (words >> word && word != "-") {
        }
        FileSystem entry;
        std::string super_options;
        if (!(words >> entry.type >> entry.source)) continue;
        words >> super_options;
        entry.mount_point = unescape(mount_point);
        if (!holds(entry.mount_point, path.string())) continue;
        // A later mount on the same place hides the earlier one.
        if (best && best->mount_point.size() > entry.mount_point.size()) continue;
        entry.source = unescape(entry.source);
        entry.mount_options = super_options.empty() ? options : options + "," + super_options;
        best = entry;
    }
    return best;
}

FileSystem file_system_of(const std::filesystem::path& path) {
    const std::filesystem::path place = nearest_existing(path);
    FileSystem found = find_mount(contents("/proc/self/mountinfo"), place).value_or(FileSystem{});
    struct statvfs numbers {};
    if (statvfs(place.c_str(), &numbers) == 0) {
        found.free_bytes = std::uint64_t{numbers.f_bavail} * numbers.f_frsize;
        found.total_bytes = std::uint64_t{numbers.f_blocks} * numbers.f_frsize;
    }
    return found;
}

std::string host_name() {
    std::array<char, 256> host{};
    const bool known = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
    return known ? host.data() : "unknown host";
}

MachineMemory machine_memory() {
    const std::string text = contents("/proc/meminfo");
    return {kilobytes_of(text, "MemTotal"), kilobytes_of(text, "MemAvailable"),
            kilobytes_of(text, "Cached"),
            kilobytes_of(text, "Dirty") + kilobytes_of(text, "Writeback")};
}

ProcessMemory process_memory() {
    const std::string text = contents("/proc/self/status");
    return {kilobytes_of(text, "VmRSS"), kilobytes_of(text, "VmHWM")};
}

Context collect_context(const std::filesystem::path& folder) {
    Context context;
    context.host = host_name();
    struct utsname names {};
    if (uname(&names) == 0)
        context.os_kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
    context.cores = cores_online();
    if (double load = 0; getloadavg(&load, 1) == 1) context.load_1m = load;
    context.memory = machine_memory();
    context.file_system = file_system_of(folder);
    context.command = without_secrets(own_command());
    context.environment = recorded_environment();
    context.compiler = compiler();
    context.tailrace_version = version();
    context.commit = commit();
    return context;
}

std::string utc_now() {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto within = std::chrono::duration_cast<std::chrono::milliseconds>(
                            now - std::chrono::system_clock::from_time_t(seconds))
                            .count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> date{};
    std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    const std::string fraction = std::to_string(1000 + (within < 0 ? 0 : within)).substr(1);
    return std::string(date.data()) + "." + fraction + "Z";
}

}  // namespace tailrace::core
