// SPDX-License-Identifier: Apache-2.0
// Options and schemas: allowed, and the same on all ranks.
#include "formats/hdf5/attributes.hpp"
#include "formats/hdf5/batch.hpp"
#include "formats/hdf5/elements.hpp"

namespace tailrace::formats::hdf5 {

using core::Code;
using core::Error;

namespace {

/// Everything that HDF5 wants to be equal on all ranks, as text; hints may differ.
std::string shared_text(const Options& options) {
    std::string text;
    const auto add = [&text](auto number) { text += std::to_string(number) + ' '; };
    for (const bool flag :
         {options.collective, options.collective_metadata, options.precreate, options.shuffle,
          options.collective_metadata_writes, options.multi_dataset, options.reassemble,
          options.fletcher32, options.encode_on_ranks})
        add(flag);
    add(static_cast<int>(options.fill_time));
    add(static_cast<int>(options.alloc_time));
    add(options.deflate);
    for (const std::uint64_t number :
         {options.subfiles, options.alignment_bytes, options.alignment_threshold_bytes,
          options.metadata_block_bytes, options.page_bytes})
        add(number);
    for (const Filter& filter : options.filters) {
        text += "filter ";
        add(filter.id);
        for (const unsigned value : filter.parameters) add(value);
    }
    for (const auto& [path, chunk] : options.chunks) {
        text += "chunk " + path + ' ';
        for (const std::uint64_t extent : chunk) add(extent);
    }
    return text + text_of(options.storage) + options.libver_low + ' ' + options.libver_high;
}

}  // namespace

void check_opening(const comm::Comm& comm, const core::Target& target, const Options& options) {
    comm.agree_on([&] {
        if (target.existing == core::Existing::append)
            throw Error(Code::unsupported, "appending to an existing HDF5 file is not built",
                        target.path.string(), "write a new file, or use existing = replace");
        check_options(options, comm.size());
    });
    require_same_options(comm, target.path.string(), shared_text(options));
}

void check_schema(const Options& options, std::span<const Dataset> datasets,
                  const core::Schema& schema) {
    check_objects(
        list_of(datasets), schema,
        [&](const core::Object& object) { check_object(options, object); }, check_attribute);
}

h5::Id create_dataset(const h5::Id& file, const core::Object& object, const Options& options,
                      Driver driver) {
    core::Extents limits;
    for (const core::Extent& dim : object.dims)
        limits.push_back(dim.unlimited ? H5S_UNLIMITED : dim.size);
    const h5::Id type = file_type_of(object);
    const h5::Id space =
        h5::simple_space(in_file(object, object.sizes()), in_file(object, std::move(limits)));
    return h5::create_dataset(file, object.path, type.get(), space,
                              dataset_creation(options, object),
                              dataset_access(options, driver, &object));
}

}  // namespace tailrace::formats::hdf5
