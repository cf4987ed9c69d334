// SPDX-License-Identifier: Apache-2.0
// Apart from context.cpp, so that a new commit compiles these lines only.
#include "core/context.hpp"
#include "core/version_info.hpp"

namespace tailrace::core {

std::string_view version() noexcept { return TAILRACE_VERSION_TEXT; }

std::string_view commit() noexcept { return TAILRACE_COMMIT_TEXT; }

std::string_view compiler() noexcept {
#if defined(__clang__)
    return "Clang " __clang_version__;
#elif defined(__GNUC__)
    return "GCC " __VERSION__;
#else
    return "unknown";
#endif
}

}  // namespace tailrace::core
