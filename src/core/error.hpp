// SPDX-License-Identifier: Apache-2.0
// Every failure of Tailrace as one exception type that carries what, where and the remedy.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::core {

/// What kind of failure it is. The code decides the exit status of a program (`exit_code`).
enum class Code {
    // usage or configuration (exit 2)
    bad_input,
    unknown_key,
    missing_key,
    rank_mismatch,
    no_such_file,
    no_such_directory,
    not_writable,
    already_exists,
    no_space_reserved,
    bad_plugin,
    // the run failed (exit 1)
    no_space,
    io,
    data_lost,
    interrupted,
    timed_out,
    wrong_call,
    poisoned,
    internal,
    // verification failed (exit 3)
    verification,
    // a capability is missing (exit 4)
    unsupported,
};

/// The name of a code as it stands in Records ("no_space").  [local]
[[nodiscard]] std::string_view name(Code code) noexcept;
/// The code of a name; nothing where there is no such name.  [local]
[[nodiscard]] std::optional<Code> code_of(std::string_view name) noexcept;
/// 1, 2, 3 or 4, see docs/user/exit_codes.md.  [local]
[[nodiscard]] int exit_code(Code code) noexcept;

/// A failure. `what()` is the whole text for a person, `hint` line included.
class Error : public std::runtime_error {
public:
    /// @param code    kind of failure
    /// @param message what happened, with the value seen; one sentence without a final stop
    /// @param where   "file:line", path, dataset or key; may be empty
    /// @param remedy  the next step for the reader; may be empty
    Error(Code code, std::string message, std::string where = {}, std::string remedy = {});

    [[nodiscard]] Code code() const noexcept { return x_code; }
    [[nodiscard]] const std::string& message() const noexcept { return x_message; }
    [[nodiscard]] const std::string& where() const noexcept { return x_where; }
    [[nodiscard]] const std::string& remedy() const noexcept { return x_remedy; }
    /// Rank on which it was seen first; -1 where it is not known.
    [[nodiscard]] int rank() const noexcept { return x_rank; }
    /// Number of ranks that reported a failure in the same agreement (0: not agreed yet).
    [[nodiscard]] int failed_ranks() const noexcept { return x_failed_ranks; }
    /// Size of the communicator that agreed (0: not agreed yet).
    [[nodiscard]] int total_ranks() const noexcept { return x_total_ranks; }

    /// The same failure, known to have been seen by `failed` of `total` ranks, first by `rank`.
    /// [local]
    [[nodiscard]] Error seen_by(int rank, int failed, int total) const;

    /// The same failure, with another code or place.  [local]
    [[nodiscard]] Error with_code(Code code) const;
    [[nodiscard]] Error with_where(std::string where) const;  ///< [local]

    /// For sending it to other ranks.  [local]
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// The inverse of to_bytes; a damaged message becomes Code::internal.  [local]
    [[nodiscard]] static Error from_bytes(const std::vector<std::byte>& bytes);

private:
    Code x_code;
    std::string x_message, x_where, x_remedy;
    int x_rank = -1, x_failed_ranks = 0, x_total_ranks = 0;
};

/// "disk is full (ENOSPC)" for an errno value.  [local]
[[nodiscard]] std::string describe_errno(int error_number);
/// There was no memory for something.  [local]
[[nodiscard]] Error no_memory(const std::string& message, std::string where = {});
/// Whether a library's words for its failure say so.  [local]
[[nodiscard]] bool tells_of_no_memory(std::string_view words);
/// The same failure as one of the run: a place that could not be written, or a file that was not
/// there, once a run has created its file, is no usage error any more but Code::io.  [local]
[[nodiscard]] Error failed_in_run(const Error& error);
/// Code::no_space for ENOSPC and EDQUOT, not_writable for EACCES/EROFS/EPERM, no_such_directory
/// for ENOENT/ENOTDIR, io otherwise.  [local]
[[nodiscard]] Code code_of_errno(int error_number) noexcept;

/// Of `candidates` the one nearest to `word` (edit distance at most a third of its length, at
/// least 1), or an empty string: for "did you mean".  [local]
[[nodiscard]] std::string nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace tailrace::core
