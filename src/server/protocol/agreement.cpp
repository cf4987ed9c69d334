// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/agreement.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/config.hpp"

namespace tailrace::server {

namespace {

auto compared(const Call& call) {
    return std::tie(call.kind, call.collection, call.item, call.server, call.meta_hash,
                    call.text_hash);
}

std::string name_of(std::uint64_t rank) { return "rank " + std::to_string(rank); }

std::string verb_of(Ending kind) {
    switch (kind) {
        case Ending::step:
            return "ends a step";
        case Ending::close_file:
            return "closes a file";
        case Ending::flush:
            return "flushes";
        case Ending::discard_file:
            return "gives a file up";
        case Ending::add_collection:
            return "adds";
        case Ending::detach:
            break;
    }
    return "finalizes";
}

}  // namespace

Agreement::Agreement(std::uint64_t clients) {
    x_state.made.resize(clients);
    x_state.gone.resize(clients);
}

std::optional<Disagreement> Agreement::made(std::uint64_t client, Call call) {
    if (x_state.broken) return std::nullopt;
    if (call.text) x_state.texts.insert_or_assign(call.text_hash, std::move(*call.text));
    call.text.reset();
    ++x_state.made[client];
    Row& row = x_state.rows[call.call];
    if (row.groups.empty())
        row.missing =
            static_cast<std::uint64_t>(std::count(x_state.gone.begin(), x_state.gone.end(), false));
    --row.missing;
    const auto same = std::find_if(row.groups.begin(), row.groups.end(), [&](const Same& group) {
        return compared(group.call) == compared(call);
    });
    if (same == row.groups.end()) {
        row.groups.push_back({std::move(call), client, 1});
    } else {
        same->lowest = std::min(same->lowest, client);
        ++same->clients;
    }
    return compare();
}

std::optional<Disagreement> Agreement::gone(std::uint64_t client) {
    x_state.gone[client] = true;
    for (auto& [number, row] : x_state.rows)
        if (number >= x_state.made[client]) --row.missing;
    return compare();
}

std::optional<Disagreement> Agreement::compare() {
    while (!x_state.rows.empty() && x_state.rows.begin()->second.missing == 0) {
        auto& [number, row] = *x_state.rows.begin();
        if (row.groups.size() > 1) {
            std::sort(row.groups.begin(), row.groups.end(),
                      [](const Same& a, const Same& b) { return a.lowest < b.lowest; });
            Disagreement told{number, difference(number, row)};
            x_state.broken = true;
            x_state.rows.clear();
            return told;
        }
        const Call call = row.groups.front().call;
        x_state.rows.erase(x_state.rows.begin());
        x_state.ended = x_state.ended || call.kind == Ending::detach;
        agreed(call);
    }
    return std::nullopt;
}

/// Forgets the text that the collection had before, or there would be one for each file.
void Agreement::agreed(const Call& call) {
    const auto [last, first] = x_state.last.try_emplace(call.collection, call.text_hash);
    if (first || last->second == call.text_hash) return;
    const std::uint64_t before = std::exchange(last->second, call.text_hash);
    for (const auto& [number, row] : x_state.rows)
        for (const Same& group : row.groups)
            if (group.call.text_hash == before) return;
    x_state.texts.erase(before);
}

std::string Agreement::text(const Call& call) const {
    const auto found = x_state.texts.find(call.text_hash);
    std::string text = verb_of(call.kind);
    if (call.kind == Ending::detach || found == x_state.texts.end()) return text;
    if (call.kind != Ending::add_collection) text += " of";
    return text + " collection " + core::in_quotes(found->second.collection);
}

/// How two steps of the same collection differ.
std::string Agreement::in_the_puts(const Same& here, const Same& there) const {
    const auto a = x_state.texts.find(here.call.text_hash);
    const auto b = x_state.texts.find(there.call.text_hash);
    if (a == x_state.texts.end() || b == x_state.texts.end()) return "makes another call";
    const CallText &mine = a->second, &other = b->second;
    if (mine.file != other.file)
        return "writes " + core::in_quotes(mine.file) + ", " + name_of(there.lowest) + " " +
               core::in_quotes(other.file);
    const auto [at, instead] =
        std::mismatch(mine.puts.begin(), mine.puts.end(), other.puts.begin(), other.puts.end());
    if (at == mine.puts.end() && instead == other.puts.end())
        return "has other metadata than " + name_of(there.lowest);
    const std::string place = "as put " + std::to_string(at - mine.puts.begin() + 1);
    if (at == mine.puts.end())
        return "leaves out variable " + core::in_quotes(instead->variable) + ", which " +
               name_of(there.lowest) + " gives " + place;
    if (instead == other.puts.end())
        return "gives variable " + core::in_quotes(at->variable) + " " + place + ", " +
               name_of(there.lowest) + " does not";
    if (at->variable == instead->variable)
        return "gives variable " + core::in_quotes(at->variable) + " another type or shape than " +
               name_of(there.lowest);
    return "gives variable " + core::in_quotes(at->variable) + " " + place + ", " +
           name_of(there.lowest) + " variable " + core::in_quotes(instead->variable);
}

core::Error Agreement::difference(std::uint64_t call, const Row& row) const {
    const Same &first = row.groups.front(), &other = row.groups[1];
    std::uint64_t differ = 0, all = 0;
    for (const Same& group : row.groups) all += group.clients;
    differ = all - first.clients;
    const auto what = [](const Call& one) { return std::tie(one.kind, one.collection, one.item); };
    std::string message = "ranks make different calls: " + name_of(other.lowest) + " ";
    if (what(first.call) == what(other.call))
        message += in_the_puts(other, first);
    else
        message += text(other.call) + ", " + name_of(first.lowest) + " " + text(first.call);
    std::string where = "call " + std::to_string(call + 1) + " of the server";
    const auto found = x_state.texts.find(first.call.text_hash);
    if (found != x_state.texts.end() && !found->second.collection.empty())
        where += ", item " + std::to_string(first.call.item + 1) + " of collection " +
                 found->second.collection;
    return core::Error(core::Code::rank_mismatch, std::move(message), std::move(where),
                       "all ranks make the same calls in the same order, also those without data")
        .seen_by(static_cast<int>(other.lowest), static_cast<int>(differ), static_cast<int>(all));
}

}  // namespace tailrace::server
