// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/properties.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "comm/mpi_comm.hpp"
#include "core/checked.hpp"
#include "formats/hdf5/elements.hpp"
#include "formats/mpiio/info.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;

H5F_libver_t libver(const std::string& name) {
    static const std::map<std::string, H5F_libver_t> known {
        {"earliest", H5F_LIBVER_EARLIEST}, {"v18", H5F_LIBVER_V18}, {"v110", H5F_LIBVER_V110},
            {"v112", H5F_LIBVER_V112}, {"v114", H5F_LIBVER_V114},
#if H5_VERSION_GE(2, 0, 0)
            {"v200", H5F_LIBVER_V200},
#endif
        {
            "latest", H5F_LIBVER_LATEST
        }
    };
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& [text, value] : known) names.push_back(text);
    const std::string near = core::nearest(name, names);
    throw Error(Code::bad_input,
                "HDF5 " + h5::library_version() + " has no format bound \"" + name + "\"", "libver",
                near.empty() ? "use earliest, v18, v110, v112, v114 or latest"
                             : "did you mean \"" + near + "\"?");
}

void require_filter(unsigned id, const std::string& name) {
    if (h5::filter_available(id)) return;
    const char* path = std::getenv("HDF5_PLUGIN_PATH");
    throw Error(Code::unsupported,
                "HDF5 finds no filter number " + std::to_string(id) + " (HDF5_PLUGIN_PATH is " +
                    (path == nullptr ? "not set" : "\"" + std::string(path) + "\"") + ")",
                name, "install its plugin and set HDF5_PLUGIN_PATH to the folder, or leave it out");
}

/// @param object  that is stored in a way of its own; empty: all others
void check_filters(const Options& options, int ranks, const std::string& object = {}) {
    if (!options.file_wide_filters()) return;
    const auto at = [&](const std::string& key) {
        return object.empty() ? key : object + ", " + key;
    };
    if (ranks > 1 && !options.collective && !options.encode_on_ranks)
        throw Error(Code::bad_input,
                    "filters (deflate and the like) need collective writes on several ranks",
                    at(options.deflate != 0 ? "deflate" : "filter"),
                    "add collective_write, or encode chunks on the ranks");
    if (options.subfiles != 0)
        throw Error(Code::bad_input, "subfiling stores contiguous datasets, which have no filters",
                    at("subfile"), "take either the filter or subfile away");
    if (options.deflate < 0 || options.deflate > 9)
        throw Error(Code::bad_input,
                    "level " + std::to_string(options.deflate) + " is not between 0 and 9",
                    "deflate", "1 is fast, 9 is small, 0 is off");
    if (options.deflate != 0 && !h5::filter_available(H5Z_FILTER_DEFLATE))
        throw Error(Code::unsupported, "this HDF5 was built without zlib", at("deflate"),
                    "build HDF5 with zlib, or leave deflate out");
    for (const Filter& filter : options.filters)
        require_filter(filter.id, at(filter.name.empty() ? "filter" : filter.name));
}

void check_storage(const Options& options, int ranks) {
    check_levels(options.storage);
    for (const auto& [path, own] : options.storage) {
        if (own.quantize != Quantize::none)
            throw Error(Code::unsupported, "HDF5 has nothing that quantizes numbers", path,
                        "leave quantize out, or take format netcdf4");
        if (options.subfiles != 0 && !own.chunks.empty())
            throw Error(Code::bad_input, "subfiling stores contiguous datasets, not chunks", path,
                        "leave the chunk out");
        check_filters(options.with(path, own), ranks, path);
    }
}

void check_subfiling(const Options& options) {
    if (options.subfiles == 0) return;
#ifndef H5_HAVE_SUBFILING_VFD
    throw Error(Code::unsupported,
                "HDF5 " + h5::library_version() + " was built without the subfiling driver",
                "subfile", "build HDF5 with HDF5_ENABLE_SUBFILING_VFD, or leave subfile out");
#else
    int level = MPI_THREAD_SINGLE;
    if (mpi_running()) MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE)
        throw Error(Code::unsupported,
                    "the subfiling driver starts threads that use MPI, and MPI was not started "
                    "with MPI_THREAD_MULTIPLE",
                    "subfile", "start MPI with MPI_Init_thread(MPI_THREAD_MULTIPLE)");
    // The one rank waits for a message from its own thread, and MPICH 4.0 never delivers it.
    int ranks = 2;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1 && comm::library_version().starts_with("MPICH"))
        throw Error(
            Code::unsupported,
            "HDF5's subfiling driver hangs on a single rank under " + comm::library_version(),
            "subfile", "use at least two ranks, or another MPI");
    if (options.subfiles > 0x7fffffff)
        throw Error(Code::bad_input, std::to_string(options.subfiles) + " subfiles are too many",
                    "subfile", "use at most one per rank");
    if (options.precreate)
        throw Error(Code::bad_input, "one rank alone cannot create subfiles", "precreate",
                    "take either precreate or subfile away");
    if (!options.chunks.empty())
        throw Error(Code::bad_input, "subfiling stores contiguous datasets, not chunks", "chunk",
                    "leave the chunk out");
