// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/written_bits.hpp"

#include <stdlib.h>

namespace tailrace::hooks::vol {
namespace {

/// `count` bits from bit `first` of a word on.
uint64_t mask(unsigned first, uint64_t count) {
    const uint64_t ones = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    return ones << first;
}

/// Bits of a word that are set. The compiler's own way would bring libgcc into every program.
uint64_t count_of(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return (word * 0x0101010101010101U) >> 56;
}

/// Calls `what(word, mask)` for the words that hold the bits [first, first + count).
template <typename What>
void for_words(uint64_t first, uint64_t count, What what) {
    while (count > 0) {
        const auto bit = static_cast<unsigned>(first % 64);
        const uint64_t here = count < 64 - bit ? count : 64 - bit;
        what(first / 64, mask(bit, here));
        first += here;
        count -= here;
    }
}

}  // namespace

bool WrittenBits::begin(const uint64_t* dims, uint32_t rank) {
    x_rank = rank;
    x_elements = 1;
    x_written = 0;
    for (uint32_t d = rank; d-- > 0;) {
        x_step[d] = x_elements;
        x_elements *= dims[d];
    }
    x_bits = static_cast<uint64_t*>(calloc(x_elements / 64 + 1, sizeof(uint64_t)));
    return x_bits != nullptr;
}

void WrittenBits::end() {
    free(x_bits);
    x_bits = nullptr;
}

uint64_t WrittenBits::written(uint64_t first, uint64_t count) const {
    uint64_t found = 0;
    for_words(first, count,
              [&](uint64_t word, uint64_t bits) { found += count_of(x_bits[word] & bits); });
    return found;
}

uint64_t WrittenBits::end_of_run(uint64_t first) const {
    const bool written = has(first);
    const uint64_t whole = written ? ~uint64_t{0} : 0;
    uint64_t at = first + 1;
    while (at < x_elements && has(at) == written) {
        // Whole words at once.
        at += at % 64 == 0 && x_bits[at / 64] == whole ? 64 : 1;
    }
    return at < x_elements ? at : x_elements;
}

void WrittenBits::add(uint64_t first, uint64_t count) {
    if (all_written()) return;
    for_words(first, count, [&](uint64_t word, uint64_t bits) {
        x_written += count_of(bits & ~x_bits[word]);
        x_bits[word] |= bits;
    });
}

void WrittenBits::add_place(const ElementSet& place) { add_rows(place, 0, 0); }

void WrittenBits::add_words(uint64_t first, const uint64_t* words, uint64_t count) {
    for (uint64_t at = 0; at < count; ++at) {
        x_written += count_of(words[at] & ~x_bits[first + at]);
        x_bits[first + at] |= words[at];
    }
}

void WrittenBits::add_rows(const ElementSet& place, uint32_t d, uint64_t before) {
    const bool last = d + 1 == x_rank;
    for (uint64_t number = 0; number < place.count[d]; ++number) {
        const uint64_t start = place.start[d] + number * place.stride[d];
        if (last) {
            add(before + start, place.block[d]);
            continue;
        }
        for (uint64_t at = start; at < start + place.block[d]; ++at)
            add_rows(place, d + 1, before + at * x_step[d]);
    }
}

}  // namespace tailrace::hooks::vol
