// SPDX-License-Identifier: Apache-2.0
// From a configuration to the plan of a run: every key known, every default filled in, every
// contradiction found before a file is touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/config.hpp"
#include "formats/options.hpp"
#include "kernels/seism/fill.hpp"
#include "kernels/seism/geometry.hpp"
#include "kernels/seism/plugin.hpp"

namespace tailrace::kernels::seism {

inline constexpr const char* object_path = "/chunked";
inline constexpr const char* environment_prefix = "TAILRACE_SEISM_";

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

struct Inputs {
    core::Config config{core::KeyTable{}};  ///< effective, for the echo and the Record
    Geometry geometry;
    std::optional<core::Extents> chunk;  ///< x, y, z; none: contiguous
    bool chunk_put_aside = false;        ///< a chunk was given, but subfile makes it contiguous
    std::filesystem::path filename;
    std::filesystem::path results;
    std::filesystem::path input_file;  ///< that the lines came from; empty: none
    std::string read_once;             ///< lines from a pipe or from standard input
    formats::Options options;
    FillKind fill = FillKind::rank;
    PluginCall plugin;
    Compute compute;
    Striping striping;
    std::uint64_t repeat = 0;  ///< 0: one run without a warm-up
    bool sync_each_step = false;
    bool read_back = false;
    bool verify = false;
    LimitMode limit = LimitMode::off;
    std::vector<std::string> notes;  ///< for the user: keys without effect

    [[nodiscard]] bool filtered() const;    ///< [local]
    [[nodiscard]] bool collective() const;  ///< [local]
    /// Bytes that the file takes at most, padding of chunks included, for the reservation; 0 where
    /// that is not known before (compression).  [local]
    [[nodiscard]] std::uint64_t reserve_bytes() const;
};

/// The keys of tailrace-seism, those of the formats included.  [local]
[[nodiscard]] core::KeyTable key_table();

/// The plan; everything that one process can check.  [local]
/// @param ranks  of the run; the grid must match
/// @throws core::Error{bad_input | missing_key}
[[nodiscard]] Inputs inputs_from(core::Config config, std::uint64_t ranks);

/// Refuses to write where something else is: results, the input file, the plugin or a file among
/// its arguments under the name of the output or of a file that a run makes beside it, by path, by
/// link or by inode; and the file that standard input comes from, also through a launcher's pipe:
/// then by what it begins with. Touches nothing; for the rank that has read the inputs.  [local]
/// @throws core::Error{bad_input}
void check_file_names(const Inputs& inputs);

/// An Error of a layer that knows a key but not where it was given, at the line of that key.
/// [local]
[[nodiscard]] core::Error at_its_line(const core::Config& config, const core::Error& error);

/// Checks what only the machine can tell: that the data of the ranks of every node fit its memory,
/// that files do not stand in each other's way, and that the results file can be written.
/// [collective]
/// @throws core::Error on all ranks or on none
void check_machine(const comm::Comm& comm, const Inputs& inputs);

}  // namespace tailrace::kernels::seism