#endif
}

#ifdef H5_HAVE_SUBFILING_VFD
/// Never MPI_INFO_NULL: of a file opened with it HDF5 2.2.0 cannot give the access list back.
void set_mpi_params(const h5::Id& access, const comm::Comm& comm, const mpiio::Info& info) {
    const comm::ErrorsReturn guard;
    MPI_Info given = info.get();
    if (given == MPI_INFO_NULL) comm::check(MPI_Info_create(&given), "MPI_Info_create");
    const herr_t result = H5Pset_mpi_params(access.get(), comm::native(comm), given);
    if (given != info.get()) MPI_Info_free(&given);
    h5::check(result, "H5Pset_mpi_params", "subfile", Code::internal);
}

void set_subfiling(const h5::Id& access, const Options& options) {
    // "every rank" cut off at stripe_count: the first `subfiles` ranks are the concentrators. The
    // selection by total number would want an environment variable.
    H5FD_subfiling_config_t config{};
    h5::check(H5Pget_fapl_subfiling(access.get(), &config), "H5Pget_fapl_subfiling", "subfile");
    config.shared_cfg.ioc_selection = SELECT_IOC_EVERY_NTH_RANK;
    config.shared_cfg.stripe_count = static_cast<std::int32_t>(options.subfiles);
    h5::check(H5Pset_fapl_subfiling(access.get(), &config), "H5Pset_fapl_subfiling", "subfile");
    H5Pclose(config.ioc_fapl_id);  // a copy, made by H5Pget_fapl_subfiling
}
#endif

}  // namespace

void check_options(const Options& options, int ranks) {
    (void)libver(options.libver_low);
    (void)libver(options.libver_high);
    if (libver(options.libver_low) > libver(options.libver_high))
        throw Error(Code::bad_input,
                    "the lower format bound " + options.libver_low + " is above the upper one " +
                        options.libver_high,
                    "libver", "swap them");
    check_filters(options, ranks);
    check_storage(options, ranks);
    check_subfiling(options);
}

core::Extents chunk_of(const Options& options, const core::Object& object) {
    if (options.subfiles != 0) return {};
    const auto own = options.storage.find(object.path);
    if (own != options.storage.end() && !own->second.chunks.empty()) return own->second.chunks;
    const auto found = options.chunks.find(object.path);
    if (own == options.storage.end() && found != options.chunks.end()) return found->second;
    const bool grows = std::any_of(object.dims.begin(), object.dims.end(),
                                   [](const core::Extent& dim) { return dim.unlimited; });
    if (!grows) return {};
    // What grows must be chunked: one record per chunk, cut down to what HDF5 takes.
    core::Extents chunk;
    for (const core::Extent& dim : object.dims)
        chunk.push_back(dim.unlimited ? 1 : std::max<std::uint64_t>(dim.size, 1));
    for (std::uint64_t& extent : chunk) {
        std::uint64_t rest = core::size_of(object.type);
        for (std::uint64_t other : chunk) rest = core::checked_mul(rest, other, object.path);
        while (rest > largest_chunk_bytes && extent > 1) {
            rest = rest / extent * ((extent + 1) / 2);
            extent = (extent + 1) / 2;
        }
    }
    return chunk;
}

