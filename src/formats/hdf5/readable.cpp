// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/readable.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;

std::optional<Error> missing_filter(const h5::Id& creation, const std::string& path) {
    const int count = h5::check(H5Pget_nfilters(creation.get()), "H5Pget_nfilters", path);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const H5Z_filter_t id = H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags,
                                               &values, nullptr, 0, nullptr, &config);
        h5::check(id, "H5Pget_filter2", path);
        if (!h5::filter_available(static_cast<unsigned>(id)))
            return Error(Code::unsupported,
                         "its filter " + std::to_string(id) + " is missing on this rank", path,
                         "install the filter's plugin on all nodes and name its folder in "
                         "HDF5_PLUGIN_PATH");
    }
    return std::nullopt;
}

}  // namespace

Readable prepare_to_read(const h5::Id& dataset, const std::string& path, bool load_index) {
    const h5::Id creation = h5::creation_list_of(dataset, path);
    if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return {};
    if (load_index) {
        hsize_t chunks = 0;
        const h5::Id space = h5::space_of(dataset, path);
        h5::check(H5Dget_num_chunks(dataset.get(), space.get(), &chunks), "H5Dget_num_chunks",
                  path);
    }
    Readable found{missing_filter(creation, path), {}};
    if (h5::check(H5Pget_nfilters(creation.get()), "H5Pget_nfilters", path) > 0)
        found.whole_chunk = h5::chunk_of(creation, path);
    return found;
}

}  // namespace tailrace::formats::hdf5
