// SPDX-License-Identifier: Apache-2.0
#include "formats/split/folder_target.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "core/cleanup.hpp"
#include "core/context.hpp"
#include "formats/file/final_name.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::split {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

fs::path without_slash(const fs::path& path) {
    return path.has_filename() ? path : path.parent_path();
}

FolderTarget::FolderTarget(const comm::Comm& comm, const core::Target& target,
                           std::span<const std::string> ours, core::Phases& phases)
    : x_comm(comm),
      x_phases(phases),
      x_existing(target.existing),
      x_ours(ours.begin(), ours.end()) {
    const auto phase = x_phases.enter("create");
    auto mine = comm::Comm::caught([&] {
        x_path = follow_links(without_slash(target.path));
        x_part = part_of(x_path);
        x_old = old_of(x_part);
        if (x_comm.rank() == 0) create_on_rank_0(target);
    });
    try {
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
        mine = comm::Comm::caught([&] { see_part(); });
        x_comm.agree(mine);
    } catch (...) {
        discard();
        throw;
    }
}

FolderTarget::~FolderTarget() { discard(); }

void FolderTarget::create_on_rank_0(const core::Target& target) {
    check_target_folder(x_path, x_existing, x_ours);
    x_lock.take(x_path);
    core::remove_on_interrupt(lock_of(x_path));
    check_left_over(x_part, x_lock.left_over(), true);
    check_left_over(x_old, x_lock.left_over(), true);
    x_owns_part = x_lock.left_over() == LeftOver::replace;
    remove_left_over();
    check_target_folder(x_path, x_existing, x_ours);
    constexpr mode_t everybody = 0777;  // less the umask, as mkdir(1)
    if (::mkdir(x_part.c_str(), everybody) != 0)
        throw system_error(errno, "cannot make the folder", x_part);
    x_owns_part = true;
    core::remove_on_interrupt(x_part);
    const Descriptor folder(open_file(x_part, O_RDONLY | O_DIRECTORY));
    if (!folder.open()) throw system_error(errno, "cannot open the folder", x_part);
    check_space(folder.get(), target.reserve_bytes, x_path, Code::no_space_reserved);
}

// What is found here would be in the way at the end of the run.
void FolderTarget::remove_left_over() const {
    if (fs::symlink_status(x_path).type() == fs::file_type::not_found && fs::exists(x_old))
        fs::rename(x_old, x_path);
    for (const fs::path& left : {x_part, x_old}) {
        std::error_code failed;
        fs::remove_all(left, failed);
        if (failed) throw system_error(failed.value(), "cannot remove what a run left", left);
    }
}

// Another node may learn of the new name late (caches of network file systems), or never.
void FolderTarget::see_part() const {
    constexpr int attempts = 100;
    for (int attempt = 0; !fs::is_directory(x_part); ++attempt) {
        if (attempt == attempts)
            throw Error(
                Code::no_such_directory,
                "the folder that rank 0 made is not seen on " + core::host_name() + " after 10 s",
                x_part.string(), "choose a place that all nodes share");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void FolderTarget::rename_and_confirm() {
    for (const auto& entry : fs::recursive_directory_iterator(x_part))
        if (entry.is_directory()) sync_folder(entry.path());
    sync_folder(x_part);
    check_target_folder(x_path, x_existing, x_ours);  // what has appeared during the run
    FinalName name(x_part, x_path, x_existing);
    const auto failed = comm::Comm::caught([&] { name.confirm(); });
    if (name.stays()) {  // what has the name of the part now is the older folder
        core::keep_on_interrupt(x_part);
        x_owns_part = false;
    }
    if (failed) throw Error(*failed);
}

void FolderTarget::publish() {
    const auto phase = x_phases.enter("publish");
    std::optional<Error> mine;
    if (x_comm.rank() == 0)
        mine = comm::Comm::caught([&] {
            rename_and_confirm();
            core::keep_on_interrupt(std::array{x_part, lock_of(x_path)});
            release();
        });
    const auto agreeing = x_phases.enter("agree");
    x_comm.agree(mine);
    x_published = true;
}

void FolderTarget::discard() noexcept {
    if (x_published || x_discarded) return;
    x_discarded = true;
    std::error_code ignored;
    if (x_owns_part) fs::remove_all(x_part, ignored);
    try {
        if (x_comm.rank() == 0) core::keep_on_interrupt(std::array{x_part, lock_of(x_path)});
    } catch (...) {  // no memory for a name: nothing has it any more
    }
    release();
}

// A folder that somebody reads may not go as a whole (NFS), nor one without permission to write.
void FolderTarget::release() noexcept {
    std::error_code ignored;
    if (x_owns_part && (fs::exists(x_part, ignored) || fs::exists(x_old, ignored)))
        x_lock.leave();
    else
        x_lock.release();
}

}  // namespace tailrace::formats::split
