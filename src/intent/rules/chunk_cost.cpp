// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/chunk_cost.hpp"

#include <algorithm>

#include "intent/plan/functions.hpp"

namespace tailrace::intent::rules {

namespace {

/// The shape of most of the calls.
std::optional<Access> most_frequent(const Transfers& side, const Dataset& dataset) {
    std::optional<Access> found;
    for (const Shape& shape : side.shapes) {
        Transfers alone = side;
        alone.shapes = {shape};
        const std::optional<Access> one = dominant(alone, dataset);
        if (one && (!found || one->calls > found->calls)) found = one;
    }
    return found;
}

}  // namespace

bool scattered(const Transfers& side, const Dataset& anew) {
    if (!side.order) return false;
    const Order& order = *side.order;
    std::uint64_t far = order.random.value_or(0);
    const std::uint64_t all =
        far + order.sequential.value_or(0) + order.strided.value_or(0) + order.repeated.value_or(0);
    bool beyond = false;
    for (std::size_t d = 0; d < order.step.size() && d < anew.chunk.size(); ++d) {
        const auto step = static_cast<std::uint64_t>(order.step[d]);
        beyond = beyond || (order.step[d] < 0 ? 0 - step : step) >= anew.chunk[d];
    }
    if (beyond) far += order.strided.value_or(0);
    return plan::times(far, 5) > all;
}

std::uint64_t bytes_stored(const Dataset& dataset) {
    if (!chunked(dataset)) return size_bytes(dataset).value_or(0);
    return plan::times(chunks_touched({dataset.dims, {}, 1, 1}, dataset),
                       chunk_bytes(dataset).value_or(0));
}

std::uint64_t bytes_touched(const Access& access, const Dataset& dataset) {
    if (chunked(dataset))
        return plan::times(chunks_touched(access, dataset), chunk_bytes(dataset).value_or(0));
    std::uint64_t pieces = 1;
    for (std::size_t d = 0; d + 1 < access.length.size(); ++d)
        pieces = plan::times(pieces, access.length[d]);
    const std::uint64_t piece = access.bytes / std::max<std::uint64_t>(pieces, 1);
    return plan::times(pieces, (piece / (4 * kib) + 1) * (4 * kib));
}

/// Its own default value HDF5 writes into chunks only, and into all of them at once where ranks
/// create the dataset together.
bool filled_as_chunks(const Subject& s) {
    const Fill fill = s.dataset->fill.value_or(Fill{});
    return parallel(s) && contiguous(*s.dataset) && fill.time.value_or("ifset") == "ifset" &&
           fill.defined.value_or("default") == "default";
}

Extents as_applied(const Subject& s, const plan::Call& call) {
    const Dataset& dataset = *s.dataset;
    const plan::FunctionInfo& function = *plan::find_function(call.name);
    Extents numbers, most;
    for (const std::string_view& name : function.numbers)
        if (!name.empty()) numbers.push_back(call.numbers.at(std::string(name)));
    for (std::size_t d = 0; d < dataset.dims.size(); ++d)
        most.push_back(d < dataset.max_dims.size() ? dataset.max_dims[d].value_or(plan::unlimited)
                                                   : dataset.dims[d]);
    plan::Surroundings around;
    around.dims = dataset.dims;
    around.max_dims = most;
    around.type_bytes = type_bytes(dataset);
    around.ranks = file_ranks(s);
    const plan::Value value = plan::evaluate(function.function, numbers, call.extents, around);
    if (value.state != plan::Value::State::good) return {};
    return {value.extents.begin(),
            value.extents.begin() + static_cast<std::ptrdiff_t>(value.ndims)};
}

/// Each call that goes to another place has a chunk read, or written, that the next does not want;
/// and each flush in between has one written that is not full.
std::optional<Held> held_by_cost(const Subject& s, const plan::Call& chunk) {
    const Dataset& dataset = *s.dataset;
    Dataset anew = dataset;
    anew.chunk = as_applied(s, chunk);
    if (anew.chunk.empty()) return std::nullopt;  // the checks of all settings say why
    const std::uint64_t larger = chunk_bytes(anew).value_or(0);
    if (const std::uint64_t now = bytes_stored(dataset), then = bytes_stored(anew);
        now > 0 && then / 3 * 2 > now)
        return Held{Guard::size, say("chunks of ", extents(anew.chunk), " elements would store ",
                                     size(then), " instead of ", size(now))};
    // Without filters ranks move just what they ask for.
    if (parallel(s) && dataset.filters.empty()) return std::nullopt;
    for (const auto* side : {&dataset.reads, &dataset.writes}) {
        if (calls(*side) < 10 || !scattered(**side, anew)) continue;
        const std::optional<Access> access = most_frequent(**side, dataset);
        if (!access) continue;
        const std::uint64_t now = bytes_touched(*access, dataset);
        const std::uint64_t then = plan::times(chunks_touched(*access, anew), larger);
        if (then / 4 >= std::max<std::uint64_t>(now, 1))
            return Held{Guard::places, say(side == &dataset.reads ? "reads" : "writes", " of ",
                                           extents(access->length),
                                           " elements go from place to place: each would move ",
                                           size(then), " instead of ", size(now))};
    }
    // A dataset that is opened anew for each write has its chunk written at each close.
    const std::uint64_t opens = dataset.opens.value_or(0);
    const std::uint64_t closes = opens - std::min(opens, calls(dataset.reads));
    const std::uint64_t flushes =
        (s.file.hdf5 ? s.file.hdf5->flushes.value_or(0) : 0) + dataset.flushes.value_or(0);
    const std::uint64_t times = std::min(flushes + closes, calls(dataset.writes)) / file_ranks(s);
    const std::uint64_t written = moved_bytes(dataset.writes);
    if (times > 2 && plan::times(times, larger) / 4 >= written)
        return Held{Guard::flush, say("it is flushed or closed ", flushes + closes, " times while ",
                                      size(written), " are written: each would write a chunk of ",
                                      size(larger), " again")};
    return std::nullopt;
}

std::optional<Held> held_by_fill(const Subject& s, const plan::Call& chunk) {
    const std::optional<Access> reading = dominant(s.dataset->reads, *s.dataset);
    Dataset anew = *s.dataset;
    anew.chunk = as_applied(s, chunk);
    if (!filled_as_chunks(s) || !reading || anew.chunk.empty()) return std::nullopt;
    const std::uint64_t now = bytes_touched(*reading, *s.dataset);
    const std::uint64_t then = bytes_touched(*reading, anew);
    const std::uint64_t saved = plan::times(now - std::min(now, then), reading->calls);
    const std::uint64_t filled = bytes_stored(anew);
    if (saved > filled) return std::nullopt;
    return Held{Guard::fill, say("ranks have chunks filled when they are created, ", size(filled),
                                 ", and that saves ", reading->calls, " reads ", size(saved))};
}

}  // namespace tailrace::intent::rules
