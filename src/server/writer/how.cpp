// SPDX-License-Identifier: Apache-2.0
#include "server/writer/how.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tailrace::server {

namespace {

/// Chunks of whole records are written without a copy, but the libraries hold one in memory if they
/// are filtered, and readers take whole ones.
constexpr std::uint64_t most_chunk_bytes = std::uint64_t{32} << 20;

/// One record, its slowest dimensions cut until it is small enough.
core::Extents chunk_of(const FileMetadata& metadata, const Variable& variable) {
    core::Extents chunk = metadata.record_extents(variable);
    std::uint64_t bytes = size_of(variable.type);
    for (std::size_t i = chunk.size(); i-- > 0;) {
        chunk[i] = std::clamp<std::uint64_t>(most_chunk_bytes / bytes, 1, chunk[i]);
        bytes *= chunk[i];
    }
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

double as_double(const std::variant<std::int64_t, double>& value) {
    return std::visit([](auto held) { return static_cast<double>(held); }, value);
}

bool needs_chunks(const FileMetadata& metadata, const Variable& variable) {
    const Storage& storage = variable.storage;
    return metadata.has_records(variable) || storage.shuffle || storage.deflate > 0 || storage.zstd;
}

}  // namespace

std::vector<std::byte> element_of(Element type, const std::variant<std::int64_t, double>& value) {
    switch (type) {
        case Element::int8:
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
            schema.objects[i].fill = {true,
                                      as_double(default_fill(spec.metadata.variables()[i].type))};
    return schema;
}

formats::Options options_of(const FileSpec& spec) {
    formats::Chunks chunks;
    for (const Variable& variable : spec.metadata.variables())
        if (!variable.storage.chunks.empty())
            chunks["/" + variable.name] = variable.storage.chunks;
        else if (needs_chunks(spec.metadata, variable))
            chunks["/" + variable.name] = chunk_of(spec.metadata, variable);
    switch (spec.options.format) {
        case FileFormat::netcdf4: {
            formats::netcdf4::Options options;
            options.serial = true;
            options.chunks = std::move(chunks);
            return options;
        }
        case FileFormat::hdf5: {
            formats::hdf5::Options options;
            options.serial = true;
            options.chunks = std::move(chunks);
            return options;
        }
        case FileFormat::cdf5:
            break;
    }
    formats::pnetcdf::Options options;
    options.put = formats::pnetcdf::Put::aggregated;
    return options;
}

}  // namespace tailrace::server
