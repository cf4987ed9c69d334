// SPDX-License-Identifier: Apache-2.0
// One file of the server, from its first to its last byte, by all ranks of a Comm: of one rank,
// which has whole records (a server), or of the model, where each has its blocks (embedded).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "server/metadata/collection.hpp"

namespace tailrace::server {

/// A part of a record of a variable.
struct FieldBlock {
    std::uint64_t field = 0, record = 0;
    core::Box block;  ///< within one record; may be empty
    const std::byte* data = nullptr;
    core::MemLayout memory{};
};

class FileWriter {
public:
    /// Creates the file under a name of its own, and writes the constant variables.  [collective]
    /// @throws core::Error on all ranks
    FileWriter(const comm::Comm& comm, const std::filesystem::path& path, const FileSpec& spec);
    /// Writes blocks and ends a step. They are in the same order on all ranks.  [collective]
    /// @throws core::Error on all ranks; the file is lost then
    void write(std::span<const FieldBlock> blocks);
    /// Gives it its final name.  [collective]
    core::FileReport publish();

    /// The value of elements that nobody puts, as it stands in the file.  [local]
    [[nodiscard]] std::span<const std::byte> fill_of(std::uint64_t field) const {
        return x_fills[field];
    }

private:
    void write_constants();
    [[nodiscard]] core::Write write_of(const FieldBlock& one) const;

    comm::Comm x_comm;
    FileSpec x_spec;
    core::Phases x_phases;
    std::vector<core::Scalar> x_types;            // per field
    std::vector<std::vector<std::byte>> x_fills;  // per field
    std::unique_ptr<core::Sink> x_sink;
    std::uint64_t x_steps = 0;
};

}  // namespace tailrace::server
