// SPDX-License-Identifier: Apache-2.0
// What was read against what had to be written.
#include <algorithm>
#include <cstring>

#include "runner/reading.hpp"

namespace tailrace::runner {

namespace {

constexpr std::size_t most_differences = 10;    // shown per run
constexpr std::uint64_t expected_part = 65536;  // expected values made at a time

template <class T>
double number_at(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}

double number(core::Scalar type, const std::byte* at) {
    switch (type) {
        case core::Scalar::i8:
            return number_at<std::int8_t>(at);
        case core::Scalar::u8:
            return number_at<std::uint8_t>(at);
        case core::Scalar::i16:
            return number_at<std::int16_t>(at);
        case core::Scalar::u16:
            return number_at<std::uint16_t>(at);
        case core::Scalar::i32:
            return number_at<std::int32_t>(at);
        case core::Scalar::u32:
            return number_at<std::uint32_t>(at);
        case core::Scalar::i64:
            return number_at<std::int64_t>(at);
        case core::Scalar::u64:
            return number_at<std::uint64_t>(at);
        case core::Scalar::f32:
            return number_at<float>(at);
        case core::Scalar::f64:
            return number_at<double>(at);
    }
    return 0;
}

}  // namespace

Comparison::Comparison(const Kernel& kernel) : x_kernel(kernel) {
    for (const core::Object& object : kernel.schema().objects) {
        x_paths.push_back(object.path);
        x_sizes.push_back(object.sizes());
    }
}

void Comparison::compare(const Piece& piece, std::span<const std::byte> found) {
    const std::uint64_t size = core::size_of(x_kernel.type(piece.object));
    for (const core::Box& box : pieces_of(piece.place, expected_part)) {
        const auto bytes = static_cast<std::size_t>(box.volume() * size);
        x_expected.resize(std::max(x_expected.size(), bytes));
        const std::span<std::byte> expected(x_expected.data(), bytes);
        const Piece part{piece.object, box, piece.step};
        x_kernel.values(part, expected);
        compare(part, expected, found.first(bytes));
        found = found.subspan(bytes);
    }
}

void Comparison::compare(const Piece& piece, std::span<const std::byte> expected,
                         std::span<const std::byte> found) {
    x_elements += piece.place.volume();
    if (std::memcmp(expected.data(), found.data(), found.size()) != 0) note(piece, expected, found);
}

void Comparison::note(const Piece& part, std::span<const std::byte> expected,
                      std::span<const std::byte> found) {
    const core::Scalar type = x_kernel.type(part.object);
    const auto size = static_cast<std::size_t>(core::size_of(type));
    // Bits, not values: a fill may be NaN or -0.
    for (std::size_t at = 0; at < found.size(); at += size) {
        if (std::memcmp(expected.data() + at, found.data() + at, size) == 0) continue;
        ++x_wrong;
        if (x_first.size() >= most_differences) continue;
        core::Extents index = core::grid_position(at / size, part.place.count);
        for (std::size_t d = 0; d < index.size(); ++d) index[d] += part.place.offset[d];
        x_first.push_back({part.object, core::linear_index(index, x_sizes[part.object]),
                           number(type, expected.data() + at), number(type, found.data() + at)});
    }
}

core::VerificationRecord Comparison::result(const comm::Comm& comm, std::uint64_t elements) const {
    std::vector<Difference> all;
    for (const auto& bytes : comm.gather(std::as_bytes(std::span(x_first)))) {
        const std::size_t before = all.size();
        all.resize(before + bytes.size() / sizeof(Difference));
        if (!bytes.empty()) std::memcpy(all.data() + before, bytes.data(), bytes.size());
    }
    std::sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) {
        return std::pair(a.object, a.linear) < std::pair(b.object, b.linear);
    });
    if (all.size() > most_differences) all.resize(most_differences);
    core::VerificationRecord record;
    record.elements = comm.sum(x_elements);
    record.wrong = comm.sum(x_wrong);
    for (const Difference& one : all)
        record.first.push_back({x_paths[one.object],
                                core::grid_position(one.linear, x_sizes[one.object]), one.expected,
                                one.found});
    record.status = record.wrong == 0 && record.elements == elements
                        ? core::VerificationStatus::passed
                        : core::VerificationStatus::failed;
    return record;
}

}  // namespace tailrace::runner