void check_object(const Options& options, const core::Object& object) {
    if (object.path.size() < 2 || object.path.front() != '/' || object.path.back() == '/')
        throw Error(Code::bad_input, "\"" + object.path + "\" is no path of a dataset", "define",
                    "begin it with / and end it with a name");
    if (object.dims.size() > H5S_MAX_RANK)
        throw Error(Code::bad_input,
                    std::to_string(object.dims.size()) + " dimensions are more than HDF5's " +
                        std::to_string(H5S_MAX_RANK),
                    object.path, "use fewer dimensions");
    if (object.kind == core::Kind::bytes &&
        (object.dims.size() != 1 || object.type != core::Scalar::u8))
        throw Error(Code::bad_input, "an object of kind bytes has one dimension of u8", object.path,
                    "use kind dense for arrays");
    (void)object.bytes();
    check_members(object);
    const core::Extents chunk = chunk_of(options, object);
    if (chunk.empty()) {
        if (options.filtered(object.path))
            throw Error(Code::bad_input, "a filter wants a chunked dataset", object.path,
                        "give it a chunk");
        if (options.encode_on_ranks && object.members.empty())
            throw Error(Code::bad_input, "ranks encode chunks, and it has none", object.path,
                        "give it a chunk");
        const bool grows = std::any_of(object.dims.begin(), object.dims.end(),
                                       [](const core::Extent& dim) { return dim.unlimited; });
        if (grows)
            throw Error(Code::bad_input, "a dataset that grows must be chunked", object.path,
                        "leave subfile out, or give it a fixed size");
        return;
    }
    if (chunk.size() != object.dims.size())
        throw Error(Code::bad_input,
                    "its chunk has " + std::to_string(chunk.size()) + " dimensions and it has " +
                        std::to_string(object.dims.size()),
                    object.path, "give one chunk extent per dimension");
    if (!object.members.empty() && chunk.back() != object.members.size())
        throw Error(Code::bad_input, "its chunk cuts its compound elements", object.path,
                    "give the chunk all members");
    for (std::size_t d = 0; d < chunk.size(); ++d) {
        const core::Extent& dim = object.dims[d];
        if (chunk[d] == 0)
            throw Error(Code::bad_input, "its chunk is 0 in dimension " + std::to_string(d),
                        object.path, "every chunk extent is at least 1");
        if (chunk[d] > dim.size && !dim.unlimited)
            throw Error(Code::bad_input,
                        "its chunk of " + std::to_string(chunk[d]) + " is larger than its extent " +
                            std::to_string(dim.size) + " in dimension " + std::to_string(d),
                        object.path, "make the chunk at most as large as the dataset");
    }
    const std::uint64_t bytes = core::checked_mul(core::checked_product(chunk, object.path),
                                                  core::size_of(object.type), object.path);
    if (bytes > largest_chunk_bytes)
        throw Error(Code::bad_input,
                    "its chunk of " + std::to_string(bytes) + " bytes is over HDF5's limit of " +
                        std::to_string(largest_chunk_bytes),
                    object.path, "make the chunk smaller than 4 GiB");
}

Driver shared_driver(const Options& options) {
    if (options.subfiles != 0) return Driver::subfiling;
    return mpi_running() && !options.serial ? Driver::parallel : Driver::serial;
}

h5::Id file_creation(const Options& options) {
    h5::Id list = h5::property_list(H5P_FILE_CREATE, "file creation");
    if (options.page_bytes == 0) return list;
    const std::string where = "page_allocation";
    h5::check(H5Pset_file_space_strategy(list.get(), H5F_FSPACE_STRATEGY_PAGE, false, 1),
              "H5Pset_file_space_strategy", where, Code::bad_input);
    h5::check(H5Pset_file_space_page_size(list.get(), options.page_bytes),
              "H5Pset_file_space_page_size", where, Code::bad_input);
    return list;
}

