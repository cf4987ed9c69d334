// SPDX-License-Identifier: Apache-2.0
// The functions behind ours, and how a call of ours goes.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "hooks/posix/real.hpp"
#include "hooks/posix/wrap.hpp"
#include "hooks/posix_profile/recorder.hpp"

namespace tailrace::hooks::posix_profile {

namespace more {
#define TAILRACE_REAL(result, name, arguments) extern posix::Real<result arguments> name;
#include "hooks/posix_profile/more_functions.def"
#undef TAILRACE_REAL
}  // namespace more

/// Makes the call, and where it is `counted` notes what it did and how long it took: the errno of
/// the call stays.
template <typename Make, typename Note>
auto timed(bool counted, Make&& make, Note&& note) {
    if (!counted) return make();
    const int64_t start = session::now();
    auto result = make();
    note(result, Took{start, session::now()});
    return result;
}

}  // namespace tailrace::hooks::posix_profile
