// SPDX-License-Identifier: Apache-2.0
// One call of H5Dread or H5Dwrite, which may be about several datasets.
#pragma once

#include "hooks/vol/objects/calls.hpp"

namespace tailrace::hooks::vol {

/// What a call is about: `count` datasets, the types in memory, the places in the file.
struct Asked {
    size_t count;
    void** objects;
    const Id* memory_types;
    const Id* memory_spaces;
    const Id* file_spaces;
};

/// Gives the objects below, and records the call when it has been made.
class Transfers {
public:
    Transfers(const Asked& asked, Id list, spool::Direction direction);
    ~Transfers();
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;

    [[nodiscard]] bool good() const { return x_inner != nullptr; }
    [[nodiscard]] Library& library() const { return object_of(x_asked.objects[0]).library(); }
    [[nodiscard]] Id connector() const { return object_of(x_asked.objects[0]).connector(); }
    [[nodiscard]] void** inner() { return x_inner; }
    void done(Status status, void** request);

private:
    void record(Status status, Took took);
    [[nodiscard]] bool compare_types(const Object& dataset, Id memory_type) const;
    void note_settings(const Object& dataset) const;
    void remember();

    static constexpr size_t usual = 16;
    Asked x_asked;
    Id x_list;
    spool::Direction x_direction;
    void* x_few[usual];
    void** x_inner;
    bool x_collective = false;
    int64_t x_start = 0;
};

}  // namespace tailrace::hooks::vol
