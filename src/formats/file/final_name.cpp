// SPDX-License-Identifier: Apache-2.0
#include "formats/file/final_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/cleanup.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

bool cannot(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

bool is_folder(const fs::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void remove_older(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

}  // namespace

void rename_part(const fs::path& part, const fs::path& path, core::Existing existing) {
    if (existing == core::Existing::refuse) {
        if (::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
            return;
        if (errno == EEXIST)
            throw Error(Code::already_exists, "the file has appeared during the run", path.string(),
                        "choose another file name");
        if (errno != EINVAL && errno != ENOSYS)
            throw system_error(errno, "cannot rename " + part.string(), path);
        std::error_code ignored;  // a file system without that flag: look, then rename
        if (fs::exists(path, ignored))
            throw Error(Code::already_exists, "the file has appeared during the run", path.string(),
                        "choose another file name");
    }
    if (::rename(part.c_str(), path.c_str()) != 0)
        throw system_error(errno, "cannot rename " + part.string(), path);
}

void sync_folder(const fs::path& folder) {
    const Descriptor fd(open_file(folder, O_RDONLY | O_DIRECTORY));
    if (!fd.open()) throw system_error(errno, "cannot open the folder to sync it", folder);
    if (::fsync(fd.get()) == 0) return;
    if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) return;
    throw system_error(errno, "cannot sync the folder", folder);
}

FinalName::FinalName(fs::path part, fs::path path, core::Existing existing)
    : x_part(std::move(part)),
      x_path(std::move(path)),
      x_old(old_of(x_part)),
      x_existing(existing),
      x_folder(is_folder(x_part)),
      x_before(put()) {}

FinalName::Before FinalName::put() const {
    struct stat info {};
    if (x_existing == core::Existing::refuse || ::lstat(x_path.c_str(), &info) != 0) {
        rename_part(x_part, x_path, x_existing);
        return Before::nothing;
    }
    if (x_folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode))
        throw Error(Code::already_exists,
                    "something has appeared during the run: " + kind_of_file(info.st_mode),
                    x_path.string(), "choose another file name");
    // An interrupt leaves one whole file, the older or the newer.
    core::remove_on_interrupt(x_part, x_path);
    if (::renameat2(AT_FDCWD, x_part.c_str(), AT_FDCWD, x_path.c_str(), RENAME_EXCHANGE) == 0)
        return Before::under_the_part;
    if (!cannot(errno)) throw system_error(errno, "cannot rename " + x_part.string(), x_path);
    // A file system that cannot exchange names (NFS, Lustre).
    const bool kept = keep_the_older();
    try {
        rename_part(x_part, x_path, x_existing);
    } catch (...) {
        if (x_folder)
            ::rename(x_old.c_str(), x_path.c_str());
        else if (kept)
            ::unlink(x_old.c_str());
        throw;
    }
    return kept ? Before::under_another_name : Before::gone;
}

/// A second name for a file; a folder can have one only, and loses the first.
bool FinalName::keep_the_older() const {
    if (x_folder) {
        if (::rename(x_path.c_str(), x_old.c_str()) != 0)
            throw system_error(errno, "cannot move the older folder out of the way", x_path);
        return true;
    }
    core::remove_on_interrupt(x_old, x_path);
    return ::link(x_path.c_str(), x_old.c_str()) == 0;
}

FinalName::~FinalName() { core::keep_on_interrupt(x_old); }

void FinalName::confirm() {
    try {
        sync_folder(folder_of(x_path));
    } catch (const Error& error) {
        if (take_back()) throw;
        x_stays = true;
        throw Error(error.code(),
                    error.message() +
                        "; the new file, complete and synced, is left under its name, which may "
                        "not outlive a power failure (" +
                        fate_of_the_older() + ")",
                    x_path.string(), "check the file system's log, then verify the file");
    }
    if (x_before == Before::under_the_part) remove_older(x_part);
    if (x_before == Before::under_another_name) remove_older(x_old);
}

std::string FinalName::fate_of_the_older() const {
    switch (x_before) {
        case Before::nothing:
            return "there was no older one";
        case Before::under_the_part:
            return "the older one is " + x_part.string();
        case Before::under_another_name:
            return "the older one is " + x_old.string();
        case Before::gone:
            break;
    }
    return "the older one is gone";
}

bool FinalName::take_back() noexcept {
    switch (x_before) {
        case Before::nothing:
            return ::rename(x_path.c_str(), x_part.c_str()) == 0;
        case Before::under_the_part:
            return ::renameat2(AT_FDCWD, x_part.c_str(), AT_FDCWD, x_path.c_str(),
                               RENAME_EXCHANGE) == 0;
        case Before::under_another_name:
            if (x_folder && ::rename(x_path.c_str(), x_part.c_str()) != 0) return false;
            return ::rename(x_old.c_str(), x_path.c_str()) == 0;
        case Before::gone:
            break;
    }
    return false;
}

}  // namespace tailrace::formats
