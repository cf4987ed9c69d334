// SPDX-License-Identifier: Apache-2.0
// Writes of the Sink whose ranks encode: shared out, encoded, placed, written.
#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "formats/hdf5/elements.hpp"
#include "formats/hdf5/encoding_sink.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::EncodedChunk;
using core::Error;

/// Elements that a rank encodes before it writes, so that what waits stays small.
constexpr std::uint64_t round_bytes = std::uint64_t{64} << 20U;

/// The parts have every element of `box`. In doubt not.
bool cover(std::span<const ChunkPart> parts, const core::Box& box) {
    constexpr std::size_t most = 256;  // each is compared with each
    if (parts.size() > most) return false;
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        elements += parts[i].place.volume();
        for (std::size_t j = 0; j < i; ++j)
            if (!core::intersect(parts[i].place, parts[j].place).empty()) return false;
    }
    return elements == box.volume();
}

}  // namespace

void EncodingSink::write_encoded(std::span<const EncodedChunk> chunks) {
    refuse_if_lost();
    for (const EncodedChunk& chunk : chunks)
        check_chunk(x_options, x_datasets, chunk, x_target.path().string());
    x_queue.insert(x_queue.end(), chunks.begin(), chunks.end());
}

Needs EncodingSink::needs(std::span<const core::Write> pieces) {
    Needs needs = batch_needs(list_of(x_datasets), pieces, x_target.path().string());
    for (const core::Write& piece : pieces)
        if (!needs.bad && x_comm.rank() != 0 && !piece.place.empty() &&
            !x_datasets[piece.object].object.members.empty())
            needs.bad =
                Error(core::Code::unsupported, "if ranks encode, rank 0 alone writes compounds",
                      x_target.path().string() + ":" + x_datasets[piece.object].object.path,
                      "leave encode out");
    return needs;
}

void EncodingSink::transfer(std::span<const core::Write> pieces,
                            std::span<const std::uint64_t> agreed) {
    const h5::Quiet quiet;
    Batch batch = batch_of(list_of(x_datasets), pieces, agreed);
    grow(batch);
    write_compounds(batch);
    Shares shares;
    guarded([&] {
        shares = share(grids(), batch.mine, x_comm.size(), convert_to_file_type);
        for (const auto& mine : batch.mine)
            for (const core::Write* piece : mine)
                x_bytes_asked +=
                    piece->place.volume() * core::size_of(x_datasets[piece->object].object.type);
    });
    const auto packed = exchange(shares);
    std::map<ChunkName, std::vector<ChunkPart>> parts;
    guarded([&] { parts = parts_by_chunk(grids(), packed); });
    std::vector<Job> jobs = jobs_of(shares, parts);
    find_old(jobs);
    run(jobs);
}

void EncodingSink::write_compounds(Batch& batch) {
    const auto scope = x_phases.enter("write");
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        const Dataset& dataset = x_datasets[i];
        if (dataset.object.members.empty()) continue;
        for (const core::Write* piece : std::exchange(batch.mine[i], {}))
            guarded([&] {
                const std::string& path = dataset.object.path;
                const Selected all = selected(dataset.object, piece->type, piece->place,
                                              piece->memory, h5::space_of(dataset.id, path));
                h5::check(H5Dwrite(dataset.id.get(), all.type.get(), all.in_memory.get(),
                                   all.in_file.get(), H5P_DEFAULT, piece->data),
                          "H5Dwrite", path);
                x_bytes_asked += piece->place.volume() * core::size_of(dataset.object.type);
            });
    }
}

void EncodingSink::grow(const Batch& batch) {
    const auto scope = x_phases.enter("allocate");
    for (std::size_t i = 0; i < x_datasets.size(); ++i) {
        Dataset& dataset = x_datasets[i];
        if (batch.extents[i] == dataset.dims) continue;
        dataset.dims = batch.extents[i];
        if (!dataset.id) continue;
        const std::vector<hsize_t> dims(dataset.dims.begin(), dataset.dims.end());
        guarded([&] {
            h5::check(H5Dset_extent(dataset.id.get(), dims.data()), "H5Dset_extent",
                      dataset.object.path);
        });
    }
}

std::vector<ChunkGrid> EncodingSink::grids() const {
    std::vector<ChunkGrid> all;
    for (const Dataset& dataset : x_datasets)
        all.push_back({dataset.dims, chunk_of(x_options, dataset.object), dataset.object.type});
    return all;
}

std::vector<std::vector<std::byte>> EncodingSink::exchange(const Shares& shares) {
    const auto scope = x_phases.enter("exchange");
    const bool lost = failed();
    if (x_comm.max(std::uint64_t{shares.any_part && !lost ? 1U : 0U}) == 0) return {};
    const std::vector<std::vector<std::byte>> nothing(static_cast<std::size_t>(x_comm.size()));
    return x_comm.exchange(lost ? nothing : shares.parts);
}

std::vector<EncodingSink::Job> EncodingSink::jobs_of(
    const Shares& shares, const std::map<ChunkName, std::vector<ChunkPart>>& parts) {
    std::vector<Job> jobs;
    if (failed()) return jobs;
    for (const WholeChunk& whole : shares.mine) jobs.push_back({whole.name, whole.piece});
    for (const auto& [name, list] : parts) jobs.push_back({name, nullptr, list});
    return jobs;
}

