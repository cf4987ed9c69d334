// SPDX-License-Identifier: Apache-2.0
#include "server/writer/how.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/open.hpp"

namespace tailrace::server {

namespace {

/// HDF5 copies one that has a fill value, as all have here, and readers take whole ones.
constexpr std::uint64_t most_chunk_bytes = std::uint64_t{2} << 20;

core::Extents chunk_of(const FileMetadata& metadata, const Variable& variable) {
    core::Extents chunk = core::cut_evenly(metadata.record_extents(variable),
                                           size_of(variable.type), most_chunk_bytes);
    if (metadata.has_records(variable)) chunk.insert(chunk.begin(), 1);
    return chunk;
}

/// As netcdf.h has them: NC_FILL_BYTE and so on.
std::variant<std::int64_t, double> default_fill(Element type) {
    switch (type) {
        case Element::int8:
            return std::int64_t{-127};
        case Element::int16:
            return std::int64_t{-32767};
        case Element::int32:
            return std::int64_t{-2147483647};
        case Element::int64:
            return std::numeric_limits<std::int64_t>::min() + 2;
        case Element::character:
            return std::int64_t{0};
        case Element::real32:
        case Element::real64:
            break;
    }
    return 9.9692099683868690e+36;
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

template <class T>
std::vector<std::byte> as(const std::variant<std::int64_t, double>& value) {
    return std::visit([](auto held) { return bytes_of(static_cast<T>(held)); }, value);
}

/// As the variable says it; if it says nothing, as its collection says it.
Storage storage_of(const FileSpec& spec, const Variable& variable) {
    Storage storage = variable.storage;
    if (!storage.filtered() && !variable.dimensions.empty()) {
        storage.deflate = spec.options.deflate;
        if (spec.options.zstd > 0) storage.zstd = spec.options.zstd;
        storage.shuffle = spec.options.shuffle;
    }
    const bool chunked = storage.filtered() || (spec.metadata.has_records(variable) &&
                                                spec.options.format != FileFormat::cdf5);
    if (storage.chunks.empty() && chunked) storage.chunks = chunk_of(spec.metadata, variable);
    return storage;
}

/// In netCDF-4 a variable that is named like a dimension holds its coordinates.
void check_coordinates(const FileMetadata& metadata) {
    for (const Variable& variable : metadata.variables())
        for (const Dimension& dimension : metadata.dimensions())
            if (variable.name == dimension.name &&
                variable.dimensions != std::vector{dimension.name})
                throw core::Error(core::Code::bad_input,
                                  "it is named like a dimension, and is not along that alone",
                                  "variable " + variable.name, "give the dimension another name");
}

}  // namespace

std::vector<std::byte> element_of(Element type, const std::variant<std::int64_t, double>& value) {
    switch (type) {
        case Element::int8:
        case Element::character:
            return as<std::int8_t>(value);
        case Element::int16:
            return as<std::int16_t>(value);
        case Element::int32:
            return as<std::int32_t>(value);
        case Element::int64:
            return as<std::int64_t>(value);
        case Element::real32:
            return as<float>(value);
        case Element::real64:
            break;
    }
    return as<double>(value);
}

std::vector<std::byte> fill_bytes(const Variable& variable) {
    return element_of(variable.type, variable.fill.value_or(default_fill(variable.type)));
}

core::Schema schema_of(const FileSpec& spec) {
    core::Schema schema = spec.metadata.schema();
    if (spec.options.format != FileFormat::hdf5) return schema;
    for (std::size_t i = 0; i < schema.objects.size(); ++i)
        if (!schema.objects[i].fill.set)
            schema.objects[i].fill = {true, default_fill(spec.metadata.variables()[i].type)};
    return schema;
}

Lacking lacking(const comm::Comm& comm, bool writes) {
    Lacking all;
    for (const FileFormat format : {FileFormat::netcdf4, FileFormat::cdf5, FileFormat::hdf5})
        for (const std::string filter : {"", "deflate", "zstd"}) {
            FileSpec example;
            example.options.format = format;
            example.metadata.add_dimension("x", 1);
            example.metadata.add({"v", Element::int8, {"x"}});
            if (filter == "deflate") example.options.deflate = 1;
            if (filter == "zstd") example.options.zstd = 1;
            const auto error = comm::Comm::caught([&] {
                comm.agree_on([&] {
                    if (writes) formats::check_build(options_of(example), 1);
                });
            });
            if (error) all.emplace(std::pair(format, filter), *error);
        }
    return all;
}

void check(const FileSpec& spec, const Lacking& lacking) {
    if (spec.options.format != FileFormat::hdf5) check_coordinates(spec.metadata);
    formats::check_schema(options_of(spec), schema_of(spec));
    const auto need = [&](const std::string& filter, const std::string& where) {
        const auto found = lacking.find({spec.options.format, filter});
        if (found != lacking.end()) throw found->second.with_where(where);
    };
    need("", "its format");
    for (const Variable& variable : spec.metadata.variables()) {
        const Storage storage = storage_of(spec, variable);
        if (storage.deflate > 0) need("deflate", "/" + variable.name + ", deflate");
        if (storage.zstd) need("zstd", "/" + variable.name + ", zstd");
    }
}

formats::Options options_of(const FileSpec& spec, WriteTo where) {
    formats::StorageOfObjects storage;
    for (const Variable& variable : spec.metadata.variables())
        storage["/" + variable.name] = storage_of(spec, variable);
    switch (spec.options.format) {
        case FileFormat::netcdf4:
        case FileFormat::cdf5: {
            formats::netcdf4::Options options;
            options.serial = true;
            options.append = where == WriteTo::present_objects;
            if (spec.options.format == FileFormat::cdf5)
                options.model = formats::netcdf4::DataModel::cdf5;
            options.storage = std::move(storage);
            return options;
        }
        case FileFormat::hdf5: {
            formats::hdf5::Options options;
            options.serial = true;
            // A chunk gets its place when it is written, and no fill values before.
            options.alloc_time = formats::hdf5::AllocTime::library_default;
            options.append = where == WriteTo::present_objects;
            options.storage = std::move(storage);
            return options;
        }
    }
    return {};
}

}  // namespace tailrace::server
