// SPDX-License-Identifier: Apache-2.0
// One shared raw file, written with pwrite by every rank.
#pragma once

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"
#include "formats/raw/sink_base.hpp"
#include "formats/target_file.hpp"

namespace tailrace::formats::posix {

class SharedSink final : public raw::SinkBase {
public:
    SharedSink(const comm::Comm& comm, const core::Target& target, const Options& options,
               core::Phases& phases);  ///< [collective]
    ~SharedSink() override;

private:
    void transfer(std::span<const core::Write> pieces, const raw::BatchPlan& agreed) override;
    void force() override;
    core::FileReport publish() override;
    void abandon(raw::Abandoned how) noexcept override;
    [[nodiscard]] TargetFile& target() noexcept override { return x_target; }

    TargetFile x_target;
    Descriptor x_fd;
};

}  // namespace tailrace::formats::posix