// Elements of a chunk that nobody writes now keep the values they have.
void EncodingSink::find_old(std::span<Job> jobs) {
    const std::vector<ChunkGrid> all = grids();
    std::vector<Job*> incomplete;
    std::vector<ChunkName> names;
    for (Job& job : jobs) {
        if (job.piece != nullptr || cover(job.parts, all[job.name.object].inside(job.name.offset)))
            continue;
        incomplete.push_back(&job);
        names.push_back(job.name);
    }
    const auto scope = x_phases.enter("allocate");
    if (x_comm.max(std::uint64_t{names.size()}) == 0) return;
    const auto found = find_chunks(x_comm, x_datasets, names, x_pending);
    for (std::size_t i = 0; i < found.size(); ++i) incomplete[i]->old = found[i];
}

// In rounds, so that memory for encoded chunks stays bounded whatever the batch.
void EncodingSink::run(std::span<const Job> jobs) {
    const std::vector<ChunkGrid> all = grids();
    std::vector<std::size_t> ends;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const ChunkGrid& grid = all[jobs[i].name.object];
        bytes += core::checked_product(grid.chunk, "chunk") * core::size_of(grid.type);
        if (bytes < round_bytes && i + 1 < jobs.size()) continue;
        ends.push_back(i + 1);
        bytes = 0;
    }
    const std::uint64_t rounds = x_comm.max(std::uint64_t{ends.size()});
    std::set<ChunkName> seen;
    std::size_t next = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::size_t end = round < ends.size() ? ends[round] : next;
        std::vector<Encoded> encoded;
        std::vector<EncodedChunk> chunks;
        const std::size_t begin = next;
        next = end;
        {
            const auto scope = x_phases.enter("encode");
            for (std::size_t i = begin; i < end && !failed(); ++i)
                guarded([&] { encoded.push_back(encode(jobs[i])); });
        }
        for (std::size_t i = 0; i < encoded.size() && !failed(); ++i)
            chunks.push_back({jobs[begin + i].name.object, jobs[begin + i].name.offset,
                              encoded[i].filter_mask, encoded[i].data});
        store(chunks, seen);
    }
}

Encoder& EncodingSink::encoder(core::ObjectId object) {
    const auto found = x_encoders.find(object);
    if (found != x_encoders.end()) return found->second;
    const core::Object& one = x_datasets[object].object;
    return x_encoders.try_emplace(object, x_options, one, chunk_of(x_options, one)).first->second;
}

Encoded EncodingSink::encode(const Job& job) {
    const Dataset& dataset = x_datasets[job.name.object];
    const ChunkGrid grid{dataset.dims, chunk_of(x_options, dataset.object), dataset.object.type};
    Encoder& encoder = this->encoder(job.name.object);
    if (job.piece != nullptr && grid.whole(job.name.offset))
        return encoder.encode(*job.piece, job.name.offset);
    std::vector<std::byte> chunk;
    if (job.old) {
        Encoded old{std::vector<std::byte>(static_cast<std::size_t>(job.old->place.bytes)),
                    job.old->filter_mask};
        read_fully(x_data.get(), old.data.data(), old.data.size(), job.old->place.offset,
                   x_target.path());
        chunk = encoder.decode(old);
    } else {
        chunk = encoder.blank();
    }
    if (job.piece != nullptr) {
        const core::Box place = grid.inside(job.name.offset);
        const auto elements = elements_of(*job.piece, place, grid.type, convert_to_file_type);
        lay(grid, job.name, {place, elements}, chunk);
    }
    for (const ChunkPart& part : job.parts) lay(grid, job.name, part, chunk);
    ++x_put_together;
    return encoder.encode(chunk);
}

void EncodingSink::finish_step() {
    const h5::Quiet quiet;
    store_queue();
}

void EncodingSink::store_queue() {
    if (x_comm.max(std::uint64_t{x_queue.size()}) == 0) return;
    const auto queue = std::exchange(x_queue, std::vector<EncodedChunk>());
    std::set<ChunkName> seen;
    store(queue, seen);
}

void EncodingSink::store(std::span<const EncodedChunk> chunks, std::set<ChunkName>& seen) {
    std::vector<ChunkWish> wishes;
    if (!failed())
        for (const EncodedChunk& chunk : chunks)
            wishes.push_back({{chunk.object, chunk.offset}, chunk.filter_mask, chunk.data.size()});
    std::vector<std::optional<StoragePlace>> places;
    {
        const auto scope = x_phases.enter("allocate");
        places = place_chunks(x_comm, x_datasets, x_driver, wishes, seen, x_pending);
    }
    const auto scope = x_phases.enter("write");
    for (std::size_t i = 0; i < places.size() && !failed(); ++i) {
        if (!places[i]) continue;  // rank 0 has failed, and says so in complete()
        guarded([&] {
            write_fully(x_data.get(), chunks[i].data.data(), chunks[i].data.size(),
                        places[i]->offset, x_target.path());
            x_bytes_encoded += chunks[i].data.size();
            ++x_chunks;
        });
    }
}

}  // namespace tailrace::formats::hdf5
