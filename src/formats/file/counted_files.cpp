// SPDX-License-Identifier: Apache-2.0
#include "formats/file/counted_files.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "formats/file/writers.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Error;

namespace {

Error fell_short(const std::string& doing, const char* what, const core::CallTally& calls,
                 int error_number, const fs::path& where) {
    return system_error(error_number,
                        doing + ": " + std::to_string(calls.bytes_asked) + " bytes asked, " +
                            std::to_string(calls.bytes_done) + what,
                        where);
}

}  // namespace

CountedFiles::~CountedFiles() {
    core::IoObserver* observer = core::io_observer();
    if (observer == nullptr) return;
    for (const File& file : x_files) {
        observer->hold_errors(file.counted(), false);
        observer->forget(file.counted());
    }
}

void CountedFiles::add(const fs::path& name, Descriptor seen) {
    x_files.push_back({name, std::move(seen)});
    core::IoObserver* observer = core::io_observer();
    if (observer != nullptr && x_holding) observer->hold_errors(x_files.back().counted(), true);
}

int CountedFiles::descriptor(const fs::path& name) const noexcept {
    const auto found = std::find_if(x_files.begin(), x_files.end(),
                                    [&](const File& file) { return file.name == name; });
    return found == x_files.end() ? -1 : found->seen.get();
}

void CountedFiles::hold(bool hold) noexcept {
    core::IoObserver* observer = core::io_observer();
    if (observer == nullptr || empty()) return;
    try {
        for (const File& file : x_files) observer->hold_errors(file.counted(), hold);
        x_holding = hold;
    } catch (...) {  // no memory for the name: errors go up as they do without an observer
        x_holding = false;
    }
}

std::optional<Error> CountedFiles::failure(const std::string& doing,
                                           const fs::path& where) const noexcept {
    const core::IoObserver* observer = core::io_observer();
    if (observer == nullptr) return std::nullopt;
    try {
        core::FileTally all;
        for (const File& file : x_files) all += observer->tally(file.counted());
        // The library that was given zeros instead takes them for what is in the file.
        if (x_holding && all.read.failed_calls > 0)
            return fell_short(doing + " failed: what is in the file could not be read", " read",
                              all.read, all.read.first_errno, where);
        const core::CallTally& calls = all.write;
        // A short write that was not held has been tried again by whoever made it.
        const bool is_short =
            x_holding && calls.short_calls > 0 && calls.bytes_done < calls.bytes_asked;
        if (calls.failed_calls == 0 && !is_short) return std::nullopt;
        return fell_short(doing + " failed", " written", calls,
                          calls.first_errno != 0 ? calls.first_errno : ENOSPC, where);
    } catch (...) {
        return std::nullopt;
    }
}

std::optional<core::WriterReport> CountedFiles::writer(int rank, const core::Phases& phases) const {
    if (empty()) return std::nullopt;
    std::vector<fs::path> names;
    for (const File& file : x_files) names.push_back(file.counted());
    return my_writer_report(rank, names, phases);
}

}  // namespace tailrace::formats
