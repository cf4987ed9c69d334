// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/holes/fill_values.hpp"

#include <stdlib.h>
#include <string.h>

#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr uint64_t most_bytes = uint64_t{4} << 20;

/// A run of elements that is a box: whole rows of some dimension.
struct Piece {
    uint64_t first;
    uint64_t elements;
    uint64_t start[most_dimensions];
    uint64_t count[most_dimensions];
};

class Filler {
public:
    Filler(Object& dataset, const Array& array, const WrittenBits* written)
        : x_dataset(dataset), x_of(dataset.library()), x_array(array), x_written(written) {}
    ~Filler() {
        const ErrorsKept kept(x_of);
        if (x_type >= 0) x_of.H5Tclose(x_type);
        if (x_space >= 0) x_of.H5Sclose(x_space);
        free(x_value);
        free(x_buffer);
    }
    Filler(const Filler&) = delete;
    Filler& operator=(const Filler&) = delete;

    Status run() {
        if (!begin()) return -1;
        for (uint64_t first = 0; first < x_array.elements;) {
            const Piece piece = piece_from(first, x_most);
            if (fill(piece) < 0) return -1;
            first += piece.elements;
        }
        return 0;
    }

    Status run_exactly() {
        if (!begin()) return -1;
        for (uint64_t first = 0; first < x_array.elements;) {
            const uint64_t end = x_written->end_of_run(first);
            while (!x_written->has(first) && first < end) {
                const Piece piece = piece_from(first, end - first < x_most ? end - first : x_most);
                if (fill(piece) < 0) return -1;
                first += piece.elements;
            }
            first = end;
        }
        return 0;
    }

private:
    bool begin() {
        x_type = ask_dataset(x_dataset, x_dataset.inner, dataset_get_type);
        x_space = ask_dataset(x_dataset, x_dataset.inner, dataset_get_space);
        x_type_bytes = x_type >= 0 ? x_of.H5Tget_size(x_type) : 0;
        if (x_space < 0 || x_type_bytes == 0) return false;
        x_most = most_bytes / x_type_bytes > 0 ? most_bytes / x_type_bytes : 1;
        x_value = static_cast<unsigned char*>(calloc(1, x_type_bytes));
        x_buffer = static_cast<unsigned char*>(malloc(x_most * x_type_bytes));
        const Id creation = ask_dataset(x_dataset, x_dataset.inner, dataset_get_creation);
        const bool asked = x_value != nullptr && x_buffer != nullptr && creation >= 0 &&
                           x_of.H5Pget_fill_value(creation, x_type, x_value) >= 0;
        if (creation >= 0) x_of.H5Pclose(creation);
        return asked;
    }

    /// The largest piece from an element on of at most so many elements.
    Piece piece_from(uint64_t first, uint64_t most) const {
        Piece piece{first, 1, {}, {}};
        uint64_t step = 1;
        uint64_t rest = first;
        bool whole = true;  // so far it begins where a row does
        for (uint32_t d = x_array.rank; d-- > 0;) {
            piece.start[d] = rest % x_array.dims[d];
            rest /= x_array.dims[d];
            piece.count[d] = 1;
            if (whole) {
                const uint64_t left = x_array.dims[d] - piece.start[d];
                const uint64_t room = most / step;
                piece.count[d] = left < room ? left : room;
                if (piece.count[d] == 0) piece.count[d] = 1;
                piece.elements = step * piece.count[d];
            }
            whole = whole && piece.start[d] == 0 && piece.count[d] == x_array.dims[d];
            step *= x_array.dims[d];
        }
        return piece;
    }

    Status fill(const Piece& piece) {
        const uint64_t there =
            x_written != nullptr ? x_written->written(piece.first, piece.elements) : 0;
        if (there == piece.elements) return 0;
        const Id memory =
            x_of.H5Screate_simple(static_cast<int>(x_array.rank), piece.count, nullptr);
        if (memory < 0) return -1;
        Status status =
            x_of.H5Sselect_hyperslab(x_space, 0, piece.start, nullptr, piece.count, nullptr);
        if (status >= 0 && there > 0) status = move(memory, false);
        if (status >= 0) {
            put_values(piece, there > 0);
            status = move(memory, true);
        }
        const ErrorsKept kept(x_of);
        x_of.H5Sclose(memory);
        return status;
    }

    void put_values(const Piece& piece, bool some_there) {
        for (uint64_t at = 0; at < piece.elements; ++at) {
            if (some_there && x_written->has(piece.first + at)) continue;
            memcpy(x_buffer + at * x_type_bytes, x_value, x_type_bytes);
        }
    }

    Status move(Id memory, bool to_file) {
        const CallOfItsOwn own(x_of);
        void* buffer = x_buffer;
        const void* from = x_buffer;
        const Id list = x_of.default_transfer;
        return to_file ? x_of.H5VLdataset_write(1, &x_dataset.inner, x_dataset.connector(), &x_type,
                                                &memory, &x_space, list, &from, nullptr)
                       : x_of.H5VLdataset_read(1, &x_dataset.inner, x_dataset.connector(), &x_type,
                                               &memory, &x_space, list, &buffer, nullptr);
    }

    Object& x_dataset;
    const Library& x_of;
    const Array& x_array;
    const WrittenBits* x_written;
    Id x_type = invalid_id;
    Id x_space = invalid_id;
    uint64_t x_type_bytes = 0;
    uint64_t x_most = 1;
    unsigned char* x_value = nullptr;
    unsigned char* x_buffer = nullptr;
};

}  // namespace

bool measure(Object& dataset, Array& array) {
    const Library& of = dataset.library();
    const Quiet quiet(of);
    const Id space = ask_dataset(dataset, dataset.inner, dataset_get_space);
    if (space < 0) return false;
    const int rank = of.H5Sget_simple_extent_ndims(space);
    const bool good = rank > 0 && static_cast<uint32_t>(rank) <= most_dimensions &&
                      of.H5Sget_simple_extent_dims(space, array.dims, nullptr) >= 0;
    of.H5Sclose(space);
    if (!good) return false;
    array.rank = static_cast<uint32_t>(rank);
    array.elements = 1;
    for (uint32_t d = 0; d < array.rank; ++d) array.elements *= array.dims[d];
    return true;
}

bool lies_plain(const Library& of, Id type) {
    const int kind = of.H5Tget_class(type);
    if (kind == class_string) return of.H5Tis_variable_str(type) == 0;
    return kind == class_integer || kind == class_float || kind == class_bitfield ||
           kind == class_opaque || kind == class_enum;
}

Status fill_missing(Object& dataset, const Array& array, const WrittenBits* written) {
    return Filler(dataset, array, written).run();
}

Status fill_exactly(Object& dataset, const Array& array, const WrittenBits& written) {
    return Filler(dataset, array, &written).run_exactly();
}

}  // namespace tailrace::hooks::vol
