// SPDX-License-Identifier: Apache-2.0
// What the program itself has set on its property lists: what differs from the library's default.
// And how a list is asked for each setting, as numbers; also where a plan is put on a copy.
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

void file_access_settings(const Library& of, Id list, Settings& to);
void file_creation_settings(const Library& of, Id list, Settings& to);
void dataset_access_settings(const Library& of, Id list, Settings& to);
void transfer_settings(const Library& of, Id list, Settings& to);

/// Each fills `v`; negative: this list, or this library, does not tell.
Status ask_alignment(const Library& of, Id list, uint64_t* v);  ///< threshold, alignment
Status ask_sieve_buffer(const Library& of, Id list, uint64_t* v);
Status ask_libver(const Library& of, Id list, uint64_t* v);  ///< low, high
Status ask_page_buffer(const Library& of, Id list, uint64_t* v);
Status ask_space_strategy(const Library& of, Id list, uint64_t* v);
/// First size, largest size, whether entries are evicted.
Status ask_metadata_cache(const Library& of, Id list, uint64_t* v);
Status ask_cache_image(const Library& of, Id list, uint64_t* v);
Status ask_file_locking(const Library& of, Id list, uint64_t* v);
/// The chunk cache of a dataset access list: slots, bytes, and the bits of the preemption.
Status ask_cache(const Library& of, Id list, uint64_t* v);
Status ask_flag(Status (*ask)(Id, bool*), Id list, uint64_t* v);

/// An option of collective transfers. HDF5 has no function that asks for it, only its property.
template <typename Number>
Status ask_option(const Library& of, const char* property, Id list, uint64_t* v) {
    Number found{};
    const Status status = of.H5Pget(list, property, &found);
    v[0] = static_cast<uint64_t>(found);
    return status;
}

inline constexpr const char* option_collective_io = "mpio_collective_opt";
inline constexpr const char* option_chunk_io = "mpio_chunk_opt_hard";
inline constexpr const char* option_chunk_io_chunks = "mpio_chunk_opt_num";
inline constexpr const char* option_chunk_io_percent = "mpio_chunk_opt_ratio";

}  // namespace tailrace::hooks::vol
