// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks, in calls that all take together.
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "formats/mpiio/open_by_all.hpp"
#include "formats/mpiio/read_watch.hpp"
#include "formats/pnetcdf/nc.hpp"
#include "formats/pnetcdf/open.hpp"
#include "formats/pnetcdf/sink.hpp"
#include "formats/sink/pieces.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::pnetcdf {

namespace {

using core::Code;
using core::Error;
using core::Read;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // PnetCDF counts them in an int

/// One call's worth of a piece.
struct Part {
    Read* piece = nullptr;
    core::Box box;
};

class NcSource final : public core::Source {
public:
    NcSource(const comm::Comm& comm, const std::filesystem::path& path, const Options& options,
             core::Phases& phases)
        : x_comm(comm), x_path(path), x_collective(options.collective), x_phases(phases) {
        comm.agree_on([&] {
            if (!mpiio::mpi_running())
                throw Error(Code::unsupported, "PnetCDF without MPI_Init", path.string(),
                            "initialise MPI first");
        });
        comm.agree(mpiio::why_not_open(path, false));
        comm.agree_on([&] { x_watch.emplace(path); });
        collective_step("open_file", "opening", path.string(), [&] {
            x_file = mpiio::open_by_all(comm, path, [&](const auto& name) {
                return nc::File::open(comm, name, path, false, options.hints);
            });
        });
        comm.agree_on([&] { look(); });
        if (!x_collective)
            collective_step("open_file", "opening", path.string(),
                            [&] { x_file.begin_independent(); });
    }

    // Closing is collective. An exception that is not the agreed one may pass on this rank alone.
    ~NcSource() override {
        if (!x_lost && std::uncaught_exceptions() > x_exceptions) x_file.release();
        const auto ignored = comm::Comm::caught([&] { x_file.close(); });
    }

    core::Schema schema() override {
        core::Schema schema;
        schema.objects = x_objects;
        return schema;
    }

    void read(std::span<Read> pieces) override {
        if (x_lost) throw Error(*x_lost);
        std::vector<std::vector<Part>> mine(x_objects.size());
        std::vector<std::uint64_t> rounds(x_objects.size());
        {
            const auto scope = x_phases.enter("agree");
            x_comm.agree_on([&] { mine = parts_of(pieces); });
            for (std::size_t i = 0; i < mine.size(); ++i) rounds[i] = mine[i].size();
            x_comm.reduce(rounds, comm::Reduce::max);
        }
        std::string where = x_path.string();
        for (std::size_t i = rounds.size(); i-- > 0;)
            if (rounds[i] != 0) where = x_path.string() + ":" + x_objects[i].path;
        collective_step("read", "reading", where, [&] { transfer(mine, rounds); });
    }

private:
    /// Ends in an agreement on what PnetCDF returned and what the system calls of each rank saw;
    /// after a failure the file is not used again.
    template <class Work>
    void collective_step(const char* phase, const std::string& doing, const std::string& where,
                         Work&& work) {
        std::optional<Error> returned;
        {
            const auto scope = x_phases.enter(phase);
            returned = comm::Comm::caught(std::forward<Work>(work));
        }
        const bool data = std::string_view(phase) == "read";
        const auto seen = x_watch->failure(doing, where, data);
        const auto scope = x_phases.enter("agree");
        try {
            x_comm.agree(seen ? seen : returned);
        } catch (const Error& error) {
            x_lost = error;
            // Where PnetCDF itself returned an error on some rank, ranks may stand at different
            // places.
            if (x_comm.max(std::uint64_t{returned || !x_watch->holds() ? 1U : 0U}) != 0)
                x_file.release();
            throw;
        }
    }

    void look() {
        const int unlimited = x_file.unlimited_dimension();
        const std::vector<nc::Variable> all = x_file.variables();
        for (std::size_t v = 0; v < all.size(); ++v) {
            if (!all[v].type) continue;  // characters: not ours
            core::Object object;
            object.path = "/" + all[v].name;
            object.type = *all[v].type;
            for (const int dimension : all[v].dimensions)
                object.dims.push_back({x_file.dimension_size(dimension), dimension == unlimited});
            if (!object.dims.empty() && object.dims[0].unlimited) object.kind = core::Kind::record;
            x_objects.push_back(std::move(object));
            x_variables.push_back(static_cast<int>(v));
        }
    }

