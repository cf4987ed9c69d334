// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/source.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "formats/file/part_file.hpp"
#include "formats/posix/run_io.hpp"
#include "formats/raw/box_index.hpp"
#include "formats/raw/contents.hpp"
#include "formats/raw/layout.hpp"

namespace tailrace::formats::posix {

namespace fs = std::filesystem;
using core::Box;
using core::Extents;

namespace {

Descriptor open_for_reading(const fs::path& path) {
    Descriptor fd(open_file(path, O_RDONLY));
    if (!fd.open()) throw system_error(errno, "cannot open the file", path);
    return fd;
}

/// Checks and agreement around what a kind of raw file does for its pieces.
class RawSource : public core::Source {
public:
    RawSource(const comm::Comm& comm, fs::path path, raw::Contents contents, core::Phases& phases)
        : x_comm(comm),
          x_path(std::move(path)),
          x_contents(std::move(contents)),
          x_phases(phases) {}

    core::Schema schema() override { return raw::schema_of(x_contents); }

    void read(std::span<core::Read> pieces) override {
        if (x_lost) throw core::Error(*x_lost);
        agree_on([&] {
            for (const core::Read& piece : pieces) raw::check_read(piece, x_contents.objects);
        });
        try {
            agree_on([&] {
                const auto reading = x_phases.enter("read");
                for (core::Read& piece : pieces)
                    if (!piece.place.empty()) read_piece(piece);
            });
        } catch (const core::Error& error) {
            x_lost = error;
            throw;
        }
    }

protected:
    virtual void read_piece(core::Read& piece) = 0;

    template <class Work>
    void agree_on(Work&& work) {
        const std::optional<core::Error> mine = comm::Comm::caught(work);
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    }

    comm::Comm x_comm;
    fs::path x_path;
    raw::Contents x_contents;
    core::Phases& x_phases;
    std::optional<core::Error> x_lost;  ///< agreed
};

class SharedSource final : public RawSource {
public:
    SharedSource(const comm::Comm& comm, const fs::path& path, raw::Contents contents,
                 core::Phases& phases)
        : RawSource(comm, path, std::move(contents), phases) {
        agree_on([&] { x_fd = open_for_reading(path); });
    }

private:
    void read_piece(core::Read& piece) override {
        RunReader reader(x_fd.get(), x_path);
        raw::for_each_piece_run(x_contents.objects[piece.object], piece.place, piece.memory,
                                [&](std::uint64_t file, std::uint64_t memory, std::uint64_t bytes) {
                                    reader.add(file, piece.data + memory, bytes);
                                });
        reader.flush();
    }

    Descriptor x_fd;
};

class PerRankSource final : public RawSource {
public:
    PerRankSource(const comm::Comm& comm, const fs::path& path, raw::Contents contents,
                  core::Phases& phases)
        : RawSource(comm, path, std::move(contents), phases) {
        std::vector<std::vector<Box>> boxes(x_contents.objects.size());
        x_stored.resize(boxes.size());
        const auto parts = raw::load_parts(comm, path, x_contents);
        for (std::size_t p = 0; p < parts.size(); ++p)
            for (const raw::StoredPiece& piece : parts[p]) {
                boxes[piece.object].push_back(piece.place);
                x_stored[piece.object].push_back({p, piece.at});
            }
        for (std::vector<Box>& of_object : boxes) x_index.emplace_back(std::move(of_object));
    }

private:
    /// Where a piece lies; its box is in the index of the object.
    struct Stored {
        std::size_t part;
        std::uint64_t at;
    };

    void read_piece(core::Read& piece) override {
        clear(piece);
        const raw::BoxIndex& index = x_index[piece.object];
        for (const std::size_t number : index.meeting(piece.place)) {
            const Stored& stored = x_stored[piece.object][number];
            open_part(stored.part);
            read_common(index.box(number), stored.at, piece);
        }
    }

    /// Pieces come part after part, so that the one that is open will often do.
    void open_part(std::size_t part) {
        if (x_fd.open() && x_open_part == part) return;
        x_fd = open_for_reading(raw::part_path(x_path, x_contents.parts[part]));
        x_open_part = part;
    }

    // Elements that nobody wrote read as 0.
    void clear(core::Read& piece) const {
        const raw::MemoryArray array(piece.place, piece.memory);
        const std::uint64_t size = core::size_of(piece.type);
        raw::for_each_common_run(piece.place.count, array.dims, array.offset, array.dims,
                                 array.offset,
                                 [&](std::uint64_t at, std::uint64_t, std::uint64_t n) {
                                     std::memset(piece.data + at * size, 0, n * size);
                                 });
    }

    void read_common(const Box& stored, std::uint64_t begin, core::Read& piece) const {
        const Box both = core::intersect(stored, piece.place);
        const raw::MemoryArray array(piece.place, piece.memory);
        const std::uint64_t size = core::size_of(piece.type);
        Extents in_part(both.rank()), in_memory(both.rank());
        for (std::size_t d = 0; d < both.rank(); ++d) {
            in_part[d] = both.offset[d] - stored.offset[d];
            in_memory[d] = array.offset[d] + both.offset[d] - piece.place.offset[d];
        }
        RunReader reader(x_fd.get(), raw::part_path(x_path, x_contents.parts[x_open_part]));
        raw::for_each_common_run(both.count, stored.count, in_part, array.dims, in_memory,
                                 [&](std::uint64_t file, std::uint64_t memory, std::uint64_t n) {
                                     reader.add(begin + file * size, piece.data + memory * size,
                                                n * size);
                                 });
        reader.flush();
    }

    std::vector<std::vector<Stored>> x_stored;  ///< per object, as in its index
    std::vector<raw::BoxIndex> x_index;         ///< per object
    Descriptor x_fd;
    std::size_t x_open_part = 0;
};

}  // namespace

std::unique_ptr<core::Source> open_raw_source(const comm::Comm& comm, const fs::path& path,
                                              core::Phases& phases) {
    raw::Contents contents = raw::load_contents(comm, path);
    if (contents.per_rank)
        return std::make_unique<PerRankSource>(comm, path, std::move(contents), phases);
    return std::make_unique<SharedSource>(comm, path, std::move(contents), phases);
}

}  // namespace tailrace::formats::posix
