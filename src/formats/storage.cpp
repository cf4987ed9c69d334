// SPDX-License-Identifier: Apache-2.0
#include "formats/options.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace tailrace::formats {

bool filtered(const StorageOfObjects& storage) noexcept {
    return std::any_of(storage.begin(), storage.end(),
                       [](const auto& one) { return one.second.filtered(); });
}

std::string text_of(const StorageOfObjects& storage) {
    std::string text;
    const auto add = [&text](std::uint64_t number) { text += std::to_string(number) + ' '; };
    for (const auto& [path, one] : storage) {
        text += "storage " + path + ' ';
        for (const std::uint64_t extent : one.chunks) add(extent);
        text += ';';
        for (const std::uint64_t number :
             {std::uint64_t{one.shuffle}, one.deflate, one.zstd.value_or(0),
              static_cast<std::uint64_t>(one.quantize), one.digits})
            add(number);
    }
    return text;
}

void check_levels(const StorageOfObjects& storage) {
    const auto refuse = [](const std::string& path, const char* filter, std::uint64_t level,
                           const char* remedy) {
        throw core::Error(core::Code::bad_input,
                          std::string(filter) + " has no level " + std::to_string(level), path,
                          remedy);
    };
    for (const auto& [path, one] : storage) {
        if (one.deflate > 9) refuse(path, "deflate", one.deflate, "give 0 (none) to 9");
        if (one.zstd && (*one.zstd < 1 || *one.zstd > 22))
            refuse(path, "zstd", *one.zstd, "give 1 to 22");
    }
}

hdf5::Options hdf5::Options::with(const std::string& path, const Storage& own) const {
    Options one;
    one.collective = collective;
    one.fill_time = fill_time;
    one.alloc_time = alloc_time;
    one.encode_on_ranks = encode_on_ranks;
    one.subfiles = subfiles;
    if (!own.chunks.empty()) one.chunks[path] = own.chunks;
    one.shuffle = own.shuffle;
    one.deflate = static_cast<int>(own.deflate);
    if (own.zstd) one.filters = {{zstd_filter, "zstd", {static_cast<unsigned>(*own.zstd)}}};
    return one;
}

netcdf4::Options netcdf4::Options::with(const std::string& path, const Storage& own) const {
    Options one;
    one.collective = collective;
    one.never_fill = never_fill;
    one.model = model;
    one.endian = endian;
    if (!own.chunks.empty()) one.chunks[path] = own.chunks;
    one.library_chunks = own.filtered();
    one.shuffle = own.shuffle;
    one.deflate = static_cast<int>(own.deflate);
    if (own.zstd) one.zstd = static_cast<int>(*own.zstd);
    one.quantize = own.quantize;
    one.quantize_digits = static_cast<int>(std::min<std::uint64_t>(own.digits, 1000));
    return one;
}

}  // namespace tailrace::formats
