// SPDX-License-Identifier: Apache-2.0
// The arm through MPI-IO: the pieces of the kernel, with its mode and hints, and nothing of ours
// between the calls.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/io_observer.hpp"
#include "formats/file/writers.hpp"
#include "formats/limit/plain.hpp"
#include "formats/limit/scratch.hpp"
#include "formats/mpiio/file.hpp"

namespace tailrace::formats::limit {

namespace {

using core::Error;

/// Rounds of calls that every step takes on every rank, and whether some piece needs a view.
struct Rounds {
    std::uint64_t number = 0;
    bool views = false;
};

class Steps {
public:
    Steps(const Work& work, const raw::Layout& layout) : x_work(work), x_layout(layout) {}

    /// How this rank's pieces lie in the file.  [local]
    [[nodiscard]] mpiio::Portions portions(std::uint64_t step) const {
        const std::vector<core::Write> writes = x_work.writes(step);
        return mpiio::portions_of(std::span(writes), std::span(x_layout.objects()),
                                  x_work.collective);
    }

    [[nodiscard]] Rounds agree(const comm::Comm& comm) const {  ///< [collective]
        Rounds mine = comm.agree_on([&] {
            Rounds greatest;
            for (std::uint64_t step = 0; step < x_work.steps; ++step) {
                const mpiio::Portions here = portions(step);
                greatest.number = std::max<std::uint64_t>(greatest.number, here.calls.size());
                greatest.views |= here.views;
            }
            return greatest;
        });
        mine.number = comm.max(mine.number);
        mine.views = comm.max(std::uint64_t{mine.views ? 1U : 0U}) != 0;
        return mine;
    }

private:
    const Work& x_work;
    const raw::Layout& x_layout;
};

/// Write errors are held below MPI-IO, so that its calls end on all ranks; they are told here. The
/// file is named by a descriptor: a hold must not stay on the inode number of a removed file.
class Held {
public:
    explicit Held(std::filesystem::path file)
        : x_file(std::move(file)), x_seen(open_file(x_file, O_RDONLY)) {
        if (!x_seen.open()) throw system_error(errno, "cannot open the file", x_file);
        x_counted = "/proc/self/fd/" + std::to_string(x_seen.get());
        if (core::IoObserver* observer = core::io_observer()) {
            observer->forget(x_counted);
            observer->hold_errors(x_counted, true);
        }
    }
    ~Held() {
        if (core::IoObserver* observer = core::io_observer()) {
            observer->hold_errors(x_counted, false);
            observer->forget(x_counted);
        }
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    [[nodiscard]] const std::filesystem::path& counted() const noexcept { return x_counted; }

    [[nodiscard]] std::optional<Error> failure() const {
        const core::IoObserver* observer = core::io_observer();
        if (observer == nullptr) return std::nullopt;
        const core::CallTally calls = observer->tally(x_counted).write;
        if (calls.failed_calls == 0 && calls.bytes_done >= calls.bytes_asked) return std::nullopt;
        return system_error(calls.first_errno != 0 ? calls.first_errno : ENOSPC,
                            "writing through MPI-IO failed: " + std::to_string(calls.bytes_asked) +
                                " bytes asked, " + std::to_string(calls.bytes_done) + " written",
                            x_file);
    }

private:
    std::filesystem::path x_file, x_counted;
    Descriptor x_seen;
};

/// All steps through one open file; the failure of this rank.  [collective]
std::optional<Error> write_all(mpiio::File& file, const Work& work, const Steps& steps,
                               const Rounds& rounds) {
    std::optional<Error> failure;
    for (std::uint64_t step = 0; step < work.steps; ++step) {
        mpiio::Portions mine;
        const auto cutting = comm::Comm::caught([&] { mine = steps.portions(step); });
        const auto writing = file.transfer(mine, rounds.number, rounds.views, work.collective);
        if (!failure) failure = cutting ? cutting : writing;
    }
    const auto closing = file.close();
    return failure ? failure : closing;
}

}  // namespace

double mpi_io(const comm::Comm& comm, const Work& work, bool synced,
              const std::filesystem::path& name) {
    raw::Layout layout(work.chunks, 0);
    comm.agree_on([&] { (void)layout.add(std::span(work.objects)); });
    const Steps steps(work, layout);
    const Rounds rounds = steps.agree(comm);
    const bool syncs = synced && first_of_node(comm);
    core::Phases phases;  // without one: the counts are those of the whole file
    std::optional<Scratch> scratch;
    const Clock clock(comm);
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        scratch.emplace(name);
        scratch->close();
    });
    std::optional<Held> held;
    comm.agree_on([&] { held.emplace(name); });
    mpiio::File file(comm, name, name, mpiio::Access::write, mpiio::with_safe_defaults(work.hints));
    std::optional<Error> failure = write_all(file, work, steps, rounds);
    comm.agree(failure ? failure : held->failure());
    const double elapsed_s = clock.stop(syncs ? synced_file(name) : std::nullopt);
    std::uint64_t asked = 0;
    for (std::uint64_t step = 0; step < work.steps; ++step) asked += bytes_of(work, step);
    check_bytes_below(comm, name, asked, my_writer_report(comm.rank(), {held->counted()}, phases));
    // Nobody removes the file before all have looked at their counts.
    comm.barrier();
    return elapsed_s;
}

}  // namespace tailrace::formats::limit
