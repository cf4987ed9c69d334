// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/objects/describe.hpp"

#include <dlfcn.h>
#include <string.h>

#include "hooks/vol/objects/own_settings.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr struct {
    uint32_t driver;
    const char* variable;  // HDF5 2
    const char* function;  // HDF5 1.14
} drivers[] = {
    {spool::driver_sec2, "H5FD_SEC2_id_g", "H5FD_sec2_init"},
    {spool::driver_mpio, "H5FD_MPIO_id_g", "H5FD_mpio_init"},
    {spool::driver_core, "H5FD_CORE_id_g", "H5FD_core_init"},
    {spool::driver_stdio, "H5FD_STDIO_id_g", "H5FD_stdio_init"},
    {spool::driver_family, "H5FD_FAMILY_id_g", "H5FD_family_init"},
    {spool::driver_multi, "H5FD_MULTI_id_g", "H5FD_multi_init"},
    {spool::driver_log, "H5FD_LOG_id_g", "H5FD_log_init"},
    {spool::driver_split, "H5FD_SPLITTER_id_g", nullptr},
    {spool::driver_direct, "H5FD_DIRECT_id_g", nullptr},
    {spool::driver_subfiling, "H5FD_SUBFILING_id_g", nullptr},
};

uint32_t driver_of(const Library& library, Id access) {
    const Id asked = library.H5Pget_driver(access);
    if (asked < 0) return spool::driver_not_known;
    for (const auto& driver : drivers) {
        const auto* value = static_cast<const Id*>(variable_of(library, driver.variable));
        Id id = value != nullptr ? *value : invalid_id;
        if (value == nullptr && driver.function != nullptr) {
            const auto function =
                reinterpret_cast<Id (*)()>(dlsym(library.handle, driver.function));
            if (function != nullptr) id = function();
        }
        if (id == asked) return driver.driver;
    }
    return spool::driver_other;
}

void describe_type(const Library& of, Id type, DatasetFacts& facts) {
    if (type < 0) return;
    facts.type_class = of.H5Tget_class(type);
    facts.type_bytes = of.H5Tget_size(type);
    const bool number = facts.type_class == class_integer || facts.type_class == class_float;
    if (number) facts.type_order = of.H5Tget_order(type);
    if (facts.type_class == class_integer) facts.type_signed = of.H5Tget_sign(type);
    facts.has_members = of.H5Tdetect_class(type, class_compound) > 0;
    facts.variable = facts.type_class == class_vlen ||
                     (facts.type_class == class_string && of.H5Tis_variable_str(type) > 0);
}

void describe_filters(const Library& of, Id creation, DatasetFacts& facts) {
    const int filters = of.H5Pget_nfilters(creation);
    for (int number = 0; number < filters && facts.filters < most_filters; ++number) {
        Filter& filter = facts.filter[facts.filters++];
        unsigned flags = 0;
        unsigned config = 0;
        unsigned values[most_filter_values] = {};
        size_t count = most_filter_values;
        filter = {};
        const int id = of.H5Pget_filter2(creation, static_cast<unsigned>(number), &flags, &count,
                                         values, sizeof filter.name, filter.name, &config);
        filter.id = static_cast<uint32_t>(id);
        filter.name[sizeof filter.name - 1] = '\0';
        filter.count =
            static_cast<uint32_t>(count < most_filter_values ? count : most_filter_values);
        for (uint32_t at = 0; at < filter.count; ++at) filter.values[at] = values[at];
    }
}

void describe_creation(const Library& of, Id creation, DatasetFacts& facts) {
    if (creation < 0) return;
    facts.layout = of.H5Pget_layout(creation);
    if (facts.layout == layout_chunked) {
        const int rank = of.H5Pget_chunk(creation, static_cast<int>(most_dimensions), facts.chunk);
        facts.chunk_rank = rank > 0 && static_cast<uint32_t>(rank) == facts.rank ? facts.rank : 0;
    }
    of.H5Pfill_value_defined(creation, &facts.fill_defined);
    of.H5Pget_fill_time(creation, &facts.fill_time);
    of.H5Pget_alloc_time(creation, &facts.allocation);
    describe_filters(of, creation, facts);
}

