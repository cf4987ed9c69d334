// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "api.hpp"

namespace api {
namespace {

std::vector<int> counted(std::size_t count, int from = 0) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

void check(const char* name, hid_t dataset, std::size_t count) {
    std::vector<int> values(count, -7);
    line{name, H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, values.data()),
         hash(values.data(), count * sizeof(int))};
}

hid_t chunked(hsize_t chunk, bool compressed) {
    const hid_t list = dataset_list();
    const hsize_t chunks[2] = {chunk, chunk};
    H5Pset_chunk(list, 2, chunks);
    if (compressed) {
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 3);
    }
    const int fill = 42;
    H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
    return list;
}

void describe(hid_t dataset) {
    H5D_space_status_t status{};
    line{"space status", H5Dget_space_status(dataset, &status), status};
    line{"storage", H5Dget_storage_size(dataset)};
    const hid_t space = id("H5Dget_space", H5Dget_space(dataset));
    const hid_t type = id("H5Dget_type", H5Dget_type(dataset));
    const hid_t creation = id("H5Dget_create_plist", H5Dget_create_plist(dataset));
    const hid_t access = id("H5Dget_access_plist", H5Dget_access_plist(dataset));
    line{"elements, bytes, layout", H5Sget_simple_extent_npoints(space), H5Tget_size(type),
         H5Pget_layout(creation)};
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(creation);
    H5Pclose(access);
}

/// Chunks as they lie in the file: in parallel each rank has its own.
void direct_chunks(hid_t dataset) {
    const hsize_t corner[2] = {context.parallel ? context.rank / 2 * 4U : 4,
                               context.parallel ? context.rank % 2 * 4U : 4};
    const auto chunk = counted(16, 9000 + context.rank);
    line{"H5Dwrite_chunk", H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, corner, 64, chunk.data())};
    std::vector<int> raw(16);
    uint32_t mask = 0;
#if H5_VERSION_GE(2, 0, 0)
    size_t room = raw.size() * sizeof(int);
    const herr_t status = H5Dread_chunk2(dataset, H5P_DEFAULT, corner, &mask, raw.data(), &room);
#else
    const herr_t status = H5Dread_chunk(dataset, H5P_DEFAULT, corner, &mask, raw.data());
#endif
    line{"H5Dread_chunk", status, hash(raw.data(), 64)};
    hsize_t bytes = 0;
    line{"H5Dget_chunk_storage_size", H5Dget_chunk_storage_size(dataset, corner, &bytes), bytes};
    hsize_t chunks = 0;
    line{"H5Dget_num_chunks", H5Dget_num_chunks(dataset, H5S_ALL, &chunks), chunks};
    hsize_t where[2] = {};
    unsigned filters = 0;
    haddr_t address = 0;
    line{"H5Dget_chunk_info",
         H5Dget_chunk_info(dataset, H5S_ALL, 0, where, &filters, &address, &bytes), where[0],
         bytes};
    line{"H5Dget_chunk_info_by_coord",
         H5Dget_chunk_info_by_coord(dataset, corner, &filters, &address, &bytes), filters, bytes};
    if (context.parallel) MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

