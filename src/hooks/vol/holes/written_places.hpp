// SPDX-License-Identifier: Apache-2.0
// Which elements of an array one rank has written, in few numbers: an array of many ranks would
// take each of them a bit for every element, though it writes a block or two.
#pragma once

#include "hooks/vol/holes/written_bits.hpp"

namespace tailrace::hooks::vol {

/// Blocks in equal steps; where they get too many, a bit for each element. Zero-initialised, and
/// begun, it holds nothing.
class WrittenPlaces {
public:
    static constexpr size_t most_numbers = 8192;  // 64 KiB

    void begin(const uint64_t* dims, uint32_t rank);
    void end();
    void add_all();
    /// Adds a place, which is not empty; without memory, or where it is not within the array, the
    /// rest is not known from then on.
    void add(const ElementSet& place);
    /// Something was written, nobody knows where.
    void lose() { x_lost = true; }
    /// Whether there may be more than is known.
    [[nodiscard]] bool lost() const { return x_lost; }

    /// What it is, to be told to another rank: bits, or the places one after the other.
    [[nodiscard]] bool is_bits() const { return x_bits.words() != nullptr; }
    [[nodiscard]] const uint64_t* numbers() const { return is_bits() ? x_bits.words() : x_numbers; }
    [[nodiscard]] uint64_t count() const { return is_bits() ? x_bits.word_count() : x_count; }
    /// Numbers of a place.
    static size_t numbers_of_place(size_t rank) { return 4 * rank; }
    /// Adds places that another rank has told to bits: whole ones.
    static void add_to(WrittenBits& bits, const uint64_t* numbers, uint64_t count, size_t rank);

private:
    [[nodiscard]] bool within(const ElementSet& place) const;
    bool put(const ElementSet& place);
    void merge();
    bool merge_last();
    void to_bits();
    void drop_bits();
    [[nodiscard]] uint64_t* at(size_t place) const {
        return x_numbers + numbers_of_place(x_rank) * place;
    }
    [[nodiscard]] size_t places() const { return x_count / numbers_of_place(x_rank); }

    uint64_t* x_numbers;  ///< of each place start, stride, count and block, by dimension
    size_t x_count;
    size_t x_room;
    WrittenBits x_bits;
    uint32_t x_rank;
    uint64_t x_dims[most_dimensions];
    bool x_lost;
};

}  // namespace tailrace::hooks::vol
