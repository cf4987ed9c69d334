// SPDX-License-Identifier: Apache-2.0
// What became of a plan: one record per setting and place, counted in place.
#include <string.h>

#include <initializer_list>

#include "hooks/vol/recorder_table.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

KnownRecords<4096> known;

uint64_t add(const Outcome& outcome) {
    const char* const texts[] = {outcome.rule,    outcome.setting, outcome.file,
                                 outcome.dataset, outcome.value,   outcome.reason};
    uint64_t bytes = sizeof(spool::OutcomeRecord);
    for (const char* text : texts) bytes += strlen(text);
    const uint64_t offset = writer().add(spool::kind_outcome, bytes);
    if (offset == 0) return 0;
    auto& record = writer().at<spool::OutcomeRecord>(offset);
    record.became = outcome.became;
    put_texts(reinterpret_cast<char*>(&record + 1), texts, record.bytes, 6);
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
    const uint64_t offset = known.offset_of(hash, [&] { return add(outcome); });
    if (offset != 0) {
        ++writer().at<spool::OutcomeRecord>(offset).count;
    } else {
        writer().dropped(spool::kind_outcome);
    }
}

}  // namespace tailrace::hooks::vol::recorder
