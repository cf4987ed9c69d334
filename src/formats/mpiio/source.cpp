// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "formats/mpiio/read_turns.hpp"
#include "formats/mpiio/read_watch.hpp"
#include "formats/mpiio/sink.hpp"
#include "formats/posix/source.hpp"
#include "formats/raw/contents.hpp"

namespace tailrace::formats::mpiio {

namespace {

class SharedSource final : public core::Source {
public:
    SharedSource(const comm::Comm& comm, const std::filesystem::path& path, raw::Contents contents,
                 const Options& options, core::Phases& phases)
        : x_comm(comm),
          x_path(path),
          x_contents(std::move(contents)),
          x_collective(options.collective),
          x_phases(phases) {
        comm.agree_on([&] { x_watch.emplace(path); });
        x_file.emplace(comm, path, path, Access::read, options.hints);
    }

    // Closing is collective. An exception that is not the agreed one may pass on this rank alone.
    ~SharedSource() override {
        const bool alone = std::uncaught_exceptions() > x_exceptions;
        if (x_lost ? !x_out_of_step : !alone) (void)x_file->close();
    }

    core::Schema schema() override { return raw::schema_of(x_contents); }

    void read(std::span<core::Read> pieces) override {
        if (x_lost) throw core::Error(*x_lost);
        Portions portions;
        std::vector<Place> places;
        ReadTurns turns;
        const auto bad = comm::Comm::caught([&] {
            for (const core::Read& piece : pieces) raw::check_read(piece, x_contents.objects);
            portions = portions_of(pieces, x_contents.objects, x_collective);
            for (const core::Read& piece : pieces)
                if (!piece.place.empty()) places.push_back({piece.object, piece.place});
        });
        std::array<std::uint64_t, 3> most{bad ? 1u : 0u, portions.calls.size(),
                                          portions.views ? 1u : 0u};
        {
            const auto agreeing = x_phases.enter("agree");
            x_comm.reduce(most, comm::Reduce::max);
            if (most[0] != 0) x_comm.agree(bad);
            if (x_collective) turns = read_turns(x_comm, std::move(places));
        }
        std::optional<core::Error> returned;
        {
            const auto reading = x_phases.enter("read");
            const Portions nothing;
            for (std::uint64_t turn = 0; turn < turns.all; ++turn) {
                const bool mine = turn == turns.mine && !returned;
                const auto failed = x_file->transfer(mine ? std::as_const(portions) : nothing,
                                                     most[1], most[2] != 0, x_collective);
                if (!returned) returned = failed;
            }
        }
        agree(returned, pieces);
    }

private:
    /// On what MPI-IO returned and what the system calls of each rank saw: after a failure the
    /// file is not read again.
    void agree(const std::optional<core::Error>& returned, std::span<const core::Read> pieces) {
        const auto seen = x_watch->failure("reading through MPI-IO", where(pieces), true);
        const auto agreeing = x_phases.enter("agree");
        try {
            x_comm.agree(seen ? seen : returned);
        } catch (const core::Error& error) {
            x_lost = error;
            x_out_of_step = x_comm.max(std::uint64_t{returned || !x_watch->holds() ? 1u : 0u}) != 0;
            throw;
        }
    }

    /// File and objects. A rank may have read for another one: then only the file is known.
    [[nodiscard]] std::string where(std::span<const core::Read> pieces) const {
        std::string text = x_path.string();
        if (!pieces.empty()) text += ":" + x_contents.objects[pieces[0].object].object.path;
        return text;
    }

    comm::Comm x_comm;
    std::filesystem::path x_path;
    raw::Contents x_contents;
    bool x_collective;
    core::Phases& x_phases;
    std::optional<ReadWatch> x_watch;
    std::optional<File> x_file;
    std::optional<core::Error> x_lost;  ///< agreed
    bool x_out_of_step = false;         ///< the ranks may stand at different places in MPI-IO
    int x_exceptions = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    raw::Contents contents = raw::load_contents(comm, path);
    if (contents.per_rank) return posix::open_raw_source(comm, path, phases);
    return std::make_unique<SharedSource>(comm, path, std::move(contents), options, phases);
}

}  // namespace tailrace::formats::mpiio
