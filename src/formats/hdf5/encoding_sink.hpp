// SPDX-License-Identifier: Apache-2.0
// The Sink whose ranks encode chunks by themselves: no rank waits in HDF5 for another one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/part_file.hpp"
#include "formats/hdf5/batch.hpp"
#include "formats/hdf5/chunk_driver.hpp"
#include "formats/hdf5/chunk_places.hpp"
#include "formats/hdf5/chunk_share.hpp"
#include "formats/hdf5/encoder.hpp"
#include "formats/hdf5/in_force.hpp"
#include "formats/sink/file_sink.hpp"

namespace tailrace::formats::hdf5 {

/// Rank 0 has the file open in HDF5 and writes all metadata. A chunk is encoded by one rank, gets
/// its place from rank 0 and is written there by the rank that encoded it.
/// docs/developer/hdf5_encoding.md.
class EncodingSink final : public FileSink {
public:
    EncodingSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                 core::Phases& phases);
    ~EncodingSink() override;

    /// Keeps them until complete(), where all ranks store theirs.
    void write_encoded(std::span<const core::EncodedChunk> chunks) override;

private:
    /// A chunk that this rank encodes in one batch.
    struct Job {
        ChunkName name;
        const core::Write* piece = nullptr;  ///< one piece has all of it, or
        std::span<const ChunkPart> parts{};  ///< these have what was written of it
        std::optional<StoredChunk> old{};    ///< with what was there before
    };

    // encoding_sink.cpp
    template <class Work>
    void on_rank_0(const char* phase, const std::string& doing, Work&& work);
    void create_file();
    void check(const core::Schema& schema) const override;
    void create(const core::Schema& schema) override;
    [[nodiscard]] std::size_t objects() const noexcept override { return x_datasets.size(); }
    void flush() override;
    void publish() override;
    void describe();
    /// Nobody waits for others in HDF5: the file is closed as ever.
    void discard() noexcept override;
    core::FileReport report() override;

    // encoding_write.cpp
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces,
                  std::span<const std::uint64_t> agreed) override;
    void finish_step() override;
    void grow(const Batch& batch);
    /// Compounds, which are tables mostly: rank 0 writes them through HDF5.
    void write_compounds(Batch& batch);
    [[nodiscard]] std::vector<ChunkGrid> grids() const;
    [[nodiscard]] std::vector<std::vector<std::byte>> exchange(const Shares& shares);
    [[nodiscard]] std::vector<Job> jobs_of(
        const Shares& shares, const std::map<ChunkName, std::vector<ChunkPart>>& parts);
    void find_old(std::span<Job> jobs);
    void run(std::span<const Job> jobs);
    [[nodiscard]] Encoded encode(const Job& job);
    [[nodiscard]] Encoder& encoder(core::ObjectId object);
    void store_queue();
    void store(std::span<const core::EncodedChunk> chunks, std::set<ChunkName>& seen);

    Options x_options;
    ChunkDriver x_driver;             ///< before x_file, which needs it
    h5::Id x_file;                    ///< rank 0
    std::vector<Dataset> x_datasets;  ///< with ids on rank 0
    Descriptor x_data;                ///< every rank: for chunks
    std::map<core::ObjectId, Encoder> x_encoders;
    std::vector<core::EncodedChunk> x_queue;
    std::vector<core::Attribute> x_attributes;
    InForce x_in_force;
    std::uint64_t x_bytes_asked = 0;    ///< by the writes of this rank, in the file's types
    std::uint64_t x_bytes_encoded = 0;  ///< of the chunks that this rank wrote
    std::uint64_t x_chunks = 0;         ///< of them
    std::uint64_t x_put_together = 0;   ///< of them from several pieces
};

}  // namespace tailrace::formats::hdf5
