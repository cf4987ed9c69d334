// SPDX-License-Identifier: Apache-2.0
// Property lists and hints for the lines of `tailrace advise --as c` and `--as fortran`: made here,
// and read back with the C functions that ask for each setting.
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

enum { fcpl, fapl, dcpl, dapl, write_dxpl, read_dxpl };

typedef unsigned long long Big;

void make_lists(hid_t lists[6]) {
    const hid_t classes[] = {H5P_FILE_CREATE,    H5P_FILE_ACCESS,  H5P_DATASET_CREATE,
                             H5P_DATASET_ACCESS, H5P_DATASET_XFER, H5P_DATASET_XFER};
    for (int at = 0; at < 6; ++at) lists[at] = H5Pcreate(classes[at]);
}

static void read_file_lists(const hid_t* lists) {
    H5F_fspace_strategy_t strategy;
    H5F_libver_t low, high;
    hbool_t flag, other;
    hsize_t size, threshold;
    size_t bytes;
    unsigned shares[2];
    H5Pget_file_space_strategy(lists[fcpl], &strategy, &flag, &threshold);
    H5Pget_file_space_page_size(lists[fcpl], &size);
    printf("space %d %d %llu page %llu\n", strategy, flag, (Big)threshold, (Big)size);
    H5Pget_alignment(lists[fapl], &threshold, &size);
    printf("alignment %llu %llu\n", (Big)threshold, (Big)size);
    H5Pget_meta_block_size(lists[fapl], &size);
    H5Pget_small_data_block_size(lists[fapl], &threshold);
    H5Pget_sieve_buf_size(lists[fapl], &bytes);
    printf("blocks %llu %llu %zu\n", (Big)size, (Big)threshold, bytes);
    H5Pget_coll_metadata_write(lists[fapl], &flag);
    H5Pget_all_coll_metadata_ops(lists[fapl], &other);
    printf("collective metadata %d %d\n", flag, other);
    H5Pget_page_buffer_size(lists[fapl], &bytes, &shares[0], &shares[1]);
    H5Pget_evict_on_close(lists[fapl], &flag);
    printf("page buffer %zu evict %d\n", bytes, flag);
    H5Pget_libver_bounds(lists[fapl], &low, &high);
    printf("versions %d %d\n", low, high);
    H5Pget_file_locking(lists[fapl], &flag, &other);
    printf("locking %d %d\n", flag, other);
}

static void read_caches_of_file(hid_t list) {
    H5AC_cache_config_t cache = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    H5AC_cache_image_config_t image = {.version = H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION};
    H5Pget_mdc_config(list, &cache);
    H5Pget_mdc_image_config(list, &image);
    printf("metadata cache %d %zu %zu %d image %d\n", cache.set_initial_size, cache.initial_size,
           cache.max_size, cache.evictions_enabled, image.generate_image);
}

static void read_driver(hid_t list) {
    size_t bytes = 0, block = 0, buffer = 0;
    hbool_t store = 0;
    if (H5Pget_driver(list) == H5FD_CORE) {
        H5Pget_fapl_core(list, &bytes, &store);
        printf("driver core %zu %d\n", bytes, store);
#ifdef H5_HAVE_DIRECT
    } else if (H5Pget_driver(list) == H5FD_DIRECT) {
        H5Pget_fapl_direct(list, &bytes, &block, &buffer);
        printf("driver direct %zu %zu %zu\n", bytes, block, buffer);
#endif
    } else {
        printf("driver of the library\n");
    }
}

static void read_dataset_lists(const hid_t* lists) {
    hsize_t chunk[32];
    H5D_fill_time_t fill;
    H5D_alloc_time_t time;
    size_t slots, bytes, values;
    unsigned flags, value = 0;
    double preemption;
    const H5D_layout_t layout = H5Pget_layout(lists[dcpl]);
    printf("layout %d", layout);
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(lists[dcpl], 32, chunk) : 0;
    for (int at = 0; at < rank; ++at) printf(" %llu", (Big)chunk[at]);
    H5Pget_fill_time(lists[dcpl], &fill);
    H5Pget_alloc_time(lists[dcpl], &time);
    printf("\nfill %d allocation %d\nfilters", fill, time);
    for (int at = 0; at < H5Pget_nfilters(lists[dcpl]); ++at) {
        values = 1, value = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(lists[dcpl], (unsigned)at, &flags, &values, &value, 0, NULL, NULL);
        printf(" %d:%u", id, id == H5Z_FILTER_DEFLATE ? value : 0);
    }
    H5Pget_chunk_cache(lists[dapl], &slots, &bytes, &preemption);
    printf("\nchunk cache %zu %zu %g\n", slots, bytes, preemption);
}

static void read_transfers(hid_t list, const char* name) {
    H5FD_mpio_xfer_t mode;
    int collective, chunk;
    unsigned chunks, percent;
    H5Pget_dxpl_mpio(list, &mode);
    H5Pget(list, "mpio_collective_opt", &collective);
    H5Pget(list, "mpio_chunk_opt_hard", &chunk);
    H5Pget(list, "mpio_chunk_opt_num", &chunks);
    H5Pget(list, "mpio_chunk_opt_ratio", &percent);
    printf("%s %d %d %d %u %u %zu\n", name, mode, collective, chunk, chunks, percent,
           H5Pget_buffer(list, NULL, NULL));
}

void read_back(const hid_t lists[6]) {
    read_file_lists(lists);
    read_caches_of_file(lists[fapl]);
    read_driver(lists[fapl]);
    read_dataset_lists(lists);
    read_transfers(lists[write_dxpl], "writes");
    read_transfers(lists[read_dxpl], "reads");
    fflush(stdout);
}

/// Hints in force of a file that is opened with an info, which is a Fortran handle.
void read_hints(int handle) {
    int count = 0, there = 0;
    char name[MPI_MAX_INFO_KEY + 1], value[512];
    MPI_File file;
    MPI_Info info;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    if (MPI_File_open(MPI_COMM_WORLD, "hints.tmp", mode, MPI_Info_f2c(handle), &file)) return;
    MPI_File_get_info(file, &info);
    MPI_Info_get_nkeys(info, &count);
    for (int at = 0; at < count; ++at) {
        MPI_Info_get_nthkey(info, at, name);
        MPI_Info_get(info, name, sizeof value - 1, value, &there);
        printf("hint %s=%s\n", name, value);
    }
    fflush(stdout);
    MPI_Info_free(&info);
    MPI_File_close(&file);
}
