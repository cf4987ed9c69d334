// SPDX-License-Identifier: Apache-2.0
// What reads gave: one record per file and dataset.
#include <stdlib.h>

#include "hooks/common/known_records.hpp"
#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

KnownRecords<16384> known;
int asked = -1;

uint64_t add(const Delivered& delivered) {
    const char* const texts[] = {delivered.file, delivered.dataset};
    const uint64_t offset =
        writer().add(spool::kind_delivered,
                     sizeof(spool::DeliveredRecord) + strlen(texts[0]) + strlen(texts[1]));
    if (offset == 0) return 0;
    auto& record = writer().at<spool::DeliveredRecord>(offset);
    put_texts(reinterpret_cast<char*>(&record + 1), texts, record.text_bytes, 2);
    return offset;
}

}  // namespace

bool hashing() {
    if (asked < 0) {
        const char* value = getenv("TAILRACE_DELIVERED");  // NOLINT(concurrency-mt-unsafe)
        asked = value != nullptr && strcmp(value, "1") == 0 && applying() ? 1 : 0;
    }
    return asked == 1;
}

void delivered(const Delivered& delivered) {
    const Turn turn(true);
    if (!turn) return;
    const uint64_t hash = mixed(hash_of(delivered.file), hash_of(delivered.dataset));
    const uint64_t offset = known.offset_of(hash, generation(), [&] { return add(delivered); });
    if (offset == 0) {
        writer().dropped(spool::kind_delivered);
        return;
    }
    auto& record = writer().at<spool::DeliveredRecord>(offset);
    ++record.calls;
    record.bytes += delivered.bytes;
    record.sum += delivered.hash;
    if (!delivered.hashed) ++record.not_hashed;
}

}  // namespace tailrace::hooks::vol::recorder
