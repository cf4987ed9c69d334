// SPDX-License-Identifier: Apache-2.0
// The Sink over HDF5. docs/developer/hdf5_failures.md says what happens when the disk does not.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/hdf5/batch.hpp"
#include "formats/hdf5/elements.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/hdf5/in_force.hpp"
#include "formats/hdf5/modes.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/hdf5/reassemble.hpp"
#include "formats/options.hpp"
#include "formats/sink/file_sink.hpp"

namespace tailrace::formats::hdf5 {

class Hdf5Sink final : public FileSink {
public:
    /// Checks, reserves, and creates the file unless rank 0 is to do it in define().  [collective]
    Hdf5Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
             core::Phases& phases);
    ~Hdf5Sink() override;

    void write_encoded(std::span<const core::EncodedChunk> chunks) override;

private:
    Hdf5Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
             core::Phases& phases, Driver driver);

    /// What one call writes: the arguments of HDF5, one entry per dataset.
    struct Selections {
        std::vector<hid_t> datasets, types, memory, file;
        std::vector<const void*> data;
        std::vector<Selected> owned;
        std::vector<std::unique_ptr<std::byte[]>> values;  ///< of pieces that were united
        std::string first_path;
        void add(const Dataset& dataset, Selected piece, const void* from);
    };

    // sink_create.cpp
    void create_file();
    void check(const core::Schema& schema) const override;
    void create(const core::Schema& schema) override;
    [[nodiscard]] std::size_t objects() const noexcept override { return x_datasets.size(); }
    void precreate(const core::Schema& schema);
    void create_objects(const core::Schema& schema);
    void open_objects(const core::Schema& schema);
    void find_objects(const core::Schema& schema);
    void open_datasets(const core::Schema& schema);

    // sink_transfer.cpp
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces,
                  std::span<const std::uint64_t> agreed) override;
    void flush() override;
    [[nodiscard]] GroupedBatch grouped(Batch batch) const;
    void grow(const Batch& batch);
    void lengthen();
    void transfer_batch(const GroupedBatch& batch);
    void transfer_round(const GroupedBatch& batch, std::uint64_t round, std::size_t first,
                        std::size_t last);
    void select(const Dataset& dataset, const Group& group, Selections& all);
    void transfer_selections(const Selections& all);

    // sink_encoded.cpp
    void store_chunk(const core::EncodedChunk& chunk);

    // sink_close.cpp
    void reassemble();
    void look_at_open_file();
    void remember_subfiles();
    void close_ids();
    void verify_bytes();
    void describe();
    void publish() override;
    void discard() noexcept override;
    void abandon() noexcept override;

    // sink_report.cpp
    core::FileReport report() override;
    void doubt_collective(core::FileReport& report) const;
    void report_metadata(core::FileReport& report);

    [[nodiscard]] bool shared() const noexcept { return x_driver != Driver::serial; }
    /// Every transfer is one of all ranks.
    [[nodiscard]] bool together() const noexcept { return shared() && x_options.collective; }

    Options x_options;
    Driver x_driver;
    ConversionMemory x_conversion;
    h5::Id x_transfer;  ///< transfer list
    h5::Id x_file;
    std::vector<Dataset> x_datasets;
    std::vector<core::Attribute> x_attributes;
    TransferModes x_modes;
    InForce x_in_force;
    std::optional<Reassembled> x_plain;  ///< what was made of the subfiles
    bool x_subfiles_known = false;       ///< x_target has been told of them
    bool x_long = false;                 ///< the file reaches to the end of all datasets
    std::uint64_t x_bytes_asked = 0;     ///< by the writes of this rank, in the file's types
};

}  // namespace tailrace::formats::hdf5
