// SPDX-License-Identifier: Apache-2.0
// One file of the server, from its first to its last byte, by the serial way of its format: it
// reports a full disk, and waits for nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/phases.hpp"
#include "core/sink.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// A record of a variable, in memory whole; `part` of it is to be written, all of it if unset.
struct FieldRecord {
    std::uint64_t field = 0, record = 0;
    const std::byte* data = nullptr;
    std::optional<core::Box> part{};
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

    /// Whether the file may have elements of this record: they stay, unless they are put again.
    /// [local]
    [[nodiscard]] bool may_have(std::uint64_t field, std::uint64_t record) const {
        if (!x_spec.metadata.has_records(x_spec.metadata.variables()[field]))
            return x_appends || x_records[field] > 0;
        return x_first + record < x_records[field];
    }
    /// The value of elements that nobody puts, as it stands in the file.  [local]
    [[nodiscard]] std::span<const std::byte> fill_of(std::uint64_t field) const {
        return x_fills[field];
    }

private:
    void write_constants();
    void create(const std::filesystem::path& path);
    void append(const std::filesystem::path& path);
    void fill_ends();
    [[nodiscard]] core::Write write_of(const FieldRecord& one) const;

    FileSpec x_spec;
    core::Phases x_phases;
    std::vector<std::vector<std::byte>> x_fills;  // per field
    std::unique_ptr<core::Sink> x_sink;
    bool x_appends = false;
    std::vector<std::uint64_t> x_records;  // that each field reaches to
    std::uint64_t x_first = 0, x_steps = 0;
};

}  // namespace tailrace::server
