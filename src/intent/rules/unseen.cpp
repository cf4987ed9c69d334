// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/unseen.hpp"

#include "intent/profile/unseen.hpp"

namespace tailrace::intent::rules {

std::optional<Held> unseen_transfers(const Subject& s) {
    if (reads_virtual(s.profile))
        return Held{Guard::reads,
                    "virtual datasets are read, and this may be one of their sources"};
    if (!incomplete(s.profile.origin)) return std::nullopt;
    if (s.profile.origin.kind == OriginKind::darshan)
        return Held{Guard::reads, "the log is not complete, and it may have lost reads of this"};
    return Held{Guard::reads,
                "the profile is not complete, and it may have lost reads of this "
                "(`tailrace profile --spool-mib` gives it more room)"};
}

}  // namespace tailrace::intent::rules
