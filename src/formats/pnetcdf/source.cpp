// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks, in calls that all take together, each of many pieces.
#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "formats/mpiio/open_by_all.hpp"
#include "formats/mpiio/read_turns.hpp"
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
constexpr std::size_t most_parts = 4096;                      // each is compared with the others

struct Part {
    Read* piece = nullptr;
    core::Box box;
};
using Call = std::vector<Part>;  ///< what is posted and read together

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
        std::vector<Call> mine;
        std::vector<mpiio::Place> places;
        std::uint64_t first = x_objects.size(), calls = 0;  ///< of all ranks
        mpiio::ReadTurns turns;
        {
            const auto scope = x_phases.enter("agree");
            x_comm.agree_on([&] {
                mine = calls_for(pieces);
                for (const Read& piece : pieces)
                    if (!piece.place.empty()) places.push_back({piece.object, piece.place});
            });
            for (const mpiio::Place& place : places)
                first = std::min<std::uint64_t>(first, place.object);
            first = x_comm.min(first);
            calls = x_comm.max(std::uint64_t{mine.size()});
            if (x_collective) turns = mpiio::read_turns(x_comm, std::move(places));
        }
        std::string where = x_path.string();
        if (first < x_objects.size()) where += ":" + x_objects[first].path;
        collective_step("read", "reading", where, [&] { transfer(mine, calls, turns); });
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

    /// Collectively one call reads as much as PnetCDF can count, else a part of a piece.
    [[nodiscard]] std::vector<Call> calls_for(std::span<Read> pieces) const {
        std::vector<Call> calls;
        std::uint64_t bytes = 0;  // of the last call
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
            for (core::Box& box : cut_box(piece.place, most_bytes / size)) {
                bytes += box.volume() * size;
                if (calls.empty() || bytes > most_bytes || !joins(calls.back(), piece, box)) {
                    calls.emplace_back();
                    bytes = box.volume() * size;
                }
                calls.back().push_back({&piece, std::move(box)});
            }
        }
        return calls;
    }

    /// PnetCDF 1.12 brings wrong bytes where what is read together overlaps, on one rank too.
    [[nodiscard]] bool joins(const Call& call, const Read& piece, const core::Box& box) const {
        return x_collective && call.size() < most_parts &&
               std::none_of(call.begin(), call.end(), [&](const Part& part) {
                   return part.piece->object == piece.object && mpiio::meet(part.box, box);
               });
    }

    /// A rank that has nothing, or failed, takes part with nothing.
    void transfer(const std::vector<Call>& mine, std::uint64_t calls,
                  const mpiio::ReadTurns& turns) {
        const Call nothing;
        std::optional<Error> failed;
        for (std::uint64_t turn = 0; turn < turns.all; ++turn)
            for (std::uint64_t i = 0; i < (x_collective ? calls : mine.size()); ++i) {
                const bool something = !failed && turn == turns.mine && i < mine.size();
                if (!something && !x_collective) break;
                const auto error =
                    comm::Comm::caught([&] { read_call(something ? mine[i] : nothing); });
                if (!failed) failed = error;
            }
        if (failed) throw Error(*failed);
    }

    void read_call(const Call& parts) {
        std::vector<int> requests;
        std::vector<std::vector<std::byte>> packed(parts.size());
        const auto failed = comm::Comm::caught([&] {
            for (std::size_t i = 0; i < parts.size(); ++i) post(parts[i], packed[i], requests);
        });
        // Also where this rank failed: the others wait for it.
        const auto ended = comm::Comm::caught([&] { x_file.wait(requests, x_collective); });
        if (failed || ended) throw Error(failed ? *failed : *ended);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (packed[i].empty()) continue;
            const Read& piece = *parts[i].piece;
            PartInMemory(piece.place, parts[i].box, piece.memory)
                .unpack(packed[i].data(), core::size_of(piece.type), piece.data);
        }
    }

    /// @param packed  filled by the wait where the part does not lie in one piece in memory
    void post(const Part& part, std::vector<std::byte>& packed, std::vector<int>& requests) {
        const Read& piece = *part.piece;
        const std::uint64_t size = core::size_of(piece.type);
        const PartInMemory memory(piece.place, part.box, piece.memory);
        if (!memory.contiguous()) packed.resize(part.box.volume() * size);
        x_file.post_get(x_variables[piece.object], part.box,
                        packed.empty() ? piece.data + memory.first_element() * size : packed.data(),
                        piece.type, requests);
    }

    comm::Comm x_comm;
    std::filesystem::path x_path;
    bool x_collective;
    core::Phases& x_phases;
    std::optional<mpiio::ReadWatch> x_watch;
    nc::File x_file;
    std::vector<core::Object> x_objects;
    std::vector<int> x_variables;
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
