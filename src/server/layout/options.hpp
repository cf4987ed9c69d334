// SPDX-License-Identifier: Apache-2.0
// The options of the server, each once: its names in the three places where it may stand, what it
// takes, and what is not built yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"

namespace tailrace::server {

inline constexpr std::string_view variable_prefix = "TAILRACE_SERVER_";

struct Option {
    core::Key key;
    std::string takes{};                         ///< "N", "BYTES", "true|false"
    std::string word{};                          ///< on the command line, without dashes
    bool of_collection = false;                  ///< may stand in [collections.NAME]
    bool in_file = true;                         ///< may stand in server.toml
    bool built = true;                           ///< false: nothing but `takes` is there yet
    std::vector<std::string> unbuilt{};          ///< choices that are known and not there yet
    [[nodiscard]] std::string variable() const;  ///< "TAILRACE_SERVER_DEPTH"  [local]
    /// How to write it, as a remedy: "write --server_depth N".  [local]
    [[nodiscard]] std::string form(core::Origin source) const;
};
/// All of them, in the order of the reference page.  [local]
[[nodiscard]] const std::vector<Option>& options();
/// That of a key, or nullptr.  [local]
[[nodiscard]] const Option* find_option(std::string_view key);
/// That of a word of the command line without its dashes, or nullptr.  [local]
[[nodiscard]] const Option* option_of_word(std::string_view word);

/// The keys of the whole server, or of one collection.  [local]
[[nodiscard]] core::KeyTable server_keys();
[[nodiscard]] core::KeyTable collection_keys();

/// Gives a value to a key of `to`; the remedy of its errors says how to write it there.  [local]
void take(core::Config& to, const std::string& key, std::string_view text, core::Origin source,
          const std::string& place);
/// An Error about the value of a key, with that remedy.  [local]
[[nodiscard]] core::Error wrong(const core::Config& config, const std::string& key,
                                const std::string& message);
/// Bytes of "8 MiB", or a number of them.  [local]
[[nodiscard]] std::uint64_t bytes_of(const core::Config& config, const std::string& key);
/// @throws core::Error{Code::unsupported} for a value that is known, but not built yet  [local]
void check_built(const core::Config& config);

/// The options as a table for docs/reference.  [local]
[[nodiscard]] std::string options_page();

}  // namespace tailrace::server