/// Blocks that touch are one; what covers the whole extent is "all".
void normalise(ElementSet& place, const uint64_t* dims) {
    bool whole = true;
    for (uint32_t d = 0; d < place.rank; ++d) {
        if (place.count[d] > 1 && place.stride[d] == place.block[d]) {
            place.block[d] *= place.count[d];
            place.count[d] = 1;
        }
        if (place.count[d] == 1) place.stride[d] = 1;
        whole = whole && place.count[d] == 1 && place.start[d] == 0 && place.block[d] == dims[d];
    }
    if (whole) place.selection = spool::select_all;
}

void set_whole(ElementSet& place, const uint64_t* dims, uint32_t rank) {
    place.selection = spool::select_all;
    place.known = true;
    place.rank = rank;
    for (uint32_t d = 0; d < rank; ++d) {
        place.start[d] = 0;
        place.stride[d] = place.count[d] = 1;
        place.block[d] = dims[d];
    }
}

/// The box round a selection that is no regular hyperslab.
void set_bounds(const Library& of, Id space, ElementSet& place, uint32_t rank) {
    uint64_t last[most_dimensions];
    place.known = false;
    place.rank = 0;
    if (of.H5Sget_select_bounds(space, place.start, last) < 0) return;
    place.rank = rank;
    for (uint32_t d = 0; d < rank; ++d) {
        place.stride[d] = place.count[d] = 1;
        place.block[d] = last[d] - place.start[d] + 1;
    }
}

/// Everything in a space, whose extent may be another one than the dataset's.
void set_all_of(const Library& of, Id space, const uint64_t* dims, uint32_t rank,
                ElementSet& place) {
    uint64_t extent[most_dimensions];
    const int found = of.H5Sget_simple_extent_ndims(space);
    if (found < 0 || static_cast<uint32_t>(found) != rank || rank > most_dimensions) {
        place.selection = spool::select_irregular;
        place.known = false;
        place.rank = 0;
        return;
    }
    if (rank > 0) of.H5Sget_simple_extent_dims(space, extent, nullptr);
    set_whole(place, extent, rank);
    if (memcmp(extent, dims, rank * sizeof *dims) == 0) return;
    place.selection = rank == 1 ? spool::select_hyperslab : spool::select_irregular;
    place.known = rank == 1;
}

/// The places stand in the transfer list: how many they are tells the space in memory alone.
uint64_t place_in_list(const Library& of, Id memory_space, ElementSet& place) {
    place.selection = spool::select_irregular;
    place.known = false;
    place.rank = 0;
    const bool told = memory_space > space_in_list;
    const int64_t elements = told ? of.H5Sget_select_npoints(memory_space) : 0;
    return elements > 0 ? static_cast<uint64_t>(elements) : 0;
}

uint64_t product(const uint64_t* values, uint32_t count) {
    uint64_t all_of_them = 1;
    for (uint32_t at = 0; at < count; ++at) all_of_them *= values[at];
    return all_of_them;
}

}  // namespace

void describe_file(const Library& library, Id access, Id creation, FileFacts& facts) {
    facts.driver = driver_of(library, access);
    file_access_settings(library, access, facts.settings);
    file_creation_settings(library, creation, facts.settings);
}

void describe_dataset(const Library& library, Id type, Id space, Id creation, Id access,
                      DatasetFacts& facts) {
    describe_type(library, type, facts);
    if (space >= 0) {
        const int rank = library.H5Sget_simple_extent_ndims(space);
        if (rank > 0 && static_cast<uint32_t>(rank) <= most_dimensions) {
            facts.rank = static_cast<uint32_t>(rank);
            library.H5Sget_simple_extent_dims(space, facts.dims, facts.largest);
        }
        const bool none = library.H5Sget_simple_extent_type(space) == extent_null;
        facts.elements = none ? 0 : product(facts.dims, facts.rank);
    }
    describe_creation(library, creation, facts);
    dataset_access_settings(library, access, facts.settings);
}

