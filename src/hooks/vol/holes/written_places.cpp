// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/written_places.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

namespace tailrace::hooks::vol {
namespace {

/// Of this process: there may be one for each core, and all on one node.
constexpr uint64_t most_bytes_of_bits = uint64_t{64} << 20;
std::atomic<uint64_t> bytes_of_bits{0};

constexpr size_t start = 0, stride = 1, count = 2, block = 3;  // of the four per dimension

/// A place as numbers, with one block where the blocks touch, so that equal ones look alike.
void write_down(const ElementSet& place, size_t rank, uint64_t* numbers) {
    for (size_t d = 0; d < rank; ++d) {
        uint64_t* const to = numbers + 4 * d;
        const bool one = place.count[d] == 1 || place.stride[d] == place.block[d];
        to[start] = place.start[d];
        to[stride] = one ? 1 : place.stride[d];
        to[count] = one ? 1 : place.count[d];
        to[block] = one ? place.count[d] * place.block[d] : place.block[d];
    }
}

ElementSet read_back(const uint64_t* numbers, size_t rank) {
    ElementSet place;
    place.rank = static_cast<uint32_t>(rank);
    for (size_t d = 0; d < rank; ++d) {
        place.start[d] = numbers[4 * d + start];
        place.stride[d] = numbers[4 * d + stride];
        place.count[d] = numbers[4 * d + count];
        place.block[d] = numbers[4 * d + block];
    }
    return place;
}

bool same(const uint64_t* one, const uint64_t* other, size_t numbers) {
    return memcmp(one, other, numbers * sizeof *one) == 0;
}

/// Whether `next` goes on where `before` ends, in one dimension; then that is longer.
bool append(uint64_t* before, const uint64_t* next, size_t rank) {
    size_t differs = rank;
    for (size_t d = 0; d < rank; ++d) {
        if (same(before + 4 * d, next + 4 * d, 4)) continue;
        if (differs != rank) return false;
        differs = d;
    }
    if (differs == rank) return true;
    uint64_t* const longer = before + 4 * differs;
    const uint64_t* const more = next + 4 * differs;
    if (longer[count] != 1 || more[count] != 1 || more[start] != longer[start] + longer[block])
        return false;
    longer[block] += more[block];
    return true;
}

}  // namespace

void WrittenPlaces::begin(const uint64_t* dims, uint32_t rank) {
    x_rank = rank;
    memcpy(x_dims, dims, rank * sizeof *dims);
}

void WrittenPlaces::end() {
    free(x_numbers);
    x_numbers = nullptr;
    x_count = x_room = 0;
    drop_bits();
}

void WrittenPlaces::drop_bits() {
    if (is_bits()) bytes_of_bits -= x_bits.elements() / 8;
    x_bits.end();
}

void WrittenPlaces::add_all() {
    ElementSet all;
    all.rank = x_rank;
    for (size_t d = 0; d < x_rank; ++d) {
        all.start[d] = 0;
        all.stride[d] = all.count[d] = 1;
        all.block[d] = x_dims[d];
    }
    // It takes the place of all others.
    x_count = 0;
    drop_bits();
    x_lost = false;
    add(all);
}

bool WrittenPlaces::within(const ElementSet& place) const {
    for (size_t d = 0; d < x_rank; ++d) {
        const uint64_t end =
            place.start[d] + (place.count[d] - 1) * place.stride[d] + place.block[d];
        if (end > x_dims[d]) return false;
    }
    return true;
}

void WrittenPlaces::add(const ElementSet& place) {
    if (!within(place)) {
        x_lost = true;
    } else if (is_bits()) {
        x_bits.add_place(place);
    } else if (put(place)) {
        merge();
    } else {
        to_bits();
        if (is_bits())
            x_bits.add_place(place);
        else
            x_lost = true;
    }
}

/// Appends it; false where there is no room for more.
bool WrittenPlaces::put(const ElementSet& place) {
    const size_t more = numbers_of_place(x_rank);
    if (x_count + more > x_room) {
        size_t room = x_room == 0 ? more : 2 * x_room;
        if (room > most_numbers) room = most_numbers;
        if (x_count + more > room) return false;
        auto* larger = static_cast<uint64_t*>(realloc(x_numbers, room * sizeof *x_numbers));
        if (larger == nullptr) return false;
        x_numbers = larger;
        x_room = room;
    }
    write_down(place, x_rank, x_numbers + x_count);
    x_count += more;
    return true;
}

/// Rows become a block, and blocks a larger one, where they are written one after the other.
void WrittenPlaces::merge() {
    while (places() > 1 && merge_last()) x_count -= numbers_of_place(x_rank);
}

bool WrittenPlaces::merge_last() { return append(at(places() - 2), at(places() - 1), x_rank); }

void WrittenPlaces::to_bits() {
    uint64_t elements = 1;
    for (size_t d = 0; d < x_rank; ++d) elements *= x_dims[d];
    if (bytes_of_bits + elements / 8 > most_bytes_of_bits) return;
    if (!x_bits.begin(x_dims, x_rank)) {
        x_bits.end();
        return;
    }
    bytes_of_bits += elements / 8;
    add_to(x_bits, x_numbers, x_count, x_rank);
    free(x_numbers);
    x_numbers = nullptr;
    x_count = x_room = 0;
}

void WrittenPlaces::add_to(WrittenBits& bits, const uint64_t* numbers, uint64_t count,
                           size_t rank) {
    for (uint64_t done = 0; done < count; done += numbers_of_place(rank))
        bits.add_place(read_back(numbers + done, rank));
}

}  // namespace tailrace::hooks::vol
