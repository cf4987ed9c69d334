// SPDX-License-Identifier: Apache-2.0
// Who computes, who serves, and with which bounds: from the command line, the environment and
// server.toml. Nothing here communicates; agree.hpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "server/layout/split.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// embedded: the ranks of the model write, synchronously. simple: server ranks receive and write.
enum class LayoutKind : std::uint64_t { embedded, simple };
[[nodiscard]] constexpr LayoutKind last_of(LayoutKind) { return LayoutKind::simple; }  ///< [local]

struct Layout {
    LayoutKind kind = LayoutKind::embedded;
    Split ranks{};
    std::uint64_t slab_bytes = std::uint64_t{8} << 20;     ///< of the payload of a message
    std::uint64_t credit_bytes = std::uint64_t{16} << 20;  ///< of a client and collection
    std::uint64_t shared_bytes = std::uint64_t{64} << 20;  ///< of a client, for servers of its node
    bool fast = false;             ///< a put copies, and does not wait until its messages have left
    bool profiler = false;         ///< a table of times at the end
    double stuck_timeout_s = 300;  ///< after which a writer counts as lost; 0: never
    CollectionOptions defaults{};
    std::vector<CollectionOptions> collections{};  ///< those with a table in server.toml

    /// The options of a collection.  [local]
    /// @param by_program  "key=value; key=value": they give way to what was said outside
    /// @throws core::Error{unknown_key | bad_input}
    [[nodiscard]] CollectionOptions collection(const std::string& name,
                                               std::string_view by_program = {}) const;
    /// Of everything in it: equal on all ranks, or they cannot talk to each other.  [local]
    [[nodiscard]] std::uint64_t hash() const;
    [[nodiscard]] std::vector<std::byte> to_bytes() const;  ///< [local]
    /// @throws core::Error{Code::data_lost} if they are damaged  [local]
    [[nodiscard]] static Layout from_bytes(std::span<const std::byte> bytes);
    /// Who does what, for the log: a line, and another for the ranks that are left over.  [local]
    [[nodiscard]] std::string text() const;

    static void fields(auto& io, auto& m) {
        io.all(m.kind, m.ranks, m.slab_bytes, m.credit_bytes, m.shared_bytes, m.fast, m.profiler,
               m.stuck_timeout_s, m.defaults, m.collections);
    }
};

/// So many servers, the last ranks, on whatever nodes; 0: embedded.  [local]
/// @throws core::Error{Code::bad_input} naming `place` if no rank is left for the model
[[nodiscard]] Layout plain_layout(std::uint64_t ranks, std::uint64_t servers,
                                  const std::string& place);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// What a user gave, the words of the command line taken apart.
struct Given {
    core::Config options;
    core::Words rest{};  ///< of the command line, for the model: as they were, in order
};
/// @param words        of the command line, with the program's name or without
/// @param environment  all of it; TAILRACE_SERVER_... are looked at
/// @throws core::Error naming option or variable, value and remedy  [local]
[[nodiscard]] Given given(const core::Words& words, const Variables& environment);

/// The contents of server.toml.
struct ServerFile {
    std::string name{}, text{};
};
/// The one that was asked for, or server.toml of the working folder if it is there.  [local]
/// @throws core::Error naming the option or variable, if the one asked for cannot be read
[[nodiscard]] std::optional<ServerFile> read_server_file(const core::Config& options);

/// @param nodes  of each rank of the world, a number that its node does not share with another
/// @throws core::Error naming the source (option, variable, or file:line), value and remedy;
/// Code::unsupported for what is not built yet  [local]
[[nodiscard]] Layout layout_of(core::Config options, const std::optional<ServerFile>& file,
                               std::span<const int> nodes);

}  // namespace tailrace::server