void datasets() {
    const hid_t file = H5Fcreate("datasets.h5", H5F_ACC_TRUNC, context.creation, context.access);
    const hid_t flat = space({8, 8});
    const hid_t grows = space({4, 4}, {H5S_UNLIMITED, 16});
    const auto values = counted(64);
    const hid_t plain = dataset_list();
    const hid_t compact = dataset_list();
    H5Pset_layout(compact, H5D_COMPACT);
    const hid_t lists[] = {plain, compact, chunked(4, false), chunked(4, true)};
    const char* names[] = {"plain", "compact", "chunked", "compressed"};
    hid_t made[4];
    for (int n = 0; n < 4; ++n) {
        made[n] = id(names[n], H5Dcreate2(file, names[n], H5T_STD_I32LE, flat, H5P_DEFAULT,
                                          lists[n], H5P_DEFAULT));
        line{"H5Dwrite",
             H5Dwrite(made[n], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, values.data())};
        check("H5Dread", made[n], 64);
        describe(made[n]);
    }
    // Several datasets in one call.
    hid_t types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT};
    hid_t all[2] = {H5S_ALL, H5S_ALL};
    const auto other = counted(64, 1000);
    const void* from[2] = {other.data(), values.data()};
    hid_t two[2] = {made[0], made[2]};
    line{"H5Dwrite_multi", H5Dwrite_multi(2, two, types, all, all, context.transfer, from)};
    std::vector<int> left(64), right(64);
    void* to[2] = {left.data(), right.data()};
    line{"H5Dread_multi", H5Dread_multi(2, two, types, all, all, context.transfer, to),
         hash(left.data(), 256), hash(right.data(), 256)};
    check("after multi", made[0], 64);

    const hid_t grown = id("extendible", H5Dcreate2(file, "grows", H5T_STD_I32LE, grows,
                                                    H5P_DEFAULT, lists[2], H5P_DEFAULT));
    for (hsize_t step = 2; step <= 3; ++step) {
        const hsize_t size[2] = {4 * step, 8};
        line{"H5Dset_extent", H5Dset_extent(grown, size)};
    }
    check("filled", grown, 96);
    line{"H5Dflush", H5Dflush(grown)};
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t null = H5Screate(H5S_NULL);
    const hid_t one = id("scalar", H5Dcreate2(file, "scalar", H5T_STD_I32LE, scalar, H5P_DEFAULT,
                                              plain, H5P_DEFAULT));
    line{"H5Dwrite", H5Dwrite(one, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, &values[7])};
    check("H5Dread", one, 1);
    const hid_t nothing =
        id("null", H5Dcreate2(file, "null", H5T_STD_I32LE, null, H5P_DEFAULT, plain, H5P_DEFAULT));
    const hid_t anonymous =
        id("anonymous", H5Dcreate_anon(file, H5T_STD_I32LE, flat, plain, H5P_DEFAULT));
    line{"H5Olink", H5Olink(anonymous, file, "was anonymous", H5P_DEFAULT, H5P_DEFAULT)};
    line{"H5Dclose", H5Dclose(one), H5Dclose(nothing), H5Dclose(anonymous), H5Dclose(grown)};
    for (const hid_t dataset : made) line{"H5Dclose", H5Dclose(dataset)};
    for (const hid_t list : lists) H5Pclose(list);
    for (const hid_t of : {flat, grows, scalar, null}) H5Sclose(of);
    line{"H5Fclose", H5Fclose(file)};
}

void selections() {
    const hid_t file = H5Fopen("datasets.h5", H5F_ACC_RDWR, context.access);
    const hid_t dataset = id("H5Dopen", H5Dopen2(file, "plain", H5P_DEFAULT));
    const hid_t in_file = H5Dget_space(dataset);
    const hid_t memory = space({16});
    const auto values = counted(16, 5000);
    const hsize_t start[2] = {1, 1};
    const hsize_t stride[2] = {2, 2};
    const hsize_t count[2] = {2, 2};
    const hsize_t block[2] = {2, 2};
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, stride, count, block);
    line{"hyperslab",
         H5Dwrite(dataset, H5T_NATIVE_INT, memory, in_file, context.transfer, values.data())};
    const hsize_t away[2] = {6, 6};
    const hsize_t far[2] = {2, 4};
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, far, count, nullptr);
    H5Sselect_hyperslab(in_file, H5S_SELECT_OR, away, nullptr, count, nullptr);
    const hid_t eight = space({8});
    line{"irregular",
         H5Dwrite(dataset, H5T_NATIVE_INT, eight, in_file, context.transfer, values.data())};
    const hsize_t points[8] = {0, 0, 7, 7, 3, 4, 2, 6};
    H5Sselect_elements(in_file, H5S_SELECT_SET, 4, points);
    const hid_t four = space({4});
    std::vector<int> got(4);
    line{"points", H5Dread(dataset, H5T_NATIVE_INT, four, in_file, context.transfer, got.data()),
         hash(got.data(), 16)};
    H5Sselect_none(in_file);
    H5Sselect_none(four);
    line{"nothing",
         H5Dwrite(dataset, H5T_NATIVE_INT, four, in_file, context.transfer, values.data())};
    check("in the end", dataset, 64);
    const double scattered = 0;
    line{"H5Dfill", H5Dfill(&scattered, H5T_NATIVE_DOUBLE, got.data(), H5T_NATIVE_INT, four)};
    line{"H5Dclose", H5Dclose(dataset)};

    const hid_t direct = H5Dopen2(file, "chunked", H5P_DEFAULT);
    direct_chunks(direct);
    check("after chunks", direct, 64);
    line{"H5Dclose", H5Dclose(direct)};
    for (const hid_t of : {in_file, memory, eight, four}) H5Sclose(of);
    line{"H5Fclose", H5Fclose(file)};
}

}  // namespace api
