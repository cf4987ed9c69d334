// SPDX-License-Identifier: Apache-2.0
// What the MPI tests of the raw formats share: each case runs for every format.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/box.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/open.hpp"
#include "mpi_test.hpp"
#include "raw_container.hpp"

namespace tailrace::test {

namespace fs = std::filesystem;

inline comm::Comm world() { return comm::from_mpi(MPI_COMM_WORLD); }

/// The raw formats by the names that SUBCASE shows.
struct Variant {
    std::string name;
    formats::Options options;
};
inline std::vector<Variant> variants() {
    formats::posix::Options per_rank;
    per_rank.file_per_rank = true;
    formats::mpiio::Options collective;
    collective.collective = true;
    return {{"posix", formats::posix::Options{}},
            {"posix-per-rank", per_rank},
            {"mpiio", formats::mpiio::Options{}},
            {"mpiio-collective", collective}};
}
inline bool has_chunks(const Variant& variant) { return variant.name != "posix-per-rank"; }
inline void set_chunk(Variant& variant, const std::string& path, const core::Extents& chunk) {
    variant.options.set_chunk(path, chunk);
}

inline core::Object dense(const std::string& path, core::Scalar type, const core::Extents& dims) {
    core::Object object;
    object.path = path;
    object.type = type;
    for (std::uint64_t n : dims) object.dims.push_back({n, false});
    return object;
}
inline core::Schema schema_of(const core::Object& object) {
    core::Schema schema;
    schema.objects.push_back(object);
    return schema;
}

/// Values of `box` of an array of `dims`, in memory of `layout` (packed where it is empty); what
/// lies outside of the box holds a poison.
template <class T>
std::vector<T> filled(const core::Box& box, const core::Extents& dims,
                      const core::MemLayout& layout, std::uint64_t seed) {
    const core::Extents memory = layout.dims.empty() ? box.count : layout.dims;
    std::uint64_t volume = 1;
    for (std::uint64_t n : memory) volume *= n;
    std::vector<T> data(volume, static_cast<T>(0xdeadbeefdeadbeefULL));
    core::Extents at(box.rank());
    for (std::uint64_t k = 0; k < box.volume(); ++k) {
        std::uint64_t rest = k, linear = 0, place = 0;
        for (std::size_t d = box.rank(); d-- > 0;) {
            at[d] = rest % box.count[d];
            rest /= box.count[d];
        }
        for (std::size_t d = 0; d < box.rank(); ++d) {
            linear = linear * dims[d] + box.offset[d] + at[d];
            place = place * memory[d] + (layout.dims.empty() ? 0 : layout.offset[d]) + at[d];
        }
        data[place] = static_cast<T>(value_at(linear, seed));
    }
    return data;
}

template <class T>
core::Write piece(core::ObjectId object, const core::Box& box, const std::vector<T>& data,
                  core::Scalar type, const core::MemLayout& layout = {}) {
    core::Write write;
    write.object = object;
    write.place = box;
    write.data = reinterpret_cast<const std::byte*>(data.data());
    write.type = type;
    write.memory = layout;
    return write;
}

/// Random numbers that are the same on all ranks.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : x_engine(seed) {}
    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return std::uniform_int_distribution<std::uint64_t>(low, high)(x_engine);
    }

private:
    std::mt19937_64 x_engine;
};

/// Boxes that cover an array exactly once: cut at random again and again.
inline std::vector<core::Box> random_tiling(const core::Extents& dims, std::size_t pieces,
                                            Dice& dice) {
    std::vector<core::Box> boxes{{core::Extents(dims.size(), 0), dims}};
    for (int tries = 0; boxes.size() < pieces && tries < 1000; ++tries) {
        const std::size_t b = dice.between(0, boxes.size() - 1);
        const std::size_t d = dice.between(0, dims.size() - 1);
        if (boxes[b].count[d] < 2) continue;
        const std::uint64_t at = dice.between(1, boxes[b].count[d] - 1);
        core::Box high = boxes[b];
        boxes[b].count[d] = at;
        high.offset[d] += at;
        high.count[d] -= at;
        boxes.push_back(high);
    }
    std::shuffle(boxes.begin(), boxes.end(), std::mt19937_64(dice.between(0, 1u << 30)));
    return boxes;
}

using Names = std::vector<std::string>;

/// Names in a folder, sorted.
inline Names names_in(const std::string& folder) {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// What all ranks see of a folder at this point.  [collective]
inline Names left_in(const std::string& folder) {
    barrier();
    Names names = names_in(folder);
    barrier();
    return names;
}

/// A file made by rank 0, seen by all.  [collective]
inline void put(const std::string& path, const std::string& text) {
    if (rank() == 0) std::ofstream(path) << text;
    barrier();
}

/// Bytes of the blocks that a file has.
inline std::uint64_t allocated(const fs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

inline core::Target target_of(const std::string& path,
                              core::Publish publish = core::Publish::atomic_rename,
                              std::uint64_t reserve_bytes = 0) {
    core::Target target{path};
    target.publish = publish;
    target.reserve_bytes = reserve_bytes;
    return target;
}

/// A sink with an object of `per_rank` u64 per rank, the values of `seed`, and the piece of this
/// rank.
struct Run {
    core::Phases phases;
    std::vector<std::uint64_t> data;
    std::vector<core::Write> pieces;
    std::unique_ptr<core::Sink> sink;

    Run(const core::Target& target, const formats::Options& options, std::uint64_t per_rank,
        std::uint64_t seed) {
        const core::Extents dims{per_rank * static_cast<std::uint64_t>(size())};
        const core::Box mine{{per_rank * static_cast<std::uint64_t>(rank())}, {per_rank}};
        data = filled<std::uint64_t>(mine, dims, {}, seed);
        sink = formats::open_sink(world(), target, options, phases);
        sink->define(schema_of(dense("/data", core::Scalar::u64, dims)));
        pieces = {piece(0, mine, data, core::Scalar::u64)};
    }
    core::FileReport publish() {
        sink->write(pieces);
        sink->complete(0);
        return sink->close(core::Outcome::publish);
    }
};

}  // namespace tailrace::test
