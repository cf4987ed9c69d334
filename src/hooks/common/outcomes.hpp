// SPDX-License-Identifier: Apache-2.0
// What became of a plan: one record per setting and place, counted in place.
#pragma once

#include "hooks/common/known_records.hpp"
#include "hooks/common/spooling.hpp"

namespace tailrace::hooks {

/// What became of a setting of the plan somewhere. Texts are never nullptr.
struct Outcome {
    spool::Became became;
    const char* rule;
    const char* setting;
    const char* file;
    const char* dataset;
    const char* value;
    const char* reason;
};

/// Those of a process.
class Outcomes {
public:
    /// One more of these, in the spool of this generation; in turn only.
    void count(spool::Writer& writer, uint32_t generation, const Outcome& outcome);

private:
    KnownRecords<4096> x_known;
};

}  // namespace tailrace::hooks
