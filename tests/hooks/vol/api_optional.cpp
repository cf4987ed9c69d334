// SPDX-License-Identifier: Apache-2.0
// What only HDF5's own connector can do, and every kind of object by its asynchronous calls.
#include <vector>

#include "api.hpp"

namespace api {
namespace {

herr_t count_chunk(const hsize_t* at, unsigned filters, haddr_t, hsize_t bytes, void* to) {
    auto& sum = *static_cast<std::vector<long long>*>(to);
    sum[0] += static_cast<long long>(at[0] * 10 + at[1]);
    sum[1] += filters;
    sum[2] += static_cast<long long>(bytes);
    return 0;
}

void of_file(hid_t file) {
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    line{"H5Fget_mdc_config", H5Fget_mdc_config(file, &config), config.initial_size};
    config.set_initial_size = true;
    config.initial_size = 1 << 21;
    line{"H5Fset_mdc_config", H5Fset_mdc_config(file, &config)};
    size_t most = 0;
    line{"H5Fget_mdc_size", H5Fget_mdc_size(file, &most, nullptr, nullptr, nullptr), most};
    line{"H5Freset_mdc_hit_rate_stats", H5Freset_mdc_hit_rate_stats(file)};
    void* handle = nullptr;
    line{"H5Fget_vfd_handle", H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), handle != nullptr};
    hbool_t no_attributes = true;
    line{"H5Fget_dset_no_attrs_hint", H5Fget_dset_no_attrs_hint(file, &no_attributes),
         no_attributes};
    line{"H5Fset_libver_bounds", H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_LATEST)};
    haddr_t address = 0;
    hsize_t image = 0;
    line{"H5Fget_mdc_image_info", H5Fget_mdc_image_info(file, &address, &image), image};
    unsigned meta[2] = {};
    unsigned raw[2] = {};
    line{"H5Fget_page_buffering_stats",
         H5Fget_page_buffering_stats(file, meta, raw, meta, raw, meta)};
    text("why", last_error());
    line{"H5Fstart_swmr_write", H5Fstart_swmr_write(file)};
    text("why", last_error());
    if (!context.parallel) {
        const ssize_t bytes = H5Fget_file_image(file, nullptr, 0);
        line{"H5Fget_file_image", bytes};
        haddr_t end = 0;
        line{"H5Fget_eoa", H5Fget_eoa(file, &end), end};
        line{"H5Fget_free_sections", H5Fget_free_sections(file, H5FD_MEM_DEFAULT, 0, nullptr)};
        return;
    }
#ifdef H5_HAVE_PARALLEL
    hbool_t atomic = false;
    line{"H5Fset_mpi_atomicity", H5Fset_mpi_atomicity(file, true)};
    line{"H5Fget_mpi_atomicity", H5Fget_mpi_atomicity(file, &atomic), atomic};
    line{"H5Fset_mpi_atomicity", H5Fset_mpi_atomicity(file, false)};
#endif
}

void of_objects(hid_t file) {
    const hid_t chunked = H5Dopen2(file, "chunked", H5P_DEFAULT);
    std::vector<long long> sum(3);
    line{"H5Dchunk_iter", H5Dchunk_iter(chunked, H5P_DEFAULT, count_chunk, &sum), sum[0], sum[1],
         sum[2]};
    H5D_chunk_index_t index{};
    line{"H5Dget_chunk_index_type", H5Dget_chunk_index_type(chunked, &index), index};
    line{"H5Dget_offset of chunks", H5Dget_offset(chunked) == HADDR_UNDEF};
    H5O_native_info_t info{};
    line{"H5Oget_native_info", H5Oget_native_info(chunked, &info, H5O_NATIVE_INFO_ALL),
         info.hdr.version, info.hdr.nmesgs};
    line{"H5Odisable_mdc_flushes", H5Odisable_mdc_flushes(chunked)};
    hbool_t off = false;
    line{"H5Oare_mdc_flushes_disabled", H5Oare_mdc_flushes_disabled(chunked, &off), off};
    line{"H5Oenable_mdc_flushes", H5Oenable_mdc_flushes(chunked)};
    line{"H5Dformat_convert", H5Dformat_convert(chunked)};
    line{"H5Dclose", H5Dclose(chunked)};
    const hid_t plain = H5Dopen2(file, "plain", H5P_DEFAULT);
    line{"H5Dget_offset", H5Dget_offset(plain) != HADDR_UNDEF};
    uint64_t flags = 0;
    line{"H5VLquery_optional",
         H5VLquery_optional(plain, H5VL_SUBCLS_DATASET, H5VL_NATIVE_DATASET_CHUNK_READ, &flags),
         flags};
    line{"H5Dclose", H5Dclose(plain)};
}

