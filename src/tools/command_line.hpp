// SPDX-License-Identifier: Apache-2.0
// The command line of a kernel's program, and where its inputs come from. Rank 0 alone reads;
// all ranks parse the same text, so that an error is the same everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"

namespace tailrace::tools {

/// What was asked for, before any value is looked at.
struct Invocation {
    bool help = false, version = false, dry_run = false;
    bool resume = false, progress = false;
    bool elsewhere = false;                 ///< a dry run here is about another machine
    std::uint64_t ranks = 0;                ///< that a dry run is about; 0: those it runs on
    bool from_stdin = false;                ///< no file and no key=value: lines on standard input
    std::optional<std::string> input_file;  ///< --input; "-" is standard input
    std::vector<std::string> assignments;   ///< key=value, or a flag
};

/// Options may begin with typographic dashes, as text processors paste them.  [local]
/// @throws core::Error{unknown_key | bad_input}
[[nodiscard]] Invocation parse_command_line(int argc, const char* const* argv);

/// All texts that values come from.
struct RawInputs {
    bool has_lines = false, needs_done = false;
    std::string lines, origin;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::string> assignments;

    [[nodiscard]] std::string packed() const;                          ///< [local] for a broadcast
    [[nodiscard]] static RawInputs unpacked(const std::string& text);  ///< [local]
    /// @throws core::Error  [local]
    [[nodiscard]] core::Config config(const core::KeyTable& table, const std::string& prefix) const;
};

/// Reads the input file or standard input (up to DONE and no further), and the environment
/// variables with `prefix`.  [local]
/// @throws core::Error{no_such_file | bad_input}
[[nodiscard]] RawInputs read_inputs(const Invocation& invocation, const std::string& prefix);

}  // namespace tailrace::tools
