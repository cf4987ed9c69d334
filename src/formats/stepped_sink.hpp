// SPDX-License-Identifier: Apache-2.0
// What the sinks over libraries with collective calls share: good, poisoned or closed, and how a
// step that all ranks take together ends the same on all of them.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/target_file.hpp"

namespace tailrace::formats {

/// That all ranks open a file with the same options, given as a text; hints may differ.
/// [collective]
/// @throws core::Error{Code::rank_mismatch} on all ranks
void require_same_options(const comm::Comm& comm, const std::string& where,
                          const std::string& text);

/// A derived class implements the calls of the Sink, and abandon().
class SteppedSink : public core::Sink {
public:
    SteppedSink(const SteppedSink&) = delete;
    SteppedSink& operator=(const SteppedSink&) = delete;
    [[nodiscard]] const core::Capabilities& can() const noexcept final { return x_can; }

protected:
    SteppedSink(const comm::Comm& comm, const core::Target& target, core::Phases& phases,
                Reserve when);

    /// @throws core::Error where the file is lost or closed  [local]
    void refuse_if_lost() const;
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
    /// Agrees on what is known of a definition before the library sees it: the check of this rank,
    /// and that the schemas are the same; the file stays good.  [collective]
    void agree_on_schema(const core::Schema& schema, const std::optional<core::Error>& mine);
    /// Runs what needs no library any more; a failure ends the file.  [collective]
    template <class Work>
    void poisoning(Work&& work, bool out_of_step) {
        try {
            work();
        } catch (const core::Error& error) {
            lose(error, out_of_step);
        }
    }
    /// Remembers that the file is lost.
    /// @param out_of_step  the ranks may stand at different places in the library
    [[noreturn]] void lose(const core::Error& error, bool out_of_step);
    /// Leaves the library's file without a collective call. Not from a destructor of this class.
    virtual void abandon() noexcept = 0;
    /// True where an exception that is not the agreed one is passing: on this rank alone, maybe.
    [[nodiscard]] bool passing_alone() const noexcept {
        return !x_lost && std::uncaught_exceptions() > x_exceptions;
    }

    comm::Comm x_comm;
    core::Phases& x_phases;
    core::Capabilities x_can;
    TargetFile x_target;
    std::optional<core::Error> x_pending;  ///< first failure of this rank in this step
    std::optional<core::Error> x_lost;     ///< agreed: the file is lost
    bool x_closed = false;

private:
    int x_exceptions = std::uncaught_exceptions();  ///< when it was opened
};

}  // namespace tailrace::formats
