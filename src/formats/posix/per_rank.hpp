// SPDX-License-Identifier: Apache-2.0
// A raw file per rank and a manifest, written last. A set that takes the place of another has other
// names than that one, so that the old set stays as it was until the new manifest stands.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"
#include "formats/posix/parts.hpp"
#include "formats/raw/description.hpp"
#include "formats/raw/sink_base.hpp"
#include "formats/target_file.hpp"

namespace tailrace::formats::posix {

class PerRankSink final : public raw::SinkBase {
public:
    /// @throws core::Error on all ranks or on none; nothing is left behind then  [collective]
    PerRankSink(const comm::Comm& comm, const core::Target& target, const Options& options,
                core::Phases& phases);
    ~PerRankSink() override;

private:
    void create_mine(const core::Target& target);
    void reserve_mine(std::uint64_t share, bool set_aside);
    void remove_mine() noexcept;
    [[nodiscard]] std::optional<core::WriterReport> writer() const;

    void transfer(std::span<const core::Write> pieces, const raw::BatchPlan& agreed) override;
    void force() override;
    core::FileReport publish() override;
    void abandon(raw::Abandoned how) noexcept override;
    [[nodiscard]] TargetFile& target() noexcept override { return x_manifest; }
    [[nodiscard]] core::FileReport report_discarded() override;
    void say_who_wrote(core::FileReport& report) const;

    void choose_names();
    [[nodiscard]] std::filesystem::path part_of(int rank) const;

    // Steps of publish, in this order; each collective.
    void describe_mine();
    void rename_mine();
    void publish_manifest();
    void remove_strays() const noexcept;
    core::FileReport make_report();

    TargetFile x_manifest;
    PartNames x_names = PartNames::first;
    std::filesystem::path x_mine, x_mine_part;  ///< F.00003 and F.00003.part
    Descriptor x_fd;                            ///< stays open: names the inode to the observer
    bool x_owns_part = false, x_renamed = false;
    bool x_reserved = false;
    std::string x_reservation;
    std::uint64_t x_end = 0;
    std::vector<raw::StoredPiece> x_pieces;
};

}  // namespace tailrace::formats::posix
