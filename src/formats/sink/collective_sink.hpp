// SPDX-License-Identifier: Apache-2.0
// The one state machine of all sinks: good, lost or closed, and how a step that all ranks take
// together ends the same on all of them. A format gives it the steps.
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
#include "core/error.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// That all ranks open a file with the same options, given as a text; hints may differ.
/// [collective]
/// @throws core::Error{Code::rank_mismatch} on all ranks
void require_same_options(const comm::Comm& comm, const std::string& where,
                          const std::string& text);

/// What a batch needs of all ranks: the greatest value of any rank is handed to transfer().
struct Needs {
    std::optional<core::Error> bad{};   ///< why this rank's pieces cannot be written
    std::vector<std::uint64_t> most{};  ///< as many on all ranks, also where the pieces are bad
};

/// A derived class implements the hooks, and calls discard_if_open() in its destructor.
class CollectiveSink : public core::Sink {
public:
    CollectiveSink(const CollectiveSink&) = delete;
    CollectiveSink& operator=(const CollectiveSink&) = delete;
    [[nodiscard]] const core::Capabilities& can() const noexcept final { return x_can; }
    std::vector<core::ObjectId> define(const core::Schema& schema) final;
    void write(std::span<const core::Write> pieces) final;
    void complete(core::Step step) final;
    core::Ticket sync(core::Durability durability) final;
    core::Pending<core::FileReport> post_close(core::Outcome outcome) final;

protected:
    CollectiveSink(const comm::Comm& comm, core::Phases& phases) : x_comm(comm), x_phases(phases) {}

    // --- hooks -----------------------------------------------------------------------------
    /// The final name of the file, or of the folder.  [local]
    [[nodiscard]] virtual const std::filesystem::path& name() const noexcept = 0;
    /// Whether errors of writes are held below the library.  [local]
    [[nodiscard]] virtual bool holds_errors() const noexcept { return false; }
    /// The failure that system calls of this rank saw below the library, if any.  [local]
    [[nodiscard]] virtual std::optional<core::Error> seen_failure(
        const std::string& /*doing*/) const noexcept {
        return std::nullopt;
    }
    /// Refuses what the format cannot store, before the library sees it.  [local]
    virtual void check(const core::Schema& schema) const = 0;
    /// Makes the objects of a schema that was checked, and keeps its attributes.  [collective]
    virtual void create(const core::Schema& schema) = 0;
    [[nodiscard]] virtual std::size_t objects() const noexcept = 0;  ///< made so far  [local]
    /// Checks the pieces of this rank; never throws.  [local]
    [[nodiscard]] virtual Needs needs(std::span<const core::Write> pieces) = 0;
    /// Writes what needs() has seen. A failure goes to fail(), and the rank stays in step.
    /// [collective]
    virtual void transfer(std::span<const core::Write> pieces,
                          std::span<const std::uint64_t> agreed) = 0;
    /// Writes what waits for the end of a step; as transfer().  [collective]
    virtual void finish_step() {}
    /// Hands what the library still holds to the operating system.  [collective]
    virtual void flush() {}
    /// Makes what was written durable.  [collective]
    virtual void force() = 0;
    /// Closes the file in the library, counts its bytes, gives it its name.  [collective]
    virtual void publish() = 0;
    /// Leaves the library's file without a collective call.  [local]
    virtual void abandon() noexcept {}
    /// Removes the file; closes it in the library unless it was abandoned.
    virtual void discard() noexcept = 0;
    /// What is known of a file that was published or discarded.  [collective]
    [[nodiscard]] virtual core::FileReport report() = 0;

    // --- for derived classes ---------------------------------------------------------------
    /// @throws core::Error where the file is lost or closed  [local]
    void refuse_if_lost() const;
    /// Remembers the first failure of this rank; complete() agrees on it.  [local]
    void fail(const std::optional<core::Error>& error) {
        if (!x_pending) x_pending = error;
    }
    /// Runs `work`; an Error of it goes to fail().  [local]
    template <class Work>
    void guarded(Work&& work) {
        fail(comm::Comm::caught(std::forward<Work>(work)));
    }
    [[nodiscard]] bool failed() const noexcept { return x_pending.has_value(); }
    /// Runs a step that all ranks take in the library; a failure on any rank, seen by the library
    /// or by the system calls below it, ends the file on all ranks.  [collective]
    template <class Work>
    void collective_step(const char* phase, const std::string& doing, Work&& work) {
        std::optional<core::Error> mine;
        {
            const auto scope = x_phases.enter(phase);
            mine = comm::Comm::caught(std::forward<Work>(work));
        }
        agree(mine, doing);
    }
    /// Agrees on what the library `returned` and what the system calls of each rank saw; a failure
    /// ends the file.  [collective]
    void agree(const std::optional<core::Error>& returned, const std::string& doing);
    /// Runs what needs no library any more; a failure ends the file.  [collective]
    template <class Work>
    void poisoning(Work&& work, bool out_of_step) {
        try {
            work();
        } catch (const core::Error& error) {
            lose(error, out_of_step);
        }
    }
    /// Discards unless close() was called. Closing is collective; an exception that is not the
    /// agreed one may pass on this rank alone.
    void discard_if_open() noexcept;

    comm::Comm x_comm;
    core::Phases& x_phases;
    core::Capabilities x_can;
    std::optional<core::Error> x_pending;  ///< first failure of this rank in this step
    std::optional<core::Error> x_lost;     ///< agreed: the file is lost
    bool x_closed = false;

private:
    /// Remembers that the file is lost.
    /// @param out_of_step  the ranks may stand at different places in the library
    [[noreturn]] void lose(const core::Error& error, bool out_of_step);
    void agree_on_step(const std::string& doing);
    /// True where an exception that is not the agreed one is passing: on this rank alone, maybe.
    [[nodiscard]] bool passing_alone() const noexcept {
        return x_comm.size() > 1 && !x_lost && std::uncaught_exceptions() > x_exceptions;
    }

    int x_exceptions = std::uncaught_exceptions();  ///< when it was opened
};

}  // namespace tailrace::formats
