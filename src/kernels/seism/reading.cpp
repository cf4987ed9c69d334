// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/reading.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "formats/open.hpp"

namespace tailrace::kernels::seism {

namespace {

using core::Box;

constexpr std::size_t most_differences = 10;  // shown per run
constexpr std::uint64_t most_compared = std::uint64_t{4}
                                        << 20;  // elements per read while verifying
constexpr std::size_t row_part = 65536;         // expected values made at a time

/// A difference in a form that travels between ranks.
struct Difference {
    std::uint64_t index[4];
    float expected, found;
};

/// Calls `work(piece, values)` for all pieces that this rank reads, in step with the others.
template <class Work>
void for_each_piece(const comm::Comm& comm, const Inputs& inputs, core::Source& source,
                    std::uint64_t most, std::span<float> buffer, Work&& work) {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    for (std::uint64_t step = 0; step < inputs.geometry.steps; ++step) {
        const Box part = inputs.geometry.reading_place_of(rank, step);
        const std::vector<Box> pieces =
            pieces_of(part, std::min<std::uint64_t>(most, buffer.size()));
        const std::uint64_t rounds = comm.max(pieces.size());
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::vector<core::Read> reads;
            if (round < pieces.size())
                reads.push_back({0, pieces[round], reinterpret_cast<std::byte*>(buffer.data()),
                                 core::Scalar::f32});
            source.read(reads);
            if (round < pieces.size())
                work(pieces[round], buffer.first(static_cast<std::size_t>(pieces[round].volume())));
        }
    }
}

class Comparison {
public:
    explicit Comparison(const Fill& fill) : x_fill(fill), x_expected(row_part) {}

    void compare(const Box& place, std::span<const float> found) {
        const core::Extents& n = place.count;
        for (std::uint64_t t = 0; t < n[0]; ++t)
            for (std::uint64_t x = 0; x < n[1]; ++x)
                for (std::uint64_t y = 0; y < n[2]; ++y) {
                    const auto length = static_cast<std::size_t>(n[3]);
                    compare_row({place.offset[0] + t, place.offset[1] + x, place.offset[2] + y,
                                 place.offset[3]},
                                found.first(length));
                    found = found.subspan(length);
                }
    }
    std::uint64_t elements = 0, wrong = 0;
    std::vector<Difference> first;

private:
    void compare_row(core::Extents at, std::span<const float> found) {
        while (!found.empty()) {
            const std::size_t length = std::min(found.size(), row_part);
            const std::span<float> expected(x_expected.data(), length);
            x_fill.row(at[0], at[1], at[2], at[3], expected);
            elements += length;
            if (std::memcmp(expected.data(), found.data(), length * sizeof(float)) != 0)
                note_differences(at, expected, found.first(length));
            found = found.subspan(length);
            at[3] += length;
        }
    }
    void note_differences(const core::Extents& at, std::span<const float> expected,
                          std::span<const float> found) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            // Bits, not values: a fill may be NaN or -0.
            if (std::bit_cast<std::uint32_t>(expected[i]) == std::bit_cast<std::uint32_t>(found[i]))
                continue;
            ++wrong;
            if (first.size() < most_differences)
                first.push_back({{at[0], at[1], at[2], at[3] + i}, expected[i], found[i]});
        }
    }

    const Fill& x_fill;
    std::vector<float> x_expected;
};

std::vector<core::WrongElement> first_of_all(const comm::Comm& comm,
                                             const std::vector<Difference>& mine) {
    std::vector<Difference> all;
    for (const auto& bytes : comm.gather(std::as_bytes(std::span(mine)))) {
        const std::size_t before = all.size();
        all.resize(before + bytes.size() / sizeof(Difference));
        if (!bytes.empty()) std::memcpy(all.data() + before, bytes.data(), bytes.size());
    }
    std::sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) {
        return std::lexicographical_compare(a.index, a.index + 4, b.index, b.index + 4);
    });
    if (all.size() > most_differences) all.resize(most_differences);
    std::vector<core::WrongElement> first;
    first.reserve(all.size());
    for (const Difference& one : all)
        first.push_back({object_path, {one.index, one.index + 4}, one.expected, one.found});
    return first;
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

core::ReadBackRecord read_back(const comm::Comm& comm, const Inputs& inputs, core::Phases& phases,
                               std::span<float> buffer) {
    core::ReadBackRecord record;
    record.decomposition = {1, 1, 1, 1};
    record.decomposition[1 + inputs.geometry.reading_axis()] = inputs.geometry.ranks();
    record.bytes = inputs.geometry.bytes();
    record.cache = "warm";  // the same nodes have just written the file, and nothing drops it
    const auto phase = phases.enter("read_back");
    core::Phases inner;  // the Source's own phases: they belong to no part of the writing
    comm.barrier();
    const double start = core::now_s();
    {
        const auto source = formats::open_source(comm, inputs.filename, inputs.options, inner);
        (void)source->schema();
        for_each_piece(comm, inputs, *source, buffer.size(), buffer,
                       [](const Box&, std::span<const float>) {});
    }
    comm.barrier();
    record.elapsed_s = comm.max(core::now_s() - start);
    return record;
}

core::VerificationRecord verify(const comm::Comm& comm, const Inputs& inputs, const Fill& fill,
                                core::Phases& phases, std::span<float> buffer) {
    const auto phase = phases.enter("verify");
    core::Phases inner;
    Comparison comparison(fill);
    {
        const auto source = formats::open_source(comm, inputs.filename, inputs.options, inner);
        (void)source->schema();
        for_each_piece(comm, inputs, *source, most_compared, buffer,
                       [&](const Box& place, std::span<const float> values) {
                           comparison.compare(place, values);
                       });
    }
    core::VerificationRecord record;
    record.elements = comm.sum(comparison.elements);
    record.wrong = comm.sum(comparison.wrong);
    record.first = first_of_all(comm, comparison.first);
    const bool all_seen = record.elements * sizeof(float) == inputs.geometry.bytes();
    record.status = record.wrong == 0 && all_seen ? core::VerificationStatus::passed
                                                  : core::VerificationStatus::failed;
    return record;
}

}  // namespace tailrace::kernels::seism
