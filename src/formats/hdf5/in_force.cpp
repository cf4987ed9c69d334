// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/in_force.hpp"

#include <array>

#include "formats/mpiio/info.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using Settings = std::map<std::string, std::string>;

std::string name_of(H5F_libver_t bound) {
    switch (bound) {
        case H5F_LIBVER_EARLIEST:
            return "earliest";
        case H5F_LIBVER_V18:
            return "v18";
        case H5F_LIBVER_V110:
            return "v110";
        case H5F_LIBVER_V112:
            return "v112";
        case H5F_LIBVER_V114:
            return "v114";
#if H5_VERSION_GE(2, 0, 0)
        case H5F_LIBVER_V200:
            return "v200";
#endif
        default:
            return "v" + std::to_string(static_cast<int>(bound));
    }
}

std::string text_of(const core::Extents& values) {
    std::string text;
    for (const std::uint64_t value : values)
        text += (text.empty() ? "" : "x") + std::to_string(value);
    return text;
}

std::string layout_text(H5D_layout_t layout) {
    switch (layout) {
        case H5D_COMPACT:
            return "compact";
        case H5D_CONTIGUOUS:
            return "contiguous";
        case H5D_CHUNKED:
            return "chunked";
        case H5D_VIRTUAL:
            return "virtual";
        default:
            return "unknown";
    }
}

std::string fill_time_text(H5D_fill_time_t time) {
    switch (time) {
        case H5D_FILL_TIME_ALLOC:
            return "at_allocation";
        case H5D_FILL_TIME_NEVER:
            return "never";
        case H5D_FILL_TIME_IFSET:
            return "if_set";
        default:
            return "unknown";
    }
}

std::string alloc_time_text(H5D_alloc_time_t time) {
    switch (time) {
        case H5D_ALLOC_TIME_EARLY:
            return "early";
        case H5D_ALLOC_TIME_LATE:
            return "late";
        case H5D_ALLOC_TIME_INCR:
            return "incremental";
        default:
            return "library_default";
    }
}

std::string filter_text(H5Z_filter_t id) {
    switch (id) {
        case H5Z_FILTER_DEFLATE:
            return "deflate";
        case H5Z_FILTER_SHUFFLE:
            return "shuffle";
        case H5Z_FILTER_FLETCHER32:
            return "fletcher32";
        default:
            return std::to_string(id);
    }
}

std::string filters_text(const h5::Id& creation, const std::string& where) {
    const int count = h5::check(H5Pget_nfilters(creation.get()), "H5Pget_nfilters", where);
    std::string text;
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0, config = 0;
        std::array<unsigned, 32> values{};
        std::size_t number = values.size();
        std::array<char, 64> name{};
        const H5Z_filter_t id =
            H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &number, values.data(),
                           name.size() - 1, name.data(), &config);
        h5::check(id, "H5Pget_filter2", where);
        text += (text.empty() ? "" : ", ") + filter_text(id);
        for (std::size_t v = 0; v < std::min(number, values.size()); ++v)
            text += " " + std::to_string(values[v]);
    }
    return text.empty() ? "none" : text;
}

}  // namespace

InForce look(const h5::Id& file, const Options& options, Driver driver) {
    const std::string where = "file access";
    InForce in_force;
    Settings& settings = in_force.settings;
    const h5::Id access(H5Fget_access_plist(file.get()), H5Pclose, "H5Fget_access_plist", where);
    H5F_libver_t low = H5F_LIBVER_EARLIEST, high = H5F_LIBVER_LATEST;
    h5::check(H5Pget_libver_bounds(access.get(), &low, &high), "H5Pget_libver_bounds", where);
    settings["libver_low"] = name_of(low);
    settings["libver_high"] = name_of(high);
    hsize_t threshold = 0, alignment = 0, block = 0;
    h5::check(H5Pget_alignment(access.get(), &threshold, &alignment), "H5Pget_alignment", where);
    settings["alignment_bytes"] = std::to_string(alignment);
    settings["alignment_threshold_bytes"] = std::to_string(threshold);
    h5::check(H5Pget_meta_block_size(access.get(), &block), "H5Pget_meta_block_size", where);
    settings["metadata_block_bytes"] = std::to_string(block);
    const h5::Id creation(H5Fget_create_plist(file.get()), H5Pclose, "H5Fget_create_plist", where);
    H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
    hbool_t persist = false;
    hsize_t smallest = 0, page = 0;
    h5::check(H5Pget_file_space_strategy(creation.get(), &strategy, &persist, &smallest),
              "H5Pget_file_space_strategy", where);
    h5::check(H5Pget_file_space_page_size(creation.get(), &page), "H5Pget_file_space_page_size",
              where);
    if (strategy == H5F_FSPACE_STRATEGY_PAGE) settings["page_bytes"] = std::to_string(page);
    settings["superblock_version"] = std::to_string(h5::superblock_version(file, where));
    hbool_t collective = false;
    h5::check(H5Pget_coll_metadata_write(access.get(), &collective), "H5Pget_coll_metadata_write",
              where);
    if (collective) settings["collective_metadata_write"] = "1";
    settings["library"] = "HDF5 " + h5::library_version();
    settings["driver"] = driver == Driver::serial     ? "sec2"
                         : driver == Driver::parallel ? "mpio"
                                                      : "subfiling";
    if (driver != Driver::parallel) return in_force;
    void* handle = nullptr;
    h5::check(H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle), "H5Fget_vfd_handle", where);
    in_force.hints = mpiio::hints_in_force(*static_cast<MPI_File*>(handle));
    in_force.mpi_io = mpiio::mpi_io_name(in_force.hints, options.hints);
    return in_force;
}

void look_at_dataset(const h5::Id& file, const std::string& path, bool only, Settings& settings) {
    const std::string prefix = only ? "" : path + " ";
    const h5::Id dataset =
        h5::open_dataset(file, path, h5::property_list(H5P_DATASET_ACCESS, path.c_str()));
    const h5::Id creation = h5::creation_list_of(dataset, path);
    const H5D_layout_t layout = H5Pget_layout(creation.get());
    settings[prefix + "layout"] = layout_text(layout);
    if (layout == H5D_CHUNKED) settings[prefix + "chunk"] = text_of(h5::chunk_of(creation, path));
    settings[prefix + "filters"] = filters_text(creation, path);
    H5D_fill_time_t fill = H5D_FILL_TIME_ERROR;
    h5::check(H5Pget_fill_time(creation.get(), &fill), "H5Pget_fill_time", path);
    settings[prefix + "fill_time"] = fill_time_text(fill);
    H5D_alloc_time_t allocation = H5D_ALLOC_TIME_ERROR;
    h5::check(H5Pget_alloc_time(creation.get(), &allocation), "H5Pget_alloc_time", path);
    settings[prefix + "alloc_time"] = alloc_time_text(allocation);
    settings[prefix + "storage_bytes"] = std::to_string(H5Dget_storage_size(dataset.get()));
}

}  // namespace tailrace::formats::hdf5
