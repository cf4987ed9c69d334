// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <utility>

namespace tailrace::core {

namespace {

struct Listening {
    LogListener listener;
    LogLevel lowest = LogLevel::info;
};

Listening& listening() {
    static Listening state;
    return state;
}

}  // namespace

std::string_view name(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warning:
            break;
    }
    return "warning";
}

void set_log_listener(LogListener listener, LogLevel lowest) {
    listening() = {std::move(listener), lowest};
}

void log(LogLevel level, std::string_view message) noexcept {
    try {
        if (listening().listener && level >= listening().lowest)
            listening().listener(level, message);
    } catch (...) {
        // A message that cannot be shown must not end a run.
    }
}

}  // namespace tailrace::core
