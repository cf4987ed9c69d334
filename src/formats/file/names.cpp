// SPDX-License-Identifier: Apache-2.0
#include "formats/file/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/context.hpp"
#include "formats/file/companions.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

constexpr std::string_view part_suffix = ".part";
constexpr std::string_view lock_suffix = ".lock";

/// The first folder of `folder` that is missing or no folder.
fs::path first_missing(const fs::path& folder) {
    fs::path so_far;
    for (const fs::path& name : folder) {
        so_far /= name;
        std::error_code ignored;
        if (!fs::is_directory(so_far, ignored)) return so_far;
    }
    return folder;
}

void check_name(const fs::path& path) {
    const std::string name = path.filename().string();
    if (name.empty() || name == "." || name == "..")
        throw Error(Code::bad_input, "\"" + path.string() + "\" does not name a file", "",
                    "give the name of a file");
    long longest = ::pathconf(folder_of(path).c_str(), _PC_NAME_MAX);
    if (longest <= 0) longest = 255;
    const std::size_t most =
        static_cast<std::size_t>(longest) - part_suffix.size() - lock_suffix.size();
    if (name.size() > most)
        throw Error(Code::bad_input,
                    "a file name of " + std::to_string(name.size()) + " bytes is too long",
                    path.string(), "use at most " + std::to_string(most) + " bytes");
}

void check_folder(const fs::path& path) {
    const fs::path folder = folder_of(path);
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) {
        const int seen = errno;
        if (seen == ENOENT || seen == ENOTDIR)
            throw Error(Code::no_such_directory,
                        "the folder " + first_missing(folder).string() + " does not exist",
                        path.string(), "create it, or choose another file name");
        throw system_error(seen, "cannot look at the folder " + folder.string(), path);
    }
    if (!S_ISDIR(info.st_mode))
        throw Error(Code::no_such_directory, folder.string() + " is not a folder", path.string(),
                    "choose another file name");
    // Root passes any permission bits, as it should; a read-only file system stops root too.
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        throw Error(
            Code::not_writable,
            "cannot write in the folder " + folder.string() + ": " + core::describe_errno(errno),
            path.string(), "choose a folder that you may write in");
}

void check_appends_not(const fs::path& path, core::Existing existing) {
    if (existing == core::Existing::append)
        throw Error(Code::unsupported, "no format of this build can append to a file",
                    path.string(), "write a new file");
}

/// A folder that cannot be renamed, which would be found out at the end of the run.
bool is_mount(const fs::path& folder) {
    struct statx info {};
    return ::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &info) == 0 &&
           (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

void check_present_file(const fs::path& path, core::Existing existing) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return;
        throw system_error(errno, "cannot look at the file", path);
    }
    if (S_ISDIR(info.st_mode))
        throw Error(Code::bad_input, "it is a folder, not a file", path.string(),
                    "give the name of a file in it");
    if (!S_ISREG(info.st_mode))
        throw Error(Code::bad_input, "it is not a regular file and would be lost", path.string(),
                    "choose another file name");
    if (existing == core::Existing::refuse)
        throw Error(Code::already_exists, "the file exists", path.string(),
                    "remove it, choose another name, or ask for it to be replaced");
    // In a folder with the sticky bit only the owner may replace a file: found out now, not at
    // the end of the run.
    struct stat folder {};
    const uid_t me = ::geteuid();
    if (me != 0 && info.st_uid != me && ::stat(folder_of(path).c_str(), &folder) == 0 &&
        (folder.st_mode & S_ISVTX) != 0 && folder.st_uid != me)
        throw Error(Code::not_writable, "the file belongs to somebody else", path.string(),
                    "choose another file name");
}

}  // namespace

fs::path with_suffix(fs::path path, std::string_view suffix) {
    path += suffix;
    return path;
}

fs::path part_of(const fs::path& path) { return with_suffix(path, part_suffix); }

fs::path old_of(const fs::path& part) { return with_suffix(part, ".old"); }

fs::path lock_of(const fs::path& path) { return with_suffix(part_of(path), lock_suffix); }

std::string kind_of_file(mode_t mode) {
    if (S_ISREG(mode)) return "it is a file of another kind";
    if (S_ISLNK(mode)) return "it is a symbolic link";
    if (S_ISDIR(mode)) return "it is a folder";
    return "it is not a regular file";
}

Error in_the_way(const fs::path& name, const std::string& what) {
    return Error(Code::already_exists, what + ", and a run needs this name for itself",
                 name.string(), "move it away, or choose another file name");
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

fs::path follow_links(const fs::path& path) {
    fs::path now = path;
    std::error_code ignored;
    for (int hops = 0; hops < 40; ++hops) {
        if (!fs::is_symlink(now, ignored)) return now;
        const fs::path next = fs::read_symlink(now, ignored);
        if (next.empty()) return now;
        now = next.is_absolute() ? next : folder_of(now) / next;
    }
    throw Error(Code::bad_input, "its symbolic links lead in a circle", path.string(),
                "choose another file name");
}

void check_target(const fs::path& path, core::Existing existing) {
    check_appends_not(path, existing);
    check_name(path);
    check_folder(path);
    check_present_file(path, existing);
}

void check_target_folder(const fs::path& path, core::Existing existing,
                         std::span<const std::string> ours) {
    check_appends_not(path, existing);
    check_name(path);
    check_folder(path);
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return;
        throw system_error(errno, "cannot look at the folder", path);
    }
    if (!S_ISDIR(info.st_mode))
        throw Error(Code::bad_input, "it is not a folder, and a folder of files is to be there",
                    path.string(), "choose another name");
    if (existing == core::Existing::refuse)
        throw Error(Code::already_exists, "the folder exists", path.string(),
                    "remove it, choose another name, or ask for it to be replaced");
    if (is_mount(path))
        throw Error(Code::not_writable, "a file system is mounted there, so it cannot be replaced",
                    path.string(), "choose a folder in it");
    std::error_code ignored;
    const bool known = std::any_of(ours.begin(), ours.end(), [&](const std::string& name) {
        return !name.empty() && fs::is_regular_file(path / name, ignored);
    });
    if (!known && !fs::is_empty(path, ignored))
        throw Error(Code::already_exists,
                    "the folder exists and is not one of this kind: it would be lost",
                    path.string(), "move it away, or choose another name");
}

void check_left_over(const fs::path& part, LeftOver left_over, bool folder) {
    struct stat info {};
    if (::lstat(part.c_str(), &info) != 0) return;
    if (folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode))
        throw in_the_way(part, kind_of_file(info.st_mode));
    if (left_over == LeftOver::refuse)
        throw in_the_way(part, "it is there, and no run of ours has left it");
}

void check_beside(const fs::path& path, core::Publish publish, LeftOver left_over) {
    check_left_over(part_of(path), left_over);
    check_unshared(path, companions_of(path));
    if (publish != core::Publish::in_place) return;
    const fs::path manifest = manifest_of(path);
    std::error_code ignored;
    if (fs::symlink_status(manifest, ignored).type() != fs::file_type::not_found &&
        !is_manifest(manifest))
        throw in_the_way(manifest, "it is not the manifest of a file of ours");
    check_left_over(part_of(manifest), left_over);
}

}  // namespace tailrace::formats
