// SPDX-License-Identifier: Apache-2.0
// What became of a plan: one record per setting and place, counted in place.
#include <string.h>

#include <initializer_list>

#include "hooks/vol/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

constexpr unsigned most_outcomes = 4096;
struct Known {
    uint64_t hash;
    uint64_t offset;  ///< in the spool of `generation`; 0: there was no room
    uint32_t generation;
};
Known known[most_outcomes];
unsigned used = 0;

/// The slot of a hash, or where it would go; nullptr where the table is full.
Known* slot_of(uint64_t hash) {
    for (unsigned step = 0; step < most_outcomes; ++step) {
        Known& one = known[(hash + step) % most_outcomes];
        if (one.hash == hash) return &one;
        if (one.hash != 0) continue;
        if (used >= most_outcomes * 3 / 4) return nullptr;
        ++used;
        one.hash = hash;
        one.generation = generation() - 1;
        return &one;
    }
    return nullptr;
}

uint64_t add(const Outcome& outcome) {
    const char* const texts[] = {outcome.rule,    outcome.setting, outcome.file,
                                 outcome.dataset, outcome.value,   outcome.reason};
    uint64_t bytes = sizeof(spool::OutcomeRecord);
    for (const char* text : texts) bytes += strlen(text);
    const uint64_t offset = writer().add(spool::kind_outcome, bytes);
    if (offset == 0) return 0;
    auto& record = writer().at<spool::OutcomeRecord>(offset);
    record.became = outcome.became;
    auto* to = reinterpret_cast<char*>(&record + 1);
    for (unsigned part = 0; part < 6; ++part) {
        const size_t length = strlen(texts[part]);
        record.bytes[part] = static_cast<uint32_t>(length);
        memcpy(to, texts[part], length);
        to += length;
    }
    return offset;
}

}  // namespace

void outcome(const Outcome& outcome) {
    const Turn turn(true);
    if (!turn) return;
    uint64_t hash = outcome.became;
    for (const char* text : {outcome.rule, outcome.setting, outcome.file, outcome.dataset,
                             outcome.value, outcome.reason}) {
        hash = mixed(hash, hash_of(text));
    }
    if (hash == 0) hash = 1;
    Known* at = slot_of(hash);
    if (at == nullptr) {
        writer().dropped(spool::kind_outcome);
        return;
    }
    if (at->generation != generation()) {
        at->generation = generation();
        at->offset = add(outcome);
    }
    if (at->offset != 0) {
        ++writer().at<spool::OutcomeRecord>(at->offset).count;
    } else {
        writer().dropped(spool::kind_outcome);
    }
}

}  // namespace tailrace::hooks::vol::recorder
