// SPDX-License-Identifier: Apache-2.0
// How the files of a collection are written, beside what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/sink.hpp"
#include "server/buffer/byte_queue.hpp"
#include "server/metadata/file_name.hpp"
#include "server/metadata/metadata.hpp"

namespace tailrace::core {
[[nodiscard]] constexpr Existing last_of(Existing) { return Existing::append; }         ///< [local]
[[nodiscard]] constexpr Durability last_of(Durability) { return Durability::durable; }  ///< [local]
}  // namespace tailrace::core

namespace tailrace::server {

enum class FileFormat : std::uint64_t { netcdf4, cdf5, hdf5 };
[[nodiscard]] constexpr FileFormat last_of(FileFormat) { return FileFormat::hdf5; }  ///< [local]

/// How the files of one collection are written, unless the model says otherwise.
struct CollectionOptions {
    std::string name{};  ///< empty: all those without a table of their own
    FileFormat format = FileFormat::netcdf4;
    std::string file{};  ///< template of their names (file_name.hpp); empty: the model names them
    Calendar calendar = Calendar::standard;
    std::uint64_t records_per_file = 0;  ///< 0: until the model closes it or names another
    core::Existing existing = core::Existing::refuse;
    core::Durability durability = core::Durability::durable;
    WhenFull when_full = WhenFull::block;
    std::uint64_t queue_bytes =
        0;  ///< that may wait for the writer; 0: those of `depth` steps, at least of one
    std::uint64_t depth = 2;              ///< steps without a final status
    std::uint64_t deflate = 0, zstd = 0;  ///< levels for variables that say nothing; 0: none
    bool shuffle = false;
    std::vector<std::string> said{};  ///< outside of the program: key, text, key, text...
    static void fields(auto& io, auto& m) {
        io.all(m.name, m.format, m.file, m.calendar, m.records_per_file, m.existing, m.durability,
               m.when_full, m.queue_bytes, m.depth, m.deflate, m.zstd, m.shuffle, m.said);
    }
};

/// Takes "key=value; key=value", each of them by `add`.  [local]
void each_setting(std::string_view text, const std::function<void(const std::string&)>& add);
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
