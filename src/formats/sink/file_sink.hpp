// SPDX-License-Identifier: Apache-2.0
// A Sink that writes one file, in any format.
#pragma once

#include "formats/file/target_file.hpp"
#include "formats/sink/collective_sink.hpp"

namespace tailrace::formats {

class FileSink : public CollectiveSink {
protected:
    FileSink(const comm::Comm& comm, const core::Target& target, core::Phases& phases, Reserve when)
        : CollectiveSink(comm, phases), x_target(comm, target, phases, when) {}

    [[nodiscard]] const std::filesystem::path& name() const noexcept final {
        return x_target.path();
    }
    [[nodiscard]] bool holds_errors() const noexcept final { return x_target.holds_errors(); }
    [[nodiscard]] std::optional<core::Error> seen_failure(
        const std::string& doing) const noexcept final {
        return x_target.seen_failure(doing);
    }
    void force() override { x_target.sync(); }

    TargetFile x_target;
};

}  // namespace tailrace::formats
