// SPDX-License-Identifier: Apache-2.0
// Writes: checked and agreed on before any I/O, then put one by one, or posted and written
// together.
#include <algorithm>
#include <limits>
#include <utility>

#include "formats/file/agree.hpp"
#include "formats/pnetcdf/limits.hpp"
#include "formats/pnetcdf/sink.hpp"

namespace tailrace::formats::pnetcdf {

using core::Code;
using core::Error;
using core::Write;

namespace {

/// Of one call, and of all that is posted at a time: PnetCDF counts their bytes in an int.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
/// Of a call of this rank alone. PnetCDF swaps the bytes in a copy: so it and what the kernel
/// copies from it stay in the processor's cache.
constexpr std::uint64_t cached_bytes = std::uint64_t{512} << 10;
constexpr std::uint64_t unlimited = std::numeric_limits<std::int64_t>::max() - 3;

}  // namespace

void Sink::check_pieces(std::span<const Write> pieces) const {
    for (const Write& piece : pieces) {
        if (piece.object >= x_objects.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not defined; there are " +
                            std::to_string(x_objects.size()),
                        x_target.path().string(), "use an id that define() returned");
        const std::uint64_t most_records =
            x_options.cdf == 5 ? unlimited : std::numeric_limits<std::uint32_t>::max() - 1;
        check_write(piece, x_objects[piece.object], most_records);
    }
}

std::vector<std::vector<Sink::Part>> Sink::parts_of(std::span<const Write> pieces) const {
    std::vector<std::vector<Part>> parts(x_objects.size());
    const bool alone = x_options.put == Put::blocking && !x_options.collective;
    for (const Write& piece : pieces) {
        if (piece.place.empty()) continue;
        const std::uint64_t in_file = core::size_of(x_objects[piece.object].type);
        // Types may differ: neither what is converted nor what comes of it may be too much.
        const std::uint64_t size = std::max(in_file, core::size_of(piece.type));
        const std::uint64_t most = alone && size > 1 ? cached_bytes : most_bytes;
        for (core::Box& box : cut_box(piece.place, most / size)) {
            const std::uint64_t bytes = box.volume() * in_file;
            parts[piece.object].push_back({&piece, std::move(box), bytes});
        }
    }
    return parts;
}

std::uint64_t Sink::flushes_for(const std::vector<std::vector<Part>>& parts) const {
    std::uint64_t flushes = 0, posted = x_posted_bytes;
    for (const auto& of_object : parts)
        for (const Part& part : of_object) {
            if (posted != 0 && posted + part.bytes > most_bytes) {
                ++flushes;
                posted = 0;
            }
            posted += part.bytes;
        }
    return flushes;
}

// Bad arguments, waits, records, then the rounds of every object.
Needs Sink::needs(std::span<const Write> pieces) {
    Needs needs;
    x_parts.assign(x_objects.size(), {});
    std::uint64_t records = x_records;
    needs.bad = comm::Comm::caught([&] {
        check_pieces(pieces);
        x_parts = parts_of(pieces);
        for (const Write& piece : pieces)
            if (!piece.place.empty() && is_record(x_objects[piece.object]))
                records = std::max(records, piece.place.offset[0] + piece.place.count[0]);
    });
    needs.most = {flushes_for(x_parts), records};
    for (const auto& mine : x_parts) needs.most.push_back(mine.size());
    return needs;
}

void Sink::transfer(std::span<const Write>, std::span<const std::uint64_t> agreed) {
    Batch batch{std::exchange(x_parts, {}), {}, agreed[0], agreed[1]};
    batch.rounds.assign(agreed.begin() + 2, agreed.end());
    const std::uint64_t before = x_written_records;
    guarded([&] { fill_records(batch.records); });
    if (x_options.put == Put::blocking) put(batch);
    prepare_buffer(batch);
    post(batch);
    // Rank 0 writes the number of records with the data, where the library keeps it up to date.
    x_written_records = std::max(x_written_records, batch.records);
    if (x_options.collective && x_comm.rank() == 0 && x_written_records > before)
        x_header_bytes += x_options.cdf == 5 ? 8 : 4;
}

/// Objects of which no rank has more than one part: all ranks call for them together. A scalar
/// cannot be written by a part of the ranks that way.
bool Sink::one_call(std::size_t object, const Batch& batch) const {
    if (x_options.put != Put::blocking) return false;
    return !x_options.collective || (batch.rounds[object] <= 1 && !x_objects[object].dims.empty());
}

void Sink::put(const Batch& batch) {
    for (std::size_t i = 0; i < x_objects.size(); ++i) {
        if (!one_call(i, batch)) continue;
        if (x_options.collective) {
            if (batch.rounds[i] != 0)
                put_one(i, batch.mine[i].empty() ? nullptr : &batch.mine[i][0]);
        } else {
            for (const Part& part : batch.mine[i]) put_one(i, &part);
        }
    }
}

void Sink::put_one(std::size_t object, const Part* part) {
    const std::byte* data = nullptr;
    if (part != nullptr && !failed()) guarded([&] { data = memory_of(*part, false); });
    // A rank that failed goes on with nothing, so that the others are not left waiting.
    if (failed()) {
        if (!x_options.collective) return;
        part = nullptr;
    }
    const std::size_t rank = x_objects[object].dims.size();
    const core::Box nothing{core::Extents(rank), core::Extents(rank)};
    ++x_calls;
    guarded([&] {
        if (part == nullptr) {
            x_file.put(x_variables[object], nothing, x_scratch.data(), x_objects[object].type,
                       x_options.collective);
            return;
        }
        x_bytes_asked += part->bytes;
        x_file.put(x_variables[object], part->box, data, part->piece->type, x_options.collective);
    });
}

const std::byte* Sink::memory_of(const Part& part, bool keep) {
    const Write& piece = *part.piece;
    const std::uint64_t size = core::size_of(piece.type);
    const PartInMemory memory(piece.place, part.box, piece.memory);
    if (memory.contiguous()) return piece.data + memory.first_element() * size;
    std::vector<std::byte>& packed = keep ? x_packed.emplace_back() : x_scratch;
    packed.resize(part.box.volume() * size);
    memory.pack(piece.data, size, packed.data());
    return packed.data();
}

/// The buffer of bput: as large as what a step has needed so far. It can change only while nothing
/// is posted; what does not fit is posted without it.
void Sink::prepare_buffer(const Batch& batch) {
    if (x_options.put != Put::buffered || failed()) return;
    std::uint64_t bytes = 0;
    for (const auto& of_object : batch.mine)
        for (const Part& part : of_object) bytes += part.bytes;
    x_step_bytes += bytes;
    const std::uint64_t wanted = std::min(std::max(x_most_step_bytes, bytes), most_bytes);
    if (x_posted_bytes != 0 || wanted <= x_buffer_bytes) return;
    guarded([&] {
        if (x_buffer_bytes != 0) x_file.detach_buffer();
        x_buffer_bytes = 0;
        x_file.attach_buffer(wanted);
        x_buffer_bytes = wanted;
    });
}

void Sink::post(const Batch& batch) {
    std::uint64_t waited = 0;
    bool some = false;
    for (std::size_t i = 0; i < x_objects.size(); ++i) {
        if (one_call(i, batch)) continue;
        some = some || batch.rounds[i] != 0;
        for (const Part& part : batch.mine[i]) {
            if (failed()) break;
            if (x_posted_bytes != 0 && x_posted_bytes + part.bytes > most_bytes) {
                wait();
                ++waited;
            }
            post_one(i, part);
        }
    }
    x_unfinished = x_unfinished || some;
    if (!some) return;
    for (; x_options.collective && waited < batch.flushes; ++waited) wait();
    if (x_options.put != Put::blocking) return;
    wait();
    x_unfinished = false;
}

void Sink::post_one(std::size_t object, const Part& part) {
    const bool buffered =
        x_options.put == Put::buffered && x_buffer_used + part.bytes <= x_buffer_bytes;
    ++x_calls;
    x_bytes_asked += part.bytes;
    x_posted_bytes += part.bytes;
    if (buffered) x_buffer_used += part.bytes;
    guarded([&] {
        x_file.post_put(x_variables[object], part.box, memory_of(part, !buffered), part.piece->type,
                        buffered, x_requests);
    });
}

/// Ends what is posted; a failure of this rank is remembered, and the rank stays in step.
void Sink::wait() {
    ++x_waits;
    guarded([&] { x_file.wait(x_requests, x_options.collective); });
    x_packed.clear();
    x_posted_bytes = 0;
    x_buffer_used = 0;
}

void Sink::finish_step() {
    if (x_unfinished) {
        const auto scope = x_phases.enter("write");
        wait();
    }
    x_unfinished = false;
    x_most_step_bytes = std::max(x_most_step_bytes, std::exchange(x_step_bytes, 0));
}

void Sink::flush() {
    // Data is with the operating system as soon as it is written; of what independent writes reach
    // only the number of records is not in the file yet.
    collective_step("flush", "flushing " + x_target.path().string(), [&] {
        if (x_record_dimension >= 0) x_file.share_number_of_records();
    });
}

}  // namespace tailrace::formats::pnetcdf
