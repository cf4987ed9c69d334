// SPDX-License-Identifier: Apache-2.0
// What the Sources over libraries with collective calls share: errors of the file held and known,
// steps that end the same on all ranks, reading in rounds that all take together.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/mpiio/read_turns.hpp"
#include "formats/mpiio/read_watch.hpp"

namespace tailrace::formats::mpiio {

/// A derived class opens the file in its constructor, after begin_watch(), and calls abandon() in
/// its destructor where passing_alone().
class WatchedSource : public core::Source {
public:
    WatchedSource(const WatchedSource&) = delete;
    WatchedSource& operator=(const WatchedSource&) = delete;

    core::Schema schema() override;
    void read(std::span<core::Read> pieces) override;

protected:
    WatchedSource(const comm::Comm& comm, const std::filesystem::path& path, core::Phases& phases);

    /// @throws core::Error on all ranks where one of them cannot open the file  [collective]
    void begin_watch();
    /// Ends in an agreement on what the library returned and what the system calls of each rank
    /// saw; after a failure the file is not used again.  [collective]
    template <class Work>
    void collective_step(const char* phase, const std::string& doing, const std::string& where,
                         Work&& work) {
        std::optional<core::Error> returned;
        {
            const auto scope = x_phases.enter(phase);
            returned = comm::Comm::caught(std::forward<Work>(work));
        }
        agree(returned, doing, where, std::string_view(phase) == "read");
    }
    /// An exception that is not the agreed one is passing: on this rank alone, maybe.
    [[nodiscard]] bool passing_alone() const noexcept {
        return !x_lost && std::uncaught_exceptions() > x_exceptions;
    }

    // --- hooks -----------------------------------------------------------------------------
    /// Ranks read together.  [local]
    [[nodiscard]] virtual bool together(std::size_t object) const noexcept = 0;
    /// Cuts pieces of an object that ranks read together into what one call reads each: how many
    /// of them, in their order.  [local]
    [[nodiscard]] virtual std::vector<std::size_t> calls_for(
        std::size_t /*object*/, std::span<core::Read* const> pieces) const {
        return std::vector<std::size_t>(pieces.size(), 1);
    }
    /// Reads the pieces of a call; none: takes part with nothing.
    virtual void read_call(std::size_t object, std::span<core::Read* const> pieces) = 0;
    /// Leaves the library's file without a collective call.
    virtual void abandon() noexcept = 0;

    struct Entry {
        core::Object object;
        std::optional<core::Error> unreadable;  ///< why this rank cannot read it
        core::Extents whole_chunk;  ///< of chunks that are read as a whole; empty: none are
    };
    comm::Comm x_comm;
    core::Phases& x_phases;
    std::filesystem::path x_path;
    std::vector<Entry> x_entries;
    std::optional<core::Error> x_lost;  ///< agreed

private:
    void agree(const std::optional<core::Error>& returned, const std::string& doing,
               const std::string& where, bool data);
    void check_pieces(std::span<const core::Read> pieces) const;
    [[nodiscard]] std::vector<Place> places_of(std::span<const core::Read> pieces) const;
    /// What this rank reads of an object, and with which calls.
    struct Share {
        std::vector<core::Read*> pieces;
        std::vector<std::size_t> calls;
    };
    void transfer(const std::vector<Share>& mine, const std::vector<std::uint64_t>& rounds,
                  const ReadTurns& turns);

    std::optional<ReadWatch> x_watch;
    int x_exceptions = std::uncaught_exceptions();
};

}  // namespace tailrace::formats::mpiio