void by_events(hid_t events, hid_t file) {
    const hid_t list = group_list();
    const hid_t three = space({3});
    const int values[3] = {7, 8, 9};
    int got[3] = {};
    const hid_t group =
        id("H5Gcreate_async", H5Gcreate_async(file, "g", H5P_DEFAULT, list, H5P_DEFAULT, events));
    const hid_t attribute =
        id("H5Acreate_async",
           H5Acreate_async(group, "a", H5T_STD_I32LE, three, H5P_DEFAULT, H5P_DEFAULT, events));
    line{"H5Awrite_async", H5Awrite_async(attribute, H5T_NATIVE_INT, values, events)};
    line{"H5Aread_async", H5Aread_async(attribute, H5T_NATIVE_INT, got, events),
         hash(got, sizeof got)};
    line{"H5Aclose_async", H5Aclose_async(attribute, events)};
    hbool_t there = false;
    line{"H5Aexists_async", H5Aexists_async(group, "a", &there, events), there};
    line{"H5Arename_async", H5Arename_async(group, "a", "b", events)};
    H5G_info_t info{};
    line{"H5Gget_info_async", H5Gget_info_async(group, &info, events), info.nlinks};
    line{"H5Lcreate_soft_async",
         H5Lcreate_soft_async("/g", file, "soft", H5P_DEFAULT, H5P_DEFAULT, events)};
    line{"H5Lcreate_hard_async",
         H5Lcreate_hard_async(file, "g", file, "hard", H5P_DEFAULT, H5P_DEFAULT, events)};
    line{"H5Lexists_async", H5Lexists_async(file, "soft", &there, H5P_DEFAULT, events), there};
    line{"H5Ldelete_async", H5Ldelete_async(file, "soft", H5P_DEFAULT, events)};
    const hid_t object = id("H5Oopen_async", H5Oopen_async(file, "hard", H5P_DEFAULT, events));
    line{"H5Oflush_async", H5Oflush_async(object, events)};
    line{"H5Oclose_async", H5Oclose_async(object, events)};
    line{"H5Ocopy_async", H5Ocopy_async(file, "g", file, "copy", H5P_DEFAULT, H5P_DEFAULT, events)};
    const hid_t type = H5Tcopy(H5T_STD_I16BE);
    const hid_t untimed = H5Pcreate(H5P_DATATYPE_CREATE);
    H5Pset_obj_track_times(untimed, false);
    line{"H5Tcommit_async",
         H5Tcommit_async(file, "t", type, H5P_DEFAULT, untimed, H5P_DEFAULT, events)};
    line{"H5Tclose_async", H5Tclose_async(type, events)};
    line{"H5Gclose_async", H5Gclose_async(group, events)};
    line{"H5Fflush_async", H5Fflush_async(file, H5F_SCOPE_LOCAL, events)};
    id("H5Dopen_async of nothing", H5Dopen_async(file, "nowhere", H5P_DEFAULT, events));
    hbool_t failed = true;
    size_t running = 0;
    line{"H5ESget_err_status", H5ESget_err_status(events, &failed), failed};
    line{"H5ESwait", H5ESwait(events, H5ES_WAIT_FOREVER, &running, &failed), running, failed};
    H5Pclose(untimed);
    H5Pclose(list);
    H5Sclose(three);
}

}  // namespace

void optional() {
    const hid_t file = H5Fopen("datasets.h5", H5F_ACC_RDWR, context.access);
    of_objects(file);
    of_file(file);
    line{"H5Fclose", H5Fclose(file)};
    const hid_t events = H5EScreate();
    const hid_t other = H5Fcreate("events.h5", H5F_ACC_TRUNC, context.creation, context.access);
    by_events(events, other);
    line{"H5ESclose", H5ESclose(events)};
    line{"H5Fclose", H5Fclose(other)};
}

}  // namespace api
