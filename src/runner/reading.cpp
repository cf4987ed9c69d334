// SPDX-License-Identifier: Apache-2.0
#include "runner/reading.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "runner/writing.hpp"

namespace tailrace::runner {

namespace {

using core::Box;

// While verifying, elements per read: bounds the memory that a format needs besides the buffer.
constexpr std::uint64_t most_compared = std::uint64_t{4} << 20;

/// The kernel's objects in the order of its schema, as ids of the file.
std::vector<core::ObjectId> ids_of(const Kernel& kernel, std::uint64_t step,
                                   const core::Schema& found) {
    std::map<std::string, core::ObjectId> there;
    for (std::size_t i = 0; i < found.objects.size(); ++i)
        there[found.objects[i].path] = static_cast<core::ObjectId>(i);
    std::vector<core::ObjectId> ids;
    for (const core::Object& object : kernel.schema_of(step).objects) {
        const auto at = there.find(object.path);
        if (at == there.end())
            throw core::Error(core::Code::data_lost, "it has no object " + object.path,
                              kernel.file_of(step).string(), "write it again");
        ids.push_back(at->second);
    }
    return ids;
}

std::vector<Piece> parts_of(std::span<const Piece> pieces, const Kernel& kernel, std::uint64_t most,
                            std::size_t room) {
    std::vector<Piece> parts;
    for (const Piece& piece : pieces) {
        const std::uint64_t fits = room / core::size_of(kernel.type(piece.object));
        for (Box& box : pieces_of(piece.place, std::min(most, fits)))
            parts.push_back({piece.object, std::move(box), piece.step});
    }
    return parts;
}

}  // namespace

std::vector<Box> pieces_of(const Box& box, std::uint64_t most) {
    if (box.empty()) return {};
    if (box.volume() <= most) return {box};
    std::size_t axis = 0;
    while (box.count[axis] == 1) ++axis;
    const std::uint64_t layer = box.volume() / box.count[axis];
    const std::uint64_t thick = std::max<std::uint64_t>(1, most / layer);
    std::vector<Box> pieces;
    for (std::uint64_t at = 0; at < box.count[axis]; at += thick) {
        Box piece = box;
        piece.offset[axis] += at;
        piece.count[axis] = std::min(thick, box.count[axis] - at);
        for (Box& smaller : pieces_of(piece, most)) pieces.push_back(std::move(smaller));
    }
    return pieces;
}

Opened::Opened(const comm::Comm& comm, const Kernel& kernel, std::uint64_t step,
               core::Phases& phases)
    : x_comm(comm),
      x_kernel(kernel),
      x_reading(phases),
      x_source(kernel.opener()->source(comm, kernel.file_of(step), x_phases)) {
    const core::Schema found = x_source->schema();
    x_ids = comm.agree_on([&] { return ids_of(kernel, step, found); });
}

void Opened::read(std::span<const Piece> pieces, std::uint64_t most, std::span<std::byte> buffer,
                  const Take& take) {
    const std::vector<Piece> parts = parts_of(pieces, x_kernel, most, buffer.size());
    const std::uint64_t rounds = x_comm.max(parts.size());
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const bool mine = round < parts.size();
        read_together(mine ? std::span(&parts[round], 1) : std::span<const Piece>(), buffer);
        if (!mine) continue;
        const std::uint64_t bytes =
            parts[round].place.volume() * core::size_of(x_kernel.type(parts[round].object));
        take(parts[round], buffer.first(static_cast<std::size_t>(bytes)));
    }
}

void Opened::read_together(std::span<const Piece> pieces, std::span<std::byte> buffer) {
    std::vector<core::Read> reads;
    std::byte* data = buffer.data();
    for (const Piece& piece : pieces) {
        const core::Scalar type = x_kernel.type(piece.object);
        reads.push_back({x_ids[piece.object], piece.place, data, type});
        data += piece.place.volume() * core::size_of(type);
    }
    const auto phase = x_reading.enter("read");
    x_source->read(reads);
}

std::uint64_t elements_of(const Kernel& kernel, bool late) {
    std::uint64_t elements = 0;
    for (std::uint64_t step = 0; step < kernel.steps(); step += kernel.steps_per_file())
        for (std::size_t number = 0; const core::Object& object : kernel.schema_of(step).objects)
            if (late || !kernel.is_late(number++))
                elements += object.bytes() / core::size_of(object.type);
    return elements;
}

core::ReadBackRecord read_back(const comm::Comm& comm, const Kernel& kernel, core::Phases& phases,
                               std::span<std::byte> buffer) {
    core::ReadBackRecord record;
    record.decomposition = kernel.other_decomposition();
    record.cache = "warm";  // the same nodes have just written the file, and nothing drops it
    const auto phase = phases.enter("read_back");
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    comm.barrier();
    const double start = core::now_s();
    std::uint64_t bytes = 0;
    {
        std::optional<Opened> file;
        for (std::uint64_t step = 0; step < kernel.steps(); ++step) {
            if (step % kernel.steps_per_file() == 0) file.emplace(comm, kernel, step, phases);
            file->read(
                kernel.other_pieces(rank, step), buffer.size(), buffer,
                [&](const Piece&, std::span<const std::byte> values) { bytes += values.size(); });
        }
    }
    comm.barrier();
    record.elapsed_s = comm.max(core::now_s() - start);
    record.bytes = comm.sum(bytes);
    return record;
}

namespace {

/// The late pieces of a step, made again from its values.
void verify_late(const comm::Comm& comm, const Kernel& kernel, std::uint64_t step, Opened& file,
                 std::span<std::byte> buffer, Comparison& comparison) {
    if (!kernel.has_late_pieces()) return;
    values_of_step(kernel, static_cast<std::uint64_t>(comm.rank()), step, buffer);
    Laps ignored;
    const std::vector<LatePiece> late = kernel.late_pieces(comm, step, buffer, ignored);
    std::vector<Piece> pieces;
    for (const LatePiece& piece : late)
        pieces.push_back({piece.object, {{piece.offset}, {piece.bytes.size()}}, step});
    std::vector<std::byte> room(most_compared);
    std::size_t number = 0, at = 0;
    file.read(pieces, most_compared, room,
              [&](const Piece& piece, std::span<const std::byte> found) {
                  const std::string& text = late[number].bytes;
                  comparison.compare(
                      piece, std::as_bytes(std::span(text)).subspan(at, found.size()), found);
                  at += found.size();
                  if (at == text.size()) at = 0, ++number;
              });
}

}  // namespace

core::VerificationRecord verify(const comm::Comm& comm, const Kernel& kernel, core::Phases& phases,
                                std::span<std::byte> buffer) {
    const auto phase = phases.enter("verify");
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    Comparison comparison(kernel);
    {
        std::optional<Opened> file;
        for (std::uint64_t step = 0; step < kernel.steps(); ++step) {
            if (step % kernel.steps_per_file() == 0) file.emplace(comm, kernel, step, phases);
            verify_late(comm, kernel, step, *file, buffer, comparison);
            std::vector<Piece> pieces = kernel.other_pieces(rank, step);
            for (Piece& piece : pieces) piece.step = step;
            file->read(pieces, most_compared, buffer,
                       [&](const Piece& piece, std::span<const std::byte> values) {
                           comparison.compare(piece, values);
                       });
        }
    }
    return comparison.result(comm, elements_of(kernel, true));
}

}  // namespace tailrace::runner
