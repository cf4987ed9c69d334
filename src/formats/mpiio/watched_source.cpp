// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/watched_source.hpp"

#include <algorithm>

#include "formats/mpiio/open_by_all.hpp"
#include "formats/sink/pieces.hpp"

namespace tailrace::formats::mpiio {

using core::Code;
using core::Error;
using core::Read;

WatchedSource::WatchedSource(const comm::Comm& comm, const std::filesystem::path& path,
                             core::Phases& phases)
    : x_comm(comm), x_phases(phases), x_path(path) {}

void WatchedSource::begin_watch() {
    x_comm.agree(why_not_open(x_path, false));
    x_comm.agree_on([&] { x_watch.emplace(x_path); });
}

core::Schema WatchedSource::schema() {
    core::Schema schema;
    for (const Entry& entry : x_entries) schema.objects.push_back(entry.object);
    return schema;
}

void WatchedSource::agree(const std::optional<Error>& returned, const std::string& doing,
                          const std::string& where, bool data) {
    const auto seen = x_watch->failure(doing, where, data);
    const auto scope = x_phases.enter("agree");
    try {
        x_comm.agree(seen ? seen : returned);
    } catch (const Error& error) {
        x_lost = error;
        // Where the library itself returned an error on some rank, ranks may stand at different
        // places.
        if (x_comm.max(std::uint64_t{returned || !x_watch->holds() ? 1U : 0U}) != 0) abandon();
        throw;
    }
}

void WatchedSource::check_pieces(std::span<const Read> pieces) const {
    for (const Read& piece : pieces) {
        if (piece.object >= x_entries.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not in the file",
                        x_path.string(), "use an index into schema().objects");
        if (const auto& why = x_entries[piece.object].unreadable) throw Error(*why);
        check_read(piece, x_entries[piece.object].object);
    }
}

/// What the library reads collectively for these pieces.
std::vector<Place> WatchedSource::places_of(std::span<const Read> pieces) const {
    std::vector<Place> places;
    for (const Read& piece : pieces) {
        if (piece.place.empty() || !together(piece.object)) continue;
        core::Box box = piece.place;
        const core::Extents& chunk = x_entries[piece.object].whole_chunk;
        for (std::size_t d = 0; d < chunk.size(); ++d) {
            const std::uint64_t end = box.offset[d] + box.count[d];
            box.offset[d] -= box.offset[d] % chunk[d];
            box.count[d] = (end - box.offset[d] + chunk[d] - 1) / chunk[d] * chunk[d];
        }
        places.push_back({piece.object, std::move(box)});
    }
    return places;
}

void WatchedSource::read(std::span<Read> pieces) {
    if (x_lost) throw Error(*x_lost);
    std::vector<Share> mine(x_entries.size());
    std::vector<std::uint64_t> rounds(x_entries.size());
    std::vector<Place> places;
    ReadTurns turns;
    {
        const auto scope = x_phases.enter("agree");
        x_comm.agree_on([&] {
            check_pieces(pieces);
            for (Read& piece : pieces)
                if (!piece.place.empty()) mine[piece.object].pieces.push_back(&piece);
            for (std::size_t i = 0; i < mine.size(); ++i)
                mine[i].calls = calls_for(i, mine[i].pieces);
            places = places_of(pieces);
        });
        for (std::size_t i = 0; i < mine.size(); ++i) rounds[i] = mine[i].calls.size();
        x_comm.reduce(rounds, comm::Reduce::max);
        bool collectively = false;
        for (std::size_t i = 0; i < mine.size(); ++i) collectively |= together(i);
        if (collectively) turns = read_turns(x_comm, std::move(places));
    }
    const auto first = std::find_if(rounds.begin(), rounds.end(), [](auto n) { return n != 0; });
    std::string where = x_path.string();
    if (first != rounds.end())
        where += ":" + x_entries[static_cast<std::size_t>(first - rounds.begin())].object.path;
    collective_step("read", "reading", where, [&] { transfer(mine, rounds, turns); });
}

/// A rank that failed goes on with nothing, so that the others are not left waiting.
void WatchedSource::transfer(const std::vector<Share>& mine,
                             const std::vector<std::uint64_t>& rounds, const ReadTurns& turns) {
    std::optional<Error> failed;
    for (std::uint64_t turn = 0; turn < turns.all; ++turn)
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const bool all = together(i), my_turn = turn == turns.mine;
            if (!all && !my_turn) continue;
            const std::vector<std::size_t>& calls = mine[i].calls;
            std::span<Read* const> left(mine[i].pieces);
            for (std::uint64_t round = 0; round < (all ? rounds[i] : calls.size()); ++round) {
                if (failed && !all) break;
                const auto now =
                    left.first(failed || !my_turn || round >= calls.size() ? 0 : calls[round]);
                left = left.subspan(now.size());
                const auto error = comm::Comm::caught([&] { read_call(i, now); });
                if (!failed) failed = error;
            }
        }
    if (failed) throw Error(*failed);
}

}  // namespace tailrace::formats::mpiio
