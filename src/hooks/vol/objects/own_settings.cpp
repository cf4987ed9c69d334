// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/objects/own_settings.hpp"

#include <string.h>

namespace tailrace::hooks::vol {
namespace {

uint64_t bits_of(double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// Notes what a list has otherwise than the library's default list of its kind.
struct Noting {
    const Library& of;
    Id list;
    Id standard;
    Settings& to;

    [[nodiscard]] bool wanted() const { return list >= 0 && standard >= 0 && list != standard; }

    template <unsigned count, typename Ask>
    void note(uint32_t key, Ask ask, uint64_t real = 0) const {
        if (to.count == most_settings) return;
        uint64_t found[count] = {};
        uint64_t usual[count] = {};
        if (ask(of, list, found) < 0 || ask(of, standard, usual) < 0) return;
        if (memcmp(found, usual, sizeof found) == 0) return;
        Setting& setting = to.all[to.count++];
        setting = {key, count, real, {}};
        memcpy(setting.values, found, sizeof found);
    }

    void flag(uint32_t key, Status (*function)(Id, bool*)) const {
        if (function == nullptr) return;
        note<1>(key, [function](const Library&, Id id, uint64_t* v) {
            return ask_flag(function, id, v);
        });
    }

    /// @param set  nullptr: the library has no such option
    template <typename Number>
    void option(uint32_t key, const char* property, Status (*set)(Id, Number)) const {
        if (set == nullptr) return;
        note<1>(key, [property](const Library& library, Id id, uint64_t* v) {
            return ask_option<Number>(library, property, id, v);
        });
    }
};

Status ask_file_chunk_cache(const Library& of, Id list, uint64_t* v) {
    int elements = 0;
    size_t slots = 0;
    size_t bytes = 0;
    double preemption = 0;
    const Status status = of.H5Pget_cache(list, &elements, &slots, &bytes, &preemption);
    v[0] = slots;
    v[1] = bytes;
    v[2] = bits_of(preemption);
    return status;
}

constexpr uint64_t third_is_real = 4;

}  // namespace

Status ask_flag(Status (*ask)(Id, bool*), Id list, uint64_t* v) {
    bool found = false;
    const Status status = ask(list, &found);
    v[0] = found ? 1 : 0;
    return status;
}

Status ask_alignment(const Library& of, Id list, uint64_t* v) {
    return of.H5Pget_alignment(list, &v[0], &v[1]);
}

Status ask_sieve_buffer(const Library& of, Id list, uint64_t* v) {
    size_t bytes = 0;
    const Status status = of.H5Pget_sieve_buf_size(list, &bytes);
    v[0] = bytes;
    return status;
}

Status ask_libver(const Library& of, Id list, uint64_t* v) {
    int bounds[2] = {};
    const Status status = of.H5Pget_libver_bounds(list, &bounds[0], &bounds[1]);
    v[0] = static_cast<uint64_t>(bounds[0]);
    v[1] = static_cast<uint64_t>(bounds[1]);
    return status;
}

Status ask_page_buffer(const Library& of, Id list, uint64_t* v) {
    size_t bytes = 0;
    unsigned shares[2] = {};
    const Status status = of.H5Pget_page_buffer_size(list, &bytes, &shares[0], &shares[1]);
    v[0] = bytes;
    return status;
}

Status ask_space_strategy(const Library& of, Id list, uint64_t* v) {
    int strategy = 0;
    bool persist = false;
    Size threshold = 0;
    const Status status = of.H5Pget_file_space_strategy(list, &strategy, &persist, &threshold);
    v[0] = static_cast<uint64_t>(strategy);
    return status;
}

Status ask_metadata_cache(const Library& of, Id list, uint64_t* v) {
    MetadataCache cache{};
    cache.version = metadata_cache_version;
    const Status status = of.H5Pget_mdc_config(list, &cache);
    v[0] = cache.initial_bytes;
    v[1] = cache.most_bytes;
    v[2] = cache.evictions ? 1 : 0;
    return status;
}

Status ask_cache_image(const Library& of, Id list, uint64_t* v) {
    CacheImage image{cache_image_version, false, false, 0};
    const Status status = of.H5Pget_mdc_image_config(list, &image);
    v[0] = image.wanted ? 1 : 0;
    return status;
}

Status ask_file_locking(const Library& of, Id list, uint64_t* v) {
    bool lock = false;
    bool ignore = false;
    const Status status = of.H5Pget_file_locking(list, &lock, &ignore);
    v[0] = lock ? 1 : 0;
    return status;
}

Status ask_cache(const Library& of, Id list, uint64_t* v) {
    size_t slots = 0;
    size_t bytes = 0;
    double preemption = 0;
    const Status status = of.H5Pget_chunk_cache(list, &slots, &bytes, &preemption);
    v[0] = slots;
    v[1] = bytes;
    v[2] = bits_of(preemption);
    return status;
}

void file_access_settings(const Library& of, Id list, Settings& to) {
    const Noting on{of, list, of.default_file_access, to};
    if (!on.wanted()) return;
    on.note<2>(spool::key_alignment, ask_alignment);
    on.note<1>(spool::key_meta_block_bytes, [](const Library& library, Id id, uint64_t* v) {
        return library.H5Pget_meta_block_size(id, v);
    });
    on.note<1>(spool::key_small_data_block_bytes, [](const Library& library, Id id, uint64_t* v) {
        return library.H5Pget_small_data_block_size(id, v);
    });
    on.note<1>(spool::key_sieve_bytes, ask_sieve_buffer);
    on.note<3>(spool::key_chunk_cache, ask_file_chunk_cache, third_is_real);
    on.note<2>(spool::key_libver, ask_libver);
    on.note<1>(spool::key_page_buffer, ask_page_buffer);
    on.note<3>(spool::key_metadata_cache, ask_metadata_cache);
    on.note<1>(spool::key_metadata_cache_image, ask_cache_image);
    on.note<1>(spool::key_file_locking, ask_file_locking);
    on.flag(spool::key_evict_on_close, of.H5Pget_evict_on_close);
    on.flag(spool::key_collective_metadata_reads, of.H5Pget_all_coll_metadata_ops);
    on.flag(spool::key_collective_metadata_writes, of.H5Pget_coll_metadata_write);
}

void file_creation_settings(const Library& of, Id list, Settings& to) {
    const Noting on{of, list, of.default_file_creation, to};
    if (!on.wanted()) return;
    on.note<1>(spool::key_space_strategy, ask_space_strategy);
    on.note<1>(spool::key_page_bytes, [](const Library& library, Id id, uint64_t* v) {
        return library.H5Pget_file_space_page_size(id, v);
    });
    on.note<1>(spool::key_userblock_bytes, [](const Library& library, Id id, uint64_t* v) {
        return library.H5Pget_userblock(id, v);
    });
}

void dataset_access_settings(const Library& of, Id list, Settings& to) {
    const Noting on{of, list, of.default_dataset_access, to};
    if (on.wanted()) on.note<3>(spool::key_chunk_cache, ask_cache, third_is_real);
}

void transfer_settings(const Library& of, Id list, Settings& to) {
    const Noting on{of, list, of.default_transfer, to};
    if (!on.wanted()) return;
    on.note<1>(spool::key_conversion_buffer, [](const Library& library, Id id, uint64_t* v) {
        v[0] = library.H5Pget_buffer(id, nullptr, nullptr);
        return 0;
    });
    on.option(spool::key_collective_io, option_collective_io, of.H5Pset_dxpl_mpio_collective_opt);
    on.option(spool::key_chunk_io, option_chunk_io, of.H5Pset_dxpl_mpio_chunk_opt);
    on.option(spool::key_chunk_io_chunks, option_chunk_io_chunks,
              of.H5Pset_dxpl_mpio_chunk_opt_num);
    on.option(spool::key_chunk_io_percent, option_chunk_io_percent,
              of.H5Pset_dxpl_mpio_chunk_opt_ratio);
}

}  // namespace tailrace::hooks::vol
