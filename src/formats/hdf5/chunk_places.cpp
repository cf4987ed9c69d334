// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/chunk_places.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "core/bytes.hpp"
#include "formats/file/part_file.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;

constexpr std::uint64_t nowhere = HADDR_UNDEF;

/// Zeros that cost no memory: HDF5 wants an address for data that is held back.
class Zeros {
public:
    explicit Zeros(std::uint64_t bytes)
        : x_bytes(static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 1))) {
        x_data =
            ::mmap(nullptr, x_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (x_data == MAP_FAILED)
            throw system_error(errno, "no address space for a chunk", "chunks");
    }
    ~Zeros() { ::munmap(x_data, x_bytes); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;
    [[nodiscard]] const void* data() const noexcept { return x_data; }

private:
    std::size_t x_bytes;
    void* x_data;
};

std::vector<hsize_t> as_hsize(const core::Extents& offset) {
    return {offset.begin(), offset.end()};
}

StoragePlace place_one(const Dataset& dataset, ChunkDriver& driver, const ChunkWish& wish) {
    const Zeros zeros(wish.bytes);
    driver.catch_next();
    const herr_t entered = H5Dwrite_chunk(dataset.id.get(), H5P_DEFAULT, wish.filter_mask,
                                          as_hsize(wish.name.offset).data(),
                                          static_cast<std::size_t>(wish.bytes), zeros.data());
    const std::optional<StoragePlace> place = driver.caught();
    h5::check(entered, "H5Dwrite_chunk", dataset.object.path);
    if (!place || place->bytes != wish.bytes)
        throw Error(Code::internal, "HDF5 did not tell where a chunk goes", dataset.object.path,
                    "please report it, with the version of HDF5; use `encode library` meanwhile");
    return *place;
}

StoredChunk find_one(const Dataset& dataset, const ChunkName& name) {
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    h5::check(H5Dget_chunk_info_by_coord(dataset.id.get(), as_hsize(name.offset).data(), &mask,
                                         &address, &bytes),
              "H5Dget_chunk_info_by_coord", dataset.object.path);
    return {{address, bytes}, mask};
}

ChunkName name_from(core::ByteReader& in, std::span<const Dataset> datasets) {
    ChunkName name;
    name.object = static_cast<core::ObjectId>(in.number());
    name.offset = in.numbers(datasets[name.object].dims.size());
    return name;
}

void put(core::ByteWriter& out, const ChunkName& name) {
    out.number(name.object);
    out.numbers(name.offset);
}

/// Sends `question` to rank 0, where `answer_one(in, out)` answers one entry after the other in the
/// order of the ranks; after its first Error it is asked no more. Each rank gets its answers.
template <class AnswerOne>
std::vector<std::byte> ask(const comm::Comm& comm, const std::vector<std::byte>& question,
                           std::optional<Error>& failed, AnswerOne&& answer_one) {
    const auto questions = comm.gather(question);
    std::vector<std::vector<std::byte>> answers(static_cast<std::size_t>(comm.size()));
    const auto error = comm::Comm::caught([&] {
        for (std::size_t rank = 0; rank < questions.size() && !failed; ++rank) {
            core::ByteReader in(questions[rank]);
            core::ByteWriter out(answers[rank]);
            while (!in.at_end()) answer_one(in, out);
        }
    });
    if (!failed) failed = error;
    return comm.exchange(answers).front();
}

}  // namespace

std::vector<std::optional<StoragePlace>> place_chunks(
    const comm::Comm& comm, std::span<const Dataset> datasets, ChunkDriver& driver,
    std::span<const ChunkWish> wishes, std::set<ChunkName>& seen, std::optional<Error>& failed) {
    std::vector<std::byte> question;
    core::ByteWriter out(question);
    for (const ChunkWish& wish : wishes) {
        put(out, wish.name);
        out.number(wish.filter_mask);
        out.number(wish.bytes);
    }
    const auto answer =
        ask(comm, question, failed, [&](core::ByteReader& in, core::ByteWriter& to) {
            ChunkWish wish{name_from(in, datasets), 0, 0};
            wish.filter_mask = static_cast<std::uint32_t>(in.number());
            wish.bytes = in.number();
            const Dataset& dataset = datasets[wish.name.object];
            if (!seen.insert(wish.name).second)
                throw Error(Code::bad_input, "a chunk is written twice in one batch",
                            dataset.object.path, "write every element once");
            to.number(place_one(dataset, driver, wish).offset);
        });
    std::vector<std::optional<StoragePlace>> places(wishes.size());
    core::ByteReader in(answer);
    for (std::size_t i = 0; i < wishes.size() && !in.at_end(); ++i)
        places[i] = StoragePlace{in.number(), wishes[i].bytes};
    return places;
}

std::vector<std::optional<StoredChunk>> find_chunks(const comm::Comm& comm,
                                                    std::span<const Dataset> datasets,
                                                    std::span<const ChunkName> names,
                                                    std::optional<Error>& failed) {
    std::vector<std::byte> question;
    core::ByteWriter out(question);
    for (const ChunkName& name : names) put(out, name);
    const auto answer =
        ask(comm, question, failed, [&](core::ByteReader& in, core::ByteWriter& to) {
            const ChunkName name = name_from(in, datasets);
            const StoredChunk found = find_one(datasets[name.object], name);
            to.number(found.place.offset);
            to.number(found.place.bytes);
            to.number(found.filter_mask);
        });
    std::vector<std::optional<StoredChunk>> chunks(names.size());
    core::ByteReader in(answer);
    for (std::size_t i = 0; i < names.size() && !in.at_end(); ++i) {
        StoredChunk one{{in.number(), 0}, 0};
        one.place.bytes = in.number();
        one.filter_mask = static_cast<std::uint32_t>(in.number());
        if (one.place.offset != nowhere) chunks[i] = one;
    }
    return chunks;
}

}  // namespace tailrace::formats::hdf5
