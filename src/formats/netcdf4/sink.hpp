// SPDX-License-Identifier: Apache-2.0
// The Sink over netCDF-4. What it leaves behind, and what fails below it, is an HDF5 file:
// docs/developer/hdf5_failures.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/hdf5/beneath.hpp"
#include "formats/netcdf4/nc.hpp"
#include "formats/options.hpp"
#include "formats/sink/batch.hpp"
#include "formats/sink/file_sink.hpp"

namespace tailrace::formats::netcdf4 {

class Sink final : public FileSink {
public:
    /// Checks, reserves and creates the file.  [collective]
    Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
         core::Phases& phases);
    ~Sink() override;

private:
    // sink.cpp
    void check(const core::Schema& schema) const override;
    void create(const core::Schema& schema) override;
    [[nodiscard]] std::size_t objects() const noexcept override { return x_objects.size(); }
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces,
                  std::span<const std::uint64_t> agreed) override;
    void flush() override;
    void create_file();
    void add_definitions(const std::vector<core::Object>& objects,
                         const std::vector<core::Attribute>& attributes);
    void find_definitions(const std::vector<core::Object>& objects,
                          const std::vector<core::Attribute>& attributes);
    void end_definitions(std::size_t first);
    void grow(const Batch& batch);
    [[nodiscard]] const std::byte* memory_of(const core::Write& piece);
    void transfer_object(std::size_t object, const Batch& batch);
    void transfer_one(std::size_t object, const core::Write* piece);

    // sink_close.cpp
    void publish() override;
    void look_at_open_file();
    void verify_bytes();
    void describe();
    void discard() noexcept override;
    void abandon() noexcept override;
    core::FileReport report() override;
    void say_how_collective(core::FileReport& report) const;

    [[nodiscard]] std::vector<std::string> paths() const;
    /// The first ones stand for the others: a report of thousands of variables helps nobody.
    [[nodiscard]] std::vector<std::string> shown_paths() const;
    /// Ranks transfer an object together; a scalar cannot be written by "nothing".
    [[nodiscard]] bool together(std::size_t object) const;

    Options x_options;
    bool x_parallel;
    hdf5::Beneath x_beneath;
    int x_not_created = -1;  // descriptor, if netCDF could not create it
    nc::File x_file;
    bool x_defining;  ///< netCDF is in define mode
    std::vector<Defined> x_objects;
    std::vector<nc::Variable> x_variables;
    std::vector<std::byte> x_packed;  ///< a piece whose elements do not follow one another
    hdf5::Beneath::InForce x_in_force;
    std::uint64_t x_stored_bytes = 0;  ///< of all variables, with filters
    std::uint64_t x_bytes_asked = 0;   ///< by the writes of this rank, in the file's types
};

}  // namespace tailrace::formats::netcdf4