h5::Id file_access(const Options& options, const comm::Comm& comm, Driver driver) {
    h5::Id list = h5::property_list(H5P_FILE_ACCESS, "file access");
    const auto set = [&](herr_t result, const char* call) {
        h5::check(result, call, "file access", Code::internal);
    };
    set(H5Pset_libver_bounds(list.get(), libver(options.libver_low), libver(options.libver_high)),
        "H5Pset_libver_bounds");
    // The unfinished file has a name of its own that nobody else opens; locks are what fails first
    // on network file systems.
    set(H5Pset_file_locking(list.get(), false, true), "H5Pset_file_locking");
    // H5Fclose closes what is still open in the file, so that nothing is left behind.
    set(H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree");
    if (options.alignment_bytes != 0)
        set(H5Pset_alignment(list.get(), options.alignment_threshold_bytes,
                             options.alignment_bytes),
            "H5Pset_alignment");
    if (options.metadata_block_bytes != 0)
        set(H5Pset_meta_block_size(list.get(), options.metadata_block_bytes),
            "H5Pset_meta_block_size");
    if (driver == Driver::serial) return list;

    const mpiio::Info info(options.hints);
    if (driver == Driver::parallel) {
        set(H5Pset_fapl_mpio(list.get(), comm::native(comm), info.get()), "H5Pset_fapl_mpio");
    } else {
#ifdef H5_HAVE_SUBFILING_VFD
        set_mpi_params(list, comm, info);
        set_subfiling(list, options);
#endif
    }
    if (options.collective_metadata)
        set(H5Pset_all_coll_metadata_ops(list.get(), true), "H5Pset_all_coll_metadata_ops");
    if (options.collective_metadata_writes)
        set(H5Pset_coll_metadata_write(list.get(), true), "H5Pset_coll_metadata_write");
    return list;
}

h5::Id dataset_access(const Options& options, Driver driver, const core::Object* created) {
    h5::Id list = h5::property_list(H5P_DATASET_ACCESS, "dataset access");
    if (options.collective_metadata && driver != Driver::serial)
        h5::check(H5Pset_all_coll_metadata_ops(list.get(), true), "H5Pset_all_coll_metadata_ops",
                  "dataset access", Code::internal);
    if (created == nullptr || driver != Driver::serial) return list;
    if (created->dims.empty() || !created->dims[0].unlimited) return list;
    const core::Extents chunk = chunk_of(options, *created);
    if (!chunk.empty() && chunk[0] == 1)
        h5::check(H5Pset_chunk_cache(list.get(), 1, 0, H5D_CHUNK_CACHE_W0_DEFAULT),
                  "H5Pset_chunk_cache", created->path, Code::internal);
    return list;
}

h5::Id dataset_creation(const Options& all, const core::Object& object) {
    const OptionsOf own(all, object.path);
    const Options& options = *own;
    h5::Id list = h5::property_list(H5P_DATASET_CREATE, "dataset creation");
    const auto set = [&](herr_t result, const char* call) {
        h5::check(result, call, object.path, Code::bad_input);
    };
    const core::Extents chunk = chunk_of(options, object);
    if (!chunk.empty()) {
        const core::Extents stored = in_file(object, chunk);
        const std::vector<hsize_t> extents(stored.begin(), stored.end());
        set(H5Pset_chunk(list.get(), static_cast<int>(extents.size()), extents.data()),
            "H5Pset_chunk");
    }
    if (object.fill.set && object.text) {
        const auto value = object.fill.as<char>();
        set(H5Pset_fill_value(list.get(), h5::character_type().get(), &value), "H5Pset_fill_value");
    } else if (object.fill.set)
        std::visit(
            [&](const auto& value) {
                const hid_t type =
                    h5::memory_type(core::scalar_of_number<std::decay_t<decltype(value)>>());
                set(H5Pset_fill_value(list.get(), type, &value), "H5Pset_fill_value");
            },
            object.fill.value);
    switch (options.fill_time) {
        case FillTime::if_set:
            set(H5Pset_fill_time(list.get(), H5D_FILL_TIME_IFSET), "H5Pset_fill_time");
            break;
        case FillTime::never:
            set(H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
            break;
        case FillTime::at_allocation:
            set(H5Pset_fill_time(list.get(), H5D_FILL_TIME_ALLOC), "H5Pset_fill_time");
            break;
    }
    // A rank finds the place of a chunk when it has encoded it, and not before.
    switch (options.encode_on_ranks ? AllocTime::incremental : options.alloc_time) {
        case AllocTime::early:
            set(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
            break;
        case AllocTime::late:
            set(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_LATE), "H5Pset_alloc_time");
            break;
        case AllocTime::incremental:
            set(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_INCR), "H5Pset_alloc_time");
            break;
        case AllocTime::library_default:
            break;
    }
    if (options.shuffle) set(H5Pset_shuffle(list.get()), "H5Pset_shuffle");
    if (options.deflate != 0)
        set(H5Pset_deflate(list.get(), static_cast<unsigned>(options.deflate)), "H5Pset_deflate");
    for (const Filter& filter : options.filters)
        set(H5Pset_filter(list.get(), static_cast<H5Z_filter_t>(filter.id), H5Z_FLAG_MANDATORY,
                          filter.parameters.size(), filter.parameters.data()),
            "H5Pset_filter");
    if (options.fletcher32) set(H5Pset_fletcher32(list.get()), "H5Pset_fletcher32");
    return list;
}

bool has_fill(const h5::Id& dataset, const Options& options, const core::Object& object) {
    const auto fill_of = [&](const h5::Id& creation) {
        std::array<std::byte, 8> value{};
        const h5::Id text = h5::character_type();
        const hid_t type = object.text ? text.get() : h5::memory_type(object.type);
        h5::check(H5Pget_fill_value(creation.get(), type, value.data()), "H5Pget_fill_value",
                  object.path);
        return value;
    };
    return fill_of(h5::creation_list_of(dataset, object.path)) ==
           fill_of(dataset_creation(options, object));
}

h5::Id transfer_list(bool collective) {
    h5::Id list = h5::property_list(H5P_DATASET_XFER, "transfer");
    if (collective)
        h5::check(H5Pset_dxpl_mpio(list.get(), H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio",
                  "transfer", Code::internal);
    return list;
}

void ConversionMemory::serve(const h5::Id& transfer) {
    const std::size_t bytes = H5Pget_buffer(transfer.get(), nullptr, nullptr);
    x_numbers = std::make_unique_for_overwrite<std::byte[]>(bytes);
    x_background = std::make_unique_for_overwrite<std::byte[]>(bytes);
    h5::check(H5Pset_buffer(transfer.get(), bytes, x_numbers.get(), x_background.get()),
              "H5Pset_buffer", "transfer", Code::internal);
}

}  // namespace tailrace::formats::hdf5
