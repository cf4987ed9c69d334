// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/observe/delivered.hpp"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned deepest = 32;
constexpr size_t buffer_bytes = size_t{1} << 20;

/// How the elements of a type are looked at.
enum class Looks { as_bytes, as_text, not_at_all };

/// Whether elements hold addresses: of text, lists, or what a reference stands for.
bool points_elsewhere(const Library& of, Id type, unsigned depth) {
    const int kind = of.H5Tget_class(type);
    if (kind == class_vlen || kind == class_reference || depth > deepest) return true;
    if (kind == class_string) return of.H5Tis_variable_str(type) != 0;
    if (kind == class_array) {
        const Id of_what = of.H5Tget_super(type);
        const bool found = of_what < 0 || points_elsewhere(of, of_what, depth + 1);
        if (of_what >= 0) of.H5Tclose(of_what);
        return found;
    }
    if (kind != class_compound) return kind < 0;
    const int members = of.H5Tget_nmembers(type);
    bool found = members < 0;
    for (int number = 0; number < members && !found; ++number) {
        const Id member = of.H5Tget_member_type(type, static_cast<unsigned>(number));
        found = member < 0 || points_elsewhere(of, member, depth + 1);
        if (member >= 0) of.H5Tclose(member);
    }
    return found;
}

Looks looks_of(const Library& of, Id type) {
    if (of.H5Tget_class(type) == class_string && of.H5Tis_variable_str(type) > 0)
        return Looks::as_text;
    return points_elsewhere(of, type, 0) ? Looks::not_at_all : Looks::as_bytes;
}

/// The hash of elements that come in pieces.
struct Hash {
    Looks looks;
    uint64_t value;
    uint64_t bytes;

    void take(const void* data, size_t size) {
        bytes += size;
        if (looks == Looks::as_bytes) {
            value = XXH3_64bits_withSeed(data, size, value);
            return;
        }
        for (size_t at = 0; at + sizeof(char*) <= size; at += sizeof(char*)) {
            const char* text = nullptr;
            memcpy(&text, static_cast<const char*>(data) + at, sizeof text);
            value = XXH3_64bits_withSeed(text, text != nullptr ? strlen(text) : 0, value);
        }
    }
    static Status taker(const void* data, size_t size, void* self) {
        static_cast<Hash*>(self)->take(data, size);
        return 0;
    }
};

/// Where in the file it came from: two reads must not be able to change places.
uint64_t place_of(const Library& of, Id file_space) {
    if (file_space == space_all) return 0;
    uint64_t numbers[2 * most_dimensions] = {};
    uint64_t place = static_cast<uint64_t>(of.H5Sget_select_npoints(file_space));
    const int rank = of.H5Sget_simple_extent_ndims(file_space);
    if (rank > 0 && static_cast<uint32_t>(rank) <= most_dimensions &&
        of.H5Sget_select_bounds(file_space, numbers, numbers + most_dimensions) >= 0)
        place = XXH3_64bits_withSeed(numbers, sizeof numbers, place);
    return place;
}

/// The elements that a selection takes of memory, in its order.
bool take_selected(const Library& of, Id space, const void* memory, Id type, Hash& hash) {
    const int64_t elements = of.H5Sget_select_npoints(space);
    const size_t size = of.H5Tget_size(type);
    if (elements < 0 || size == 0) return false;
    if (elements == 0) return true;
    if (of.H5Sget_select_type(space) == select_all) {
        hash.take(memory, static_cast<size_t>(elements) * size);
        return true;
    }
    const size_t bytes = size > buffer_bytes ? size : buffer_bytes;
    void* buffer = malloc(bytes);
    if (buffer == nullptr) return false;
    const bool good = of.H5Dgather(space, memory, type, bytes, buffer, &Hash::taker, &hash) >= 0;
    free(buffer);
    return good;
}

bool take(const Library& of, Object& dataset, const Read& read, size_t at, Hash& hash) {
    const Id memory = read.memory_spaces[at];
    const Id file = read.file_spaces[at];
    if (memory == space_in_list || file == space_in_list) return false;
    const Id type = read.memory_types[at];
    if (memory != space_all && memory != space_block)
        return take_selected(of, memory, read.buffers[at], type, hash);
    if (file != space_all && memory == space_all)  // then the selection is that of the file
        return take_selected(of, file, read.buffers[at], type, hash);
    int64_t elements = 0;
    if (file != space_all) {
        elements = of.H5Sget_select_npoints(file);
    } else {
        const Id whole = ask_dataset(dataset, dataset.inner, dataset_get_space);
        elements = whole >= 0 ? of.H5Sget_select_npoints(whole) : -1;
        if (whole >= 0) of.H5Sclose(whole);
    }
    if (elements < 0) return false;
    hash.take(read.buffers[at], static_cast<size_t>(elements) * of.H5Tget_size(type));
    return true;
}

}  // namespace

void hash_delivered(const Read& read, bool running) {
    if (!recorder::hashing()) return;
    for (size_t at = 0; at < read.count; ++at) {
        Object& dataset = object_of(read.objects[at]);
        const Library& of = dataset.library();
        const Quiet quiet(of);
        Hash hash{looks_of(of, read.memory_types[at]), place_of(of, read.file_spaces[at]), 0};
        const bool hashed =
            !running && hash.looks != Looks::not_at_all && take(of, dataset, read, at, hash);
        // Where ranks read alone, none may look through links that all have to read.
        char* path = dataset.unnamed ? nullptr : name_in_library(dataset);
        char file[4096];
        if (!file_of_object(dataset, file, sizeof file)) file[0] = '\0';
        recorder::delivered(
            {file, path != nullptr ? path : "", hash.bytes, hashed ? hash.value : 0, hashed});
        free(path);
    }
}

}  // namespace tailrace::hooks::vol
