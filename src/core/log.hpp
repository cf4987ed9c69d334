// SPDX-License-Identifier: Apache-2.0
// Messages of the library for whoever listens. Without a listener they are dropped: a library
// writes to no stream of its own.
#pragma once

#include <functional>
#include <string_view>

namespace tailrace::core {

enum class LogLevel { debug, info, warning };

/// "debug", "info" or "warning".  [local]
[[nodiscard]] std::string_view name(LogLevel level) noexcept;

using LogListener = std::function<void(LogLevel, std::string_view)>;

/// Sets who hears messages of at least `lowest`; an empty listener ends it. Not thread-safe: call
/// it at the start of main, on the ranks that print.  [local]
void set_log_listener(LogListener listener, LogLevel lowest = LogLevel::info);

/// Tells the listener, if any. Never throws.  [local]
void log(LogLevel level, std::string_view message) noexcept;

}  // namespace tailrace::core