    [[nodiscard]] std::vector<std::vector<Part>> parts_of(std::span<Read> pieces) const {
        std::vector<std::vector<Part>> parts(x_objects.size());
        for (Read& piece : pieces) {
            if (piece.object >= x_objects.size())
                throw Error(Code::wrong_call,
                            "object " + std::to_string(piece.object) + " is not in the file",
                            x_path.string(), "use an index into schema().objects");
            const core::Object& object = x_objects[piece.object];
            check_read(piece, object);
            if (piece.place.empty()) continue;
            const std::uint64_t size =
                std::max(core::size_of(object.type), core::size_of(piece.type));
            for (core::Box& box : cut_box(piece.place, most_bytes / size))
                parts[piece.object].push_back({&piece, std::move(box)});
        }
        return parts;
    }

    /// Round by round: a rank that has nothing, or failed, takes part with nothing.
    void transfer(const std::vector<std::vector<Part>>& mine,
                  const std::vector<std::uint64_t>& rounds) {
        std::optional<Error> failed;
        for (std::size_t i = 0; i < mine.size(); ++i)
            for (std::uint64_t round = 0; round < (x_collective ? rounds[i] : mine[i].size());
                 ++round) {
                if (failed && !x_collective) break;
                const Part* part = failed || round >= mine[i].size() ? nullptr : &mine[i][round];
                const auto error = comm::Comm::caught([&] { read_one(i, part); });
                if (!failed) failed = error;
            }
        if (failed) throw Error(*failed);
    }

    void read_nothing(std::size_t object) {
        const std::size_t rank = x_objects[object].dims.size();
        std::vector<int> requests;
        // A scalar cannot be read by a part of the ranks but through requests.
        if (rank == 0) return x_file.wait(requests, x_collective);
        const core::Box nothing{core::Extents(rank), core::Extents(rank)};
        std::byte unused{};
        x_file.get(x_variables[object], nothing, &unused, x_objects[object].type, x_collective);
    }

    void read_one(std::size_t object, const Part* part) {
        const std::size_t rank = x_objects[object].dims.size();
        std::vector<int> requests;
        if (part == nullptr) return read_nothing(object);
        Read& piece = *part->piece;
        const std::uint64_t size = core::size_of(piece.type);
        const PartInMemory memory(piece.place, part->box, piece.memory);
        const bool direct = memory.contiguous();
        if (const auto failed = comm::Comm::caught([&] {
                if (!direct) x_scratch.resize(part->box.volume() * size);
            })) {
            if (x_collective) read_nothing(object);  // the others wait for it
            throw Error(*failed);
        }
        std::byte* data = direct ? piece.data + memory.first_element() * size : x_scratch.data();
        if (rank == 0) {
            x_file.post_get(x_variables[object], part->box, data, piece.type, requests);
            x_file.wait(requests, x_collective);
        } else {
            x_file.get(x_variables[object], part->box, data, piece.type, x_collective);
        }
        if (!direct) memory.unpack(x_scratch.data(), size, piece.data);
    }

    comm::Comm x_comm;
    std::filesystem::path x_path;
    bool x_collective;
    core::Phases& x_phases;
    std::optional<mpiio::ReadWatch> x_watch;
    nc::File x_file;
    std::vector<core::Object> x_objects;
    std::vector<int> x_variables;
    std::vector<std::byte> x_scratch;
    std::optional<Error> x_lost;  ///< agreed
    int x_exceptions = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return in_turns(comm, target.path, [&]() -> std::unique_ptr<core::Sink> {
        return std::make_unique<Sink>(comm, target, options, phases);
    });
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    return in_turns(comm, path, [&]() -> std::unique_ptr<core::Source> {
        return std::make_unique<NcSource>(comm, path, options, phases);
    });
}

}  // namespace tailrace::formats::pnetcdf