bool regular_place(const Library& of, Id space, uint32_t rank, ElementSet& place) {
    uint64_t last[most_dimensions];
    if (of.H5Sis_regular_hyperslab(space) <= 0) return false;
    place.rank = rank;
    if (of.H5Sget_regular_hyperslab(space, place.start, place.stride, place.count, place.block) < 0)
        return false;
    // Only the bounds know of an offset (H5Soffset_simple).
    if (of.H5Sget_select_bounds(space, place.start, last) < 0) return false;
    for (uint32_t d = 0; d < rank; ++d) {
        const uint64_t length = (place.count[d] - 1) * place.stride[d] + place.block[d];
        if (last[d] - place.start[d] + 1 != length) return false;
    }
    return true;
}

uint64_t describe_place(const Library& library, const DatasetEntry* dataset, Id memory_space,
                        Id file_space, ElementSet& place) {
    uint64_t dims[most_dimensions];
    const uint32_t rank = recorder::extent(dataset, dims);
    place = ElementSet{};
    if (file_space == space_in_list) return place_in_list(library, memory_space, place);
    if (file_space == space_all || file_space == space_block) {
        set_whole(place, dims, rank);
        const uint64_t elements = recorder::elements(dataset);
        place.empty = elements == 0;
        return elements;
    }
    const int64_t elements = library.H5Sget_select_npoints(file_space);
    if (elements <= 0) {
        place.empty = true;
        return 0;
    }
    switch (library.H5Sget_select_type(file_space)) {
        case select_none:
            place.empty = true;
            return 0;
        case select_all:
            set_all_of(library, file_space, dims, rank, place);
            break;
        case select_points:
            place.selection = spool::select_points;
            set_bounds(library, file_space, place, rank);
            break;
        case select_hyperslabs:
            if (regular_place(library, file_space, rank, place)) {
                place.selection = spool::select_hyperslab;
                place.known = true;
                normalise(place, dims);
            } else {
                place.selection = spool::select_irregular;
                set_bounds(library, file_space, place, rank);
            }
            break;
        default:
            place.rank = 0;
    }
    return static_cast<uint64_t>(elements);
}

bool uses_mpi(const Library& library, Id access) {
    return library.H5Pget_fapl_mpio != nullptr && driver_of(library, access) == spool::driver_mpio;
}

bool is_of_one_process(const Library& library, Id access) {
    constexpr unsigned long has_mpi = 0x100;  // H5FD_FEAT_HAS_MPI
    switch (driver_of(library, access)) {
        case spool::driver_sec2:
        case spool::driver_core:
        case spool::driver_stdio:
        case spool::driver_family:
        case spool::driver_multi:
        case spool::driver_log:
        case spool::driver_direct:
            return true;
        case spool::driver_mpio:
        case spool::driver_subfiling:
            return false;
        default:
            break;
    }
    unsigned long features = 0;
    return library.H5FDdriver_query != nullptr &&
           library.H5FDdriver_query(library.H5Pget_driver(access), &features) >= 0 &&
           (features & has_mpi) == 0;
}

bool makes_plain_file(const Library& library, Id access) {
    const uint32_t driver = driver_of(library, access);
    return driver == spool::driver_sec2 || driver == spool::driver_stdio ||
           driver == spool::driver_log;
}

bool reads_metadata_together(const Library& library, Id access) {
    uint64_t together = 0;
    return library.H5Pget_all_coll_metadata_ops != nullptr && !is_of_one_process(library, access) &&
           ask_flag(library.H5Pget_all_coll_metadata_ops, access, &together) >= 0 && together != 0;
}

bool has_a_file_per_kind(const Library& library, Id access) {
    return driver_of(library, access) == spool::driver_multi;
}

bool has_members(const Library& library, Id access) {
    return driver_of(library, access) == spool::driver_family;
}

bool collective(const Library& library, Id transfer) {
    if (transfer == library.default_transfer || library.H5Pget_dxpl_mpio == nullptr) return false;
    int mode = 0;
    return library.H5Pget_dxpl_mpio(transfer, &mode) >= 0 && mode == transfer_collective;
}

}  // namespace tailrace::hooks::vol
