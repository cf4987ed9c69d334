// SPDX-License-Identifier: Apache-2.0
// What became of a plan.
#include "hooks/vol/record/recorder_state.hpp"

namespace tailrace::hooks::vol::recorder {
namespace {

Outcomes outcomes;

}  // namespace

void outcome(const Outcome& outcome) {
    const Turn turn(true);
    if (turn) outcomes.count(writer(), generation(), outcome);
}

}  // namespace tailrace::hooks::vol::recorder
