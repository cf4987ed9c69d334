// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/outcomes.hpp"

#include <string.h>

#include <initializer_list>

namespace tailrace::hooks {
namespace {

uint64_t add(spool::Writer& writer, const Outcome& outcome) {
    const char* const texts[] = {outcome.rule,    outcome.setting, outcome.file,
                                 outcome.dataset, outcome.value,   outcome.reason};
    uint64_t bytes = sizeof(spool::OutcomeRecord);
    for (const char* text : texts) bytes += strlen(text);
    const uint64_t offset = writer.add(spool::kind_outcome, bytes);
    if (offset == 0) return 0;
    auto& record = writer.at<spool::OutcomeRecord>(offset);
    record.became = outcome.became;
    put_texts(reinterpret_cast<char*>(&record + 1), texts, record.bytes, 6);
    return offset;
}

}  // namespace

void Outcomes::count(spool::Writer& writer, uint32_t generation, const Outcome& outcome) {
    uint64_t hash = outcome.became;
    for (const char* text : {outcome.rule, outcome.setting, outcome.file, outcome.dataset,
                             outcome.value, outcome.reason}) {
        hash = spooling::mixed(hash, spooling::hash_of(text));
    }
    const uint64_t offset =
        x_known.offset_of(hash, generation, [&] { return add(writer, outcome); });
    if (offset != 0) {
        ++writer.at<spool::OutcomeRecord>(offset).count;
    } else {
        writer.dropped(spool::kind_outcome);
    }
}

}  // namespace tailrace::hooks
