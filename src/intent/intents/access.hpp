// SPDX-License-Identifier: Apache-2.0
// What is done with the data of an object, and in which order of time. Internal to src/intent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// What all layers tell of an object in the same words.
struct Flow {
    std::string from;  ///< layer
    Volume volume;
    std::optional<Span> reads, writes;
    Count size_bytes;  ///< of the object, where known
    std::uint64_t processes = 0;
    ReadAfterWrite read_after_write;
    bool in_doubt = false;  ///< a part was read and written, and nobody knows which came first
    Count repeated_reads, repeated_writes;
    Count read_again,
        written_again;            ///< elements beyond the first time, where all places are known
    bool not_all_placed = false;  ///< some places are not known: they may be the same ones
};

/// write_only, read_only, read_after_write, ...  [local]
[[nodiscard]] Statement type_of(const Flow& flow);
/// write_only, read_only, read_write, none: of a type.  [local]
[[nodiscard]] Statement mode_of(const Statement& type);
/// once, re_read, rewritten, re_read_and_rewritten.  [local]
[[nodiscard]] Statement reuse_of(const Flow& flow);
/// Transfers of a dataset without those that failed, which its `calls` count too.  [local]
[[nodiscard]] Count done_of(const Transfers& transfers);
/// The same, 0 where there are none or nobody counted.  [local]
[[nodiscard]] std::uint64_t calls_done(const std::optional<Transfers>& transfers);
/// The flow of a dataset.  [local]
[[nodiscard]] Flow flow_of(const Dataset& dataset);
/// Size of a dataset in the file, without filters; nothing where it is not known.  [local]
[[nodiscard]] Count size_of(const Dataset& dataset);
/// Both flows as one: sums, and the spans that cover both.  [local]
void add(Flow& to, const Flow& flow);
/// The same of volumes.  [local]
void add(Volume& to, const Volume& volume);

}  // namespace tailrace::intent
