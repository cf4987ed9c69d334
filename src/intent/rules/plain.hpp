// SPDX-License-Identifier: Apache-2.0
// What rules of plain files share. Internal to src/intent/rules.
#pragma once

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

constexpr std::uint64_t enough_calls = 1000;  ///< that they are worth a word

/// Of a profile of our own the rules of datasets have more to say; a log knows too little of them.
/// [local]
[[nodiscard]] bool datasets_tell(const Subject& s);
[[nodiscard]] std::uint64_t processes_of(const Subject& s);  ///< at least 1  [local]
/// 0 of nothing.  [local]
[[nodiscard]] double share(std::uint64_t part, std::uint64_t all);

enum class Direction { reads, writes };
/// System calls of a file in one direction.
struct PlainCalls {
    std::string_view word;  ///< "reads", "writes"
    std::uint64_t calls = 0, bytes = 0;
    std::uint64_t small = 0;  ///< at most small_bytes
    std::uint64_t apart = 0;  ///< not where the one before ended, nor ahead of it
};
[[nodiscard]] PlainCalls plain_calls(const Subject& s, Direction direction);  ///< [local]
/// The largest call that is small: on a parallel file system each is a message to a server,
/// elsewhere the page cache puts them together.  [local]
[[nodiscard]] std::uint64_t small_bytes(const Subject& s);
/// Rule 61 speaks of these calls.  [local]
[[nodiscard]] bool small_in_file(const Subject& s, const PlainCalls& calls);
/// Most calls of MPI-IO in this direction are collective: below those it is MPI-IO that chooses
/// who moves what, and how.  [local]
[[nodiscard]] bool collective_above(const Subject& s, Direction direction);
[[nodiscard]] bool collective_above(const Subject& s);  ///< in both together  [local]
[[nodiscard]] Held below_collective(const Subject& s);  ///< [local]

/// Of all processes together.
struct Times {
    double metadata_s = 0, data_s = 0;
    void add(const Times& other) {
        metadata_s += other.metadata_s;
        data_s += other.data_s;
    }
};
[[nodiscard]] Times times_of(const Subject& s);  ///< of system calls and streams  [local]
/// What a process spends is worth a word.  [local]
[[nodiscard]] bool long_in_metadata(const Times& each, const Profile& profile);
/// Rule 65 speaks of the file.  [local]
[[nodiscard]] bool metadata_in_file(const Subject& s);
/// "12 s (40 % of the run) go into opens, ..., 3 s into data".  [local]
[[nodiscard]] std::string in_metadata(const Times& each, const Profile& profile);

}  // namespace tailrace::intent::rules
