// SPDX-License-Identifier: Apache-2.0
// What the sinks of the raw formats share: where elements lie, and the description at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/raw/layout.hpp"
#include "formats/sink/file_sink.hpp"

namespace tailrace::formats::raw {

/// A derived class implements plan() where a batch needs more than the pieces, move(), and the
/// hooks of FileSink for the end of a file.
class RawSink : public FileSink {
protected:
    RawSink(const comm::Comm& comm, const core::Target& target, core::Phases& phases, Layout layout,
            Reserve when);

    /// What this rank needs of all ranks for a batch whose arguments are good; as many values in
    /// every call, zeros where `pieces` is empty.  [local]
    [[nodiscard]] virtual std::vector<std::uint64_t> plan(std::span<const core::Write> pieces);
    /// As transfer().
    virtual void move(std::span<const core::Write> pieces,
                      std::span<const std::uint64_t> agreed) = 0;
    /// Adds to the report of a file: one that was published, or discarded.  [collective]
    virtual void tell(core::FileReport& report, bool published) = 0;

    void check(const core::Schema& schema) const final;
    void create(const core::Schema& schema) final;
    [[nodiscard]] std::size_t objects() const noexcept final { return x_layout.objects().size(); }
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) final;
    void transfer(std::span<const core::Write> pieces, std::span<const std::uint64_t> agreed) final;
    [[nodiscard]] core::FileReport report() final;

    /// Runs `work` on this rank and agrees on the outcome, in phase "agree".  [collective]
    template <class Work>
    void agree_on(Work&& work) {
        const std::optional<core::Error> mine = comm::Comm::caught(work);
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    }
    /// The last steps of a shared file: bytes compared, description, synced, renamed.  [collective]
    void finish_shared();
    /// Bytes that this rank's writes asked for.  [local]
    [[nodiscard]] std::uint64_t asked() const noexcept { return x_asked; }

    Layout x_layout;
    std::vector<core::Attribute> x_attributes;

private:
    std::uint64_t x_asked = 0;
};

}  // namespace tailrace::formats::raw
