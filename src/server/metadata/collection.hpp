// SPDX-License-Identifier: Apache-2.0
// How the files of a collection are written, beside what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "server/buffer/byte_queue.hpp"
#include "server/metadata/file_name.hpp"
#include "server/metadata/metadata.hpp"

namespace tailrace::server {

enum class Format : std::uint64_t { netcdf4, cdf5, hdf5 };
[[nodiscard]] constexpr Format last_of(Format) { return Format::hdf5; }  ///< [local]
/// If a file has its final name already.
enum class IfExists : std::uint64_t { refuse, replace, append };
[[nodiscard]] constexpr IfExists last_of(IfExists) { return IfExists::append; }   ///< [local]
[[nodiscard]] constexpr Calendar last_of(Calendar) { return Calendar::day_360; }  ///< [local]

struct CollectionOptions {
    Format format = Format::netcdf4;
    IfExists if_exists = IfExists::refuse;
    std::uint64_t records_per_file = 0;  ///< after so many steps a file gets its name; 0: no end
    std::string file_template{};         ///< with dates, for set_date(); file_name.hpp
    Calendar calendar = Calendar::standard;
    std::uint64_t queue_bytes = 0;  ///< that may wait for their writer; 0: twice those of a step
    WhenFull when_full = WhenFull::block;
    bool durable = true;  ///< synced to the device before it gets its name
    static void fields(auto& io, auto& m) {
        io.all(m.format, m.if_exists, m.records_per_file, m.file_template, m.calendar,
               m.queue_bytes, m.when_full, m.durable);
    }
};

/// The keys of a collection: format, existing, records_per_file, template, calendar, queue,
/// when_full, durable.  [local]
void add_collection_keys(core::KeyTable& table);
/// @throws core::Error at the place of the key  [local]
[[nodiscard]] CollectionOptions collection_options(const core::Config& config);
/// Of "key=value; key=value".  [local]
/// @throws core::Error{unknown_key | bad_input}
[[nodiscard]] CollectionOptions collection_options(std::string_view text);

/// How a variable is stored, of "key=value; key=value": chunks=1x90x180, deflate, zstd, shuffle,
/// quantize, digits.  [local]
/// @throws core::Error{unknown_key | bad_input}
[[nodiscard]] Storage storage_of(std::string_view text);

/// All that a writer is told of a file: the body of META.
struct FileSpec {
    FileMetadata metadata{};
    CollectionOptions options{};
    static void fields(auto& io, auto& m) { io.all(m.metadata, m.options); }
    [[nodiscard]] std::vector<std::byte> to_bytes() const;  ///< [local]
    /// @throws core::Error{Code::data_lost} if they are damaged
    [[nodiscard]] static FileSpec from_bytes(std::span<const std::byte> bytes);  ///< [local]
};

}  // namespace tailrace::server
