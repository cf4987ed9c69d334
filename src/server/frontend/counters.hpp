// SPDX-License-Identifier: Apache-2.0
// What a front end counts, to be told with the end of each file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/cpu_time.hpp"
#include "core/phases.hpp"
#include "server/protocol/front_end.hpp"

namespace tailrace::server {

class Counters {
public:
    explicit Counters(std::uint64_t server) { x_now.server = server; }
    void sent() noexcept { ++x_now.sent; }  ///< [local]
    /// A message has come, and this is what waits since.  [local]
    void received(const FrontEnd::State& state) {
        ++x_now.received;
        std::uint64_t bytes = 0, items = 0;
        for (const auto& [number, one] : state.collections) {
            bytes += one.queue.used();
            items += one.items.size();
        }
        x_now.queue_bytes = std::max(x_now.queue_bytes, bytes);
        x_now.queue_items = std::max(x_now.queue_items, items);
    }
    void data(std::uint64_t collection, std::uint64_t file_seq) {  ///< [local]
        if (!x_begun.contains({collection, file_seq}))
            x_begun.emplace(std::pair(collection, file_seq), core::now_s());
    }
    /// Of an item that ended at that moment; it starts to count anew. Nothing of a step.  [local]
    [[nodiscard]] std::optional<Figures> tell(std::uint64_t collection, const FrontEnd::Open& item,
                                              double ended_s) {
        if (item.kind == Ending::step) return std::nullopt;
        Figures told = std::exchange(x_now, Figures{.server = x_now.server});
        told.cpu_s = core::process_cpu_s() - x_cpu_s;
        x_cpu_s += told.cpu_s;
        if (const auto begun = x_begun.extract({collection, item.file_seq}); !begun.empty())
            told.file_s = ended_s - begun.mapped();
        return told;
    }

private:
    Figures x_now;
    double x_cpu_s = core::process_cpu_s();
    std::map<std::pair<std::uint64_t, std::uint64_t>, double> x_begun;  // collection, file
};

}  // namespace tailrace::server
