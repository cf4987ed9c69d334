// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/observer.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>

#include "core/error.hpp"
#include "core/io_observer.hpp"
#include "hooks/posix/faults.hpp"
#include "hooks/posix/tally.hpp"
#include "hooks/posix/transfer.hpp"
#include "hooks/posix/uring.hpp"

namespace tailrace::hooks::posix {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
static_assert(size_classes == core::CallTally::size_classes);

void add(core::CallTally& sum, const Direction& counts) {
    core::CallTally one;
    one.calls = counts.calls.load(relaxed);
    if (one.calls == 0) return;
    one.bytes_asked = counts.bytes_asked.load(relaxed);
    one.bytes_done = counts.bytes_done.load(relaxed);
    one.failed_calls = counts.failed_calls.load(relaxed);
    one.short_calls = counts.short_calls.load(relaxed);
    std::uint64_t smallest = counts.smallest_plus_1.load(relaxed);
    one.smallest = smallest == 0 ? 0 : smallest - 1;
    one.largest = counts.largest.load(relaxed);
    one.first_errno = counts.first_errno.load(relaxed);
    for (unsigned index = 0; index < size_classes; ++index)
        one.by_size[index] = counts.by_size[index].load(relaxed);
    sum += one;
}

void add(core::FileTally& sum, const Tally& counts) {
    add(sum.write, counts.write);
    add(sum.read, counts.read);
    auto family = [&](Family which) {
        return counts.by_family[static_cast<unsigned>(which)].load(relaxed);
    };
    sum.by_write += family(Family::write);
    sum.by_pwrite += family(Family::pwrite);
    sum.by_writev += family(Family::writev);
    sum.by_aio += family(Family::aio);
    sum.by_uring += family(Family::uring);
}

bool number_of(const std::filesystem::path& path, FileNumber& number) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return false;
    number = {status.st_dev, status.st_ino};
    return true;
}

class Observer final : public core::IoObserver {
public:
    void enter_phase(std::string_view phase) noexcept override {
        set_current_phase(phase_index(phase.data(), static_cast<unsigned>(phase.size())));
    }

    [[nodiscard]] core::FileTally tally(const std::filesystem::path& path) const override {
        core::FileTally sum;
        const File* file = known(path);
        if (file == nullptr) return sum;
        for (unsigned phase = 0; phase < phase_count(); ++phase)
            if (const Tally* counts = existing_tally(*file, phase)) add(sum, *counts);
        return sum;
    }

    [[nodiscard]] core::FileTally tally(const std::filesystem::path& path,
                                        std::string_view phase) const override {
        core::FileTally sum;
        const File* file = known(path);
        int index = find_phase(phase.data(), static_cast<unsigned>(phase.size()));
        if (file == nullptr || index < 0) return sum;
        if (const Tally* counts = existing_tally(*file, static_cast<unsigned>(index)))
            add(sum, *counts);
        return sum;
    }

    void forget(const std::filesystem::path& path) noexcept override {
        FileNumber number;
        if (!number_of(path, number)) return;
        if (File* file = find_file(number.device, number.inode)) release(*file);
        forget_file(number.device, number.inode);
    }

    void hold_errors(const std::filesystem::path& path, bool hold) noexcept override {
        FileNumber number;
        if (!number_of(path, number)) return;
        File* file = hold ? find_or_add_file(number.device, number.inode, -1)
                          : find_file(number.device, number.inode);
        if (file == nullptr) return;
        if (!hold) return release(*file);
        if (file->path[0] == 0) std::snprintf(file->path, path_size, "%s", path.c_str());
        if (!file->held.exchange(true)) held_files.fetch_add(1);
    }

private:
    static const File* known(const std::filesystem::path& path) {
        read_all_results();
        FileNumber number;
        if (!number_of(path, number)) return nullptr;
        const File* file = find_file(number.device, number.inode);
        return file != nullptr && is_still(*file, path.c_str()) ? file : nullptr;
    }
    static void release(File& file) noexcept {
        if (file.held.exchange(false)) held_files.fetch_sub(1);
    }
};

core::Error bad_rules(const char* problem) {
    return {core::Code::bad_input, problem, "TAILRACE_FAULT",
            "see docs/developer/interposer.md for the grammar"};
}

}  // namespace

void install() {
    static Observer observer;
    if (const char* problem = fault_error()) throw bad_rules(problem);
    core::set_io_observer(&observer);
}

std::uint64_t unattributed_calls() noexcept {
    return unattributed().write.calls.load(relaxed) + unattributed().read.calls.load(relaxed);
}

void inject_faults(const std::string& rules) {
    if (const char* problem = set_faults(rules.c_str())) throw bad_rules(problem);
}

}  // namespace tailrace::hooks::posix
