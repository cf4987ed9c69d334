// SPDX-License-Identifier: Apache-2.0
// Reads HDF5 files by plain serial calls of the C library: shares nothing with src/formats.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

/// One dataset as it lies in a file. `found` is false where the file or the dataset is not there.
struct Dataset {
    bool found = false;
    std::vector<hsize_t> dims, limits, chunk;  ///< chunk: empty where contiguous
    std::vector<double> values;
    hsize_t storage_bytes = 0;
    H5D_fill_time_t fill_time = H5D_FILL_TIME_ERROR;
    H5D_alloc_time_t alloc_time = H5D_ALLOC_TIME_ERROR;
    std::vector<int> filters;
    std::vector<unsigned> first_filter_values;
    haddr_t offset = HADDR_UNDEF;  ///< of a contiguous dataset
    bool float32 = false;
};

inline Dataset read(const std::string& file_name, const std::string& path) {
    Dataset out;
    H5E_auto2_t printer = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const hid_t file = H5Fopen(file_name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = file < 0 ? -1 : H5Dopen2(file, path.c_str(), H5P_DEFAULT);
    if (set >= 0) {
        out.found = true;
        const hid_t space = H5Dget_space(set);
        const int rank = H5Sget_simple_extent_ndims(space);
        out.dims.resize(static_cast<std::size_t>(rank));
        out.limits.resize(out.dims.size());
        H5Sget_simple_extent_dims(space, out.dims.data(), out.limits.data());
        out.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data()) < 0)
            out.found = false;
        out.storage_bytes = H5Dget_storage_size(set);
        out.offset = H5Dget_offset(set);
        const hid_t type = H5Dget_type(set);
        out.float32 = H5Tequal(type, H5T_IEEE_F32LE) > 0;
        H5Tclose(type);
        const hid_t creation = H5Dget_create_plist(set);
        if (H5Pget_layout(creation) == H5D_CHUNKED) {
            out.chunk.resize(out.dims.size());
            H5Pget_chunk(creation, rank, out.chunk.data());
        }
        H5Pget_fill_time(creation, &out.fill_time);
        H5Pget_alloc_time(creation, &out.alloc_time);
        for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
            unsigned flags = 0, values[8] = {}, config = 0;
            std::size_t n = 8;
            char name[32];
            out.filters.push_back(H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &n,
                                                 values, sizeof name, name, &config));
            if (i == 0) out.first_filter_values.assign(values, values + (n < 8 ? n : 8));
        }
        H5Pclose(creation);
        H5Sclose(space);
        H5Dclose(set);
    }
    if (file >= 0) H5Fclose(file);
    H5Eset_auto2(H5E_DEFAULT, printer, data);
    return out;
}

}  // namespace oracle
