// SPDX-License-Identifier: Apache-2.0
// What the runs of all kernels have in common: where the file and the results go, how often, and
// what is done besides the writing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"

namespace tailrace::runner {

inline constexpr std::uint64_t largest_file_bytes = 9223372036854775807;  // a file offset is signed

/// Emulated computation between two steps.
struct Compute {
    double seconds = 0;
    bool busy = true;  ///< burns a core; otherwise the rank sleeps
};

/// What `lfs setstripe` is asked for.
struct Striping {
    std::optional<std::uint64_t> count;
    std::optional<std::uint64_t> size_bytes;
    [[nodiscard]] bool asked() const noexcept { return count || size_bytes; }
};

/// Whether plain writes of the same bytes run too: beside the kernel, or instead of it.
enum class LimitMode { off, beside, alone };

/// In which pattern a finished file is read: docs/user/reading.md. full, partial and
/// strided are those of h5bench, which only the kernel particle has; level and region are of amr.
enum class ReadPattern {
    same,
    other,
    plane,
    points,
    shuffled,
    full,
    partial,
    strided,
    level,
    region
};
/// "same", "other", ...  [local]
[[nodiscard]] const char* name(ReadPattern pattern) noexcept;

struct Plan {
    core::Config config{core::KeyTable{}};  ///< effective, for the echo and the Record
    std::filesystem::path filename;
    std::filesystem::path results;
    std::filesystem::path folder;      ///< made before the first file; empty: none
    std::filesystem::path input_file;  ///< that the lines came from; empty: none
    std::string read_once;             ///< lines from a pipe or from standard input
    formats::Options options;
    Compute compute;
    Striping striping;
    std::uint64_t repeat = 0;  ///< 0: one run without a warm-up
    bool sync_each_step = false;
    bool reserve = true;  ///< space is set aside before the first write
    bool read_back = false;
    bool verify = false;
    std::vector<ReadPattern> reads;  ///< in this order, after the writing
    bool cold_cache = false;         ///< before each of them the file leaves the page cache
    LimitMode limit = LimitMode::off;
    std::vector<std::string> notes;  ///< for the user: keys without effect

    [[nodiscard]] bool filtered() const { return options.facts().filtered; }      ///< [local]
    [[nodiscard]] bool collective() const { return options.facts().collective; }  ///< [local]
    [[nodiscard]] formats::Hints hints() const;  ///< asked of MPI-IO  [local]
    /// The data lies in more files than one.  [local]
    [[nodiscard]] bool several_files() const { return options.facts().several_files; }
};

/// A key with its heading, for tables of keys.  [local]
[[nodiscard]] core::Key key(const char* name, core::Shape shape, const char* group,
                            const char* help);
/// repeat, compute, fsync, read_back, verify, limit, results, and those of Lustre.  [local]
void register_keys(core::KeyTable& table);

/// Reads what register_keys() and the formats' keys ask for; `plan.config` is complete.  [local]
/// @throws core::Error{bad_input}
void take_shared(Plan& plan);

/// Takes over what no key says: where the lines came from, and whether only the limit runs.
/// [local]
void started_as(Plan& plan, const Plan& started);

/// Both ways to name the time of allocation say the same wherever they are shown; and notes on the
/// keys that the format does not use.  [local]
void settle(Plan& plan);

/// An Error of a layer that knows a key but not where it was given, at the line of that key.
/// [local]
[[nodiscard]] core::Error at_its_line(const core::Config& config, const core::Error& error);

/// "4 x 2 x 1".  [local]
[[nodiscard]] std::string by_x(const core::Extents& extents);

/// The product, or an Error at the place of `key`.  [local]
[[nodiscard]] std::uint64_t product(const core::Config& config, const char* key,
                                    const core::Extents& factors);

}  // namespace tailrace::runner
