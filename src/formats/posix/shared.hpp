// SPDX-License-Identifier: Apache-2.0
// One shared raw file, written with pwrite by every rank.
#pragma once

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"
#include "formats/raw/raw_sink.hpp"

namespace tailrace::formats::posix {

class SharedSink final : public raw::RawSink {
public:
    SharedSink(const comm::Comm& comm, const core::Target& target, const Options& options,
               core::Phases& phases);  ///< [collective]
    ~SharedSink() override;

private:
    void move(std::span<const core::Write> pieces, std::span<const std::uint64_t> agreed) override;
    void publish() override;
    void discard() noexcept override;
    void tell(core::FileReport& report, bool published) override;

    Descriptor x_fd;
};

}  // namespace tailrace::formats::posix
