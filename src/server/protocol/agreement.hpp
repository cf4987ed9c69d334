// SPDX-License-Identifier: Apache-2.0
// Whether all clients make the same calls: front end 0 is told each of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/protocol/message.hpp"

namespace tailrace::server {

/// Compares call by call, once all clients that are there have made it, so that its error does not
/// depend on who was first.
class Agreement {
public:
    /// Equal calls of some clients.
    struct Same {
        Call call;
        std::uint64_t lowest = 0, clients = 0;
    };
    struct Row {
        std::uint64_t missing = 0;  ///< clients that have not made this call yet
        std::vector<Same> groups;
    };
    struct State {
        std::vector<std::uint64_t> made;  ///< per client: how many calls
        std::vector<bool> gone;
        std::map<std::uint64_t, Row> rows;            ///< per call that some have made
        std::map<std::uint64_t, CallText> texts;      ///< per hash, as long as a row may name it
        std::map<std::uint64_t, std::uint64_t> last;  ///< per collection: hash agreed on last
        bool broken = false;                          ///< they disagreed
        bool ended = false;                           ///< all said goodbye, at the same call
    };

    explicit Agreement(std::uint64_t clients);
    /// A client made a call.  [local]
    /// @returns what is to be told to all, once
    [[nodiscard]] std::optional<Disagreement> made(std::uint64_t client, Call call);
    /// A client will make none any more.  [local]
    [[nodiscard]] std::optional<Disagreement> gone(std::uint64_t client);
    [[nodiscard]] const State& state() const noexcept { return x_state; }  ///< [local]

private:
    [[nodiscard]] std::optional<Disagreement> compare();
    void agreed(const Call& call);
    [[nodiscard]] core::Error difference(std::uint64_t call, const Row& row) const;
    [[nodiscard]] std::string text(const Call& call) const;
    [[nodiscard]] std::string in_the_puts(const Same& here, const Same& there) const;

    State x_state;
};

}  // namespace tailrace::server
