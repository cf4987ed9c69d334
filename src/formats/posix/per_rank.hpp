// SPDX-License-Identifier: Apache-2.0
// A raw file per rank and a manifest, the Sink's target, written last. A set that takes the place
// of another has other names than that one, so that the old set stays as it was until the new
// manifest stands.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/target_file.hpp"
#include "formats/options.hpp"
#include "formats/posix/parts.hpp"
#include "formats/raw/description.hpp"
#include "formats/raw/raw_sink.hpp"

namespace tailrace::formats::posix {

class PerRankSink final : public raw::RawSink {
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

    void move(std::span<const core::Write> pieces, std::span<const std::uint64_t> agreed) override;
    void force() override;
    void publish() override;
    void discard() noexcept override;
    void tell(core::FileReport& report, bool published) override;
    void say_who_wrote(core::FileReport& report) const;

    void choose_names();
    [[nodiscard]] std::filesystem::path part_of(int rank) const;

    // Steps of publish, in this order; each collective.
    void describe_mine();
    void rename_mine();
    void publish_manifest();
    void remove_strays() const noexcept;
    void publish_all();

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
