// SPDX-License-Identifier: Apache-2.0
// One file of the server, from its first to its last byte, by the serial way of its format: it
// reports a full disk, and waits for nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "core/box.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// A record of a variable.
struct FieldRecord {
    std::uint64_t field = 0, record = 0;
    const std::byte* data = nullptr;      ///< the whole record
    std::span<const core::Box> blocks{};  ///< of it that are written; empty: all
};

/// Which records are there. They come one after the other, but for a few.
class KnownRecords {
public:
    void add(std::uint64_t record);  ///< [local]
    [[nodiscard]] bool has(std::uint64_t record) const {
        return record < x_until || x_beyond.contains(record);
    }

private:
    std::uint64_t x_until = 0;
    std::set<std::uint64_t> x_beyond;
};

class FileWriter {
public:
    /// Creates the file under a name of its own, and writes the constant variables; or takes a copy
    /// of the one that is there, if records go behind it: record 0 is the first behind.  [local]
    /// @throws core::Error
    FileWriter(const std::filesystem::path& path, const FileSpec& spec);
    /// Writes records and ends a step.  [local]
    /// @throws core::Error; the file is lost then
    void write(std::span<const FieldRecord> records);
    /// Gives it its final name.  [local]
    core::FileReport publish();

    /// The value of elements that nobody puts, as it stands in the file.  [local]
    [[nodiscard]] std::span<const std::byte> fill_of(std::uint64_t field) const {
        return x_fills[field];
    }

    /// Whether something of a record was written before: the rest of it must stay.  [local]
    [[nodiscard]] bool has(std::uint64_t field, std::uint64_t record) const {
        return x_written[field].has(record);
    }

private:
    void write_constants();
    void create(const std::filesystem::path& path);
    void append(const std::filesystem::path& path);
    void fill_ends();
    [[nodiscard]] std::vector<core::Write> writes_of(const FieldRecord& one) const;

    FileSpec x_spec;
    core::Phases x_phases;
    std::vector<std::vector<std::byte>> x_fills;  // per field
    std::unique_ptr<core::Sink> x_sink;
    std::vector<std::uint64_t> x_records;  // that each field reaches to
    std::vector<KnownRecords> x_written;   // records of each field, from x_first on
    std::uint64_t x_first = 0, x_steps = 0;
};

}  // namespace tailrace::server
