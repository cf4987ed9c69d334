// SPDX-License-Identifier: Apache-2.0
#include "core/sink.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace tailrace::core {

void Sink::write_encoded(std::span<const EncodedChunk> chunks) {
    if (chunks.empty()) return;
    throw Error(Code::wrong_call, "this format cannot store chunks that were compressed elsewhere",
                "", "ask can().encoded_chunks first, or write() the elements");
}

void FileReport::join(FileReport&& next) {
    if (path.empty()) {
        *this = std::move(next);
        return;
    }
    parts.insert(parts.end(), next.parts.begin(), next.parts.end());
    bytes_logical += next.bytes_logical;
    bytes_stored += next.bytes_stored;
    bytes_allocated += next.bytes_allocated;
    for (std::size_t i = 0; i < std::min(writers.size(), next.writers.size()); ++i) {
        writers[i].total += next.writers[i].total;
        for (const auto& [phase, tally] : next.writers[i].by_phase)
            writers[i].by_phase[phase] += tally;
    }
    writers_measured = writers_measured && next.writers_measured;
    durable = durable && next.durable;
    reserved = reserved && next.reserved;
    if (data_collective != next.data_collective) data_collective.reset();
}

}  // namespace tailrace::core
