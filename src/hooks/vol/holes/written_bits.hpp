// SPDX-License-Identifier: Apache-2.0
// Which elements of an array have been written, a bit for each.
#pragma once

#include <stdint.h>

#include "hooks/vol/record/facts.hpp"

namespace tailrace::hooks::vol {

/// Elements are numbered in row-major order. Zero-initialised it holds nothing.
class WrittenBits {
public:
    /// False without memory: nothing is counted then.  [local]
    bool begin(const uint64_t* dims, uint32_t rank);
    void end();

    [[nodiscard]] uint64_t elements() const { return x_elements; }
    [[nodiscard]] bool all_written() const { return x_written == x_elements; }
    [[nodiscard]] uint64_t missing() const { return x_elements - x_written; }
    [[nodiscard]] bool has(uint64_t element) const {
        return (x_bits[element / 64] >> (element % 64) & 1U) != 0;
    }
    /// Written elements among `count` from `first` on.
    [[nodiscard]] uint64_t written(uint64_t first, uint64_t count) const;

    /// Where elements end that are written or not as `first` is.
    [[nodiscard]] uint64_t end_of_run(uint64_t first) const;

    void add(uint64_t first, uint64_t count);
    void add_all() { add(0, x_elements); }
    /// Adds blocks in equal steps; those outside the array must not come here.
    void add_place(const ElementSet& place);

    /// The bits as numbers of 64.
    [[nodiscard]] const uint64_t* words() const { return x_bits; }
    [[nodiscard]] uint64_t word_count() const { return x_elements / 64 + 1; }
    /// Adds bits of as many elements: `count` numbers from number `first` on.
    void add_words(uint64_t first, const uint64_t* words, uint64_t count);

private:
    void add_rows(const ElementSet& place, uint32_t d, uint64_t before);

    uint64_t* x_bits;
    uint64_t x_elements;
    uint64_t x_written;
    uint32_t x_rank;
    uint64_t x_step[most_dimensions];  ///< elements from one index of a dimension to the next
};

}  // namespace tailrace::hooks::vol
