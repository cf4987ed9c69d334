// SPDX-License-Identifier: Apache-2.0
// What the sinks of the raw formats share: the order of calls, agreement, and poison.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/raw/layout.hpp"
#include "formats/target_file.hpp"

namespace tailrace::formats::raw {

/// What a batch needs of all ranks: the greatest value of any rank is handed to transfer().
struct BatchPlan {
    std::uint64_t rounds = 0;
    std::uint64_t flags = 0;
};

/// How the ranks leave a file that is not published.
enum class Abandoned {
    in_step,   ///< all ranks are here and the file is good: collective calls are possible
    poisoned,  ///< all ranks are here, a call into the file has failed
    alone,     ///< an exception passes on this rank; the others may be elsewhere
};

/// A derived class implements the hooks, and calls discard_if_open() in its destructor.
class SinkBase : public core::Sink {
public:
    SinkBase(const SinkBase&) = delete;
    SinkBase& operator=(const SinkBase&) = delete;

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_can; }
    std::vector<core::ObjectId> define(const core::Schema& schema) final;
    void write(std::span<const core::Write> pieces) final;
    void complete(core::Step step) final;
    core::Ticket sync(core::Durability durability) final;
    core::FileReport close(core::Outcome outcome) final;

protected:
    SinkBase(const comm::Comm& comm, core::Phases& phases, Layout layout);

    // --- hooks -----------------------------------------------------------------------------
    /// What this rank needs for a batch whose arguments are good.  [local]
    [[nodiscard]] virtual BatchPlan plan(std::span<const core::Write> pieces);
    /// Writes. A failure goes to fail(), and the rank stays in step.  [collective]
    virtual void transfer(std::span<const core::Write> pieces, const BatchPlan& agreed) = 0;
    /// A failure of this rank that no call reported.  [local]
    [[nodiscard]] virtual std::optional<core::Error> hidden_failure() { return std::nullopt; }
    /// Called once, on all ranks, when the file was lost.  [collective]
    virtual void lost() {}
    /// Makes what was written durable.  [collective]
    virtual void force() = 0;
    /// Ends the file well.  [collective] @throws core::Error on all ranks
    virtual core::FileReport publish() = 0;
    /// Ends the file badly.
    virtual void abandon(Abandoned how) noexcept = 0;
    /// The file that has, or will have, the final name.  [local]
    [[nodiscard]] virtual TargetFile& target() noexcept = 0;
    /// What is known of a file that was discarded: who had written what, above all. Makes no call
    /// into the file.  [collective]
    [[nodiscard]] virtual core::FileReport report_discarded();

    // --- for derived classes ---------------------------------------------------------------
    /// Remembers the first failure of this rank; complete() agrees on it.  [local]
    void fail(const core::Error& error);
    [[nodiscard]] bool failed() const noexcept { return x_failure.has_value(); }
    /// Discards unless close() was called.
    void discard_if_open() noexcept;
    /// Runs `work` on this rank and agrees on the outcome, in phase "agree".  [collective]
    template <class Work>
    void agree_on(Work&& work) {
        const std::optional<core::Error> mine = comm::Comm::caught(work);
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    }
    /// The last steps of a shared file: bytes compared, description, synced, renamed, report.
    /// [collective]
    [[nodiscard]] core::FileReport finish_shared();
    /// Bytes that this rank's writes asked for.  [local]
    [[nodiscard]] std::uint64_t asked() const noexcept { return x_asked; }

    comm::Comm x_comm;
    core::Phases& x_phases;
    Layout x_layout;
    std::vector<core::Attribute> x_attributes;
    core::Capabilities x_can;

private:
    void require_open(const char* call) const;
    void verdict();
    template <class Work>
    auto poisoning(Work&& work);

    std::optional<core::Error> x_failure;  ///< of this rank, not agreed yet
    std::optional<core::Error> x_poison;   ///< agreed: the file is lost
    std::uint64_t x_asked = 0;
    bool x_closed = false, x_pending = false;
};

}  // namespace tailrace::formats::raw
