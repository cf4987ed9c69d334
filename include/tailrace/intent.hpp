// SPDX-License-Identifier: Apache-2.0
/// @file
/// Declaring intents in C++: tailrace/intent.h with exceptions. Library: -ltailrace_intent.
#pragma once

#include <tailrace/intent.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tailrace {

/// A declaration that was not made, and why.
class IntentError : public std::runtime_error {
public:
    explicit IntentError(int code) : std::runtime_error(tailrace_intent_error()), x_code(code) {}
    /// The number: TAILRACE_INTENT_INVALID and so on.
    int code() const noexcept { return x_code; }

private:
    int x_code;
};

/// Declares what is to be done with the files or datasets of a property list.  [local]
/// @param plist  a hid_t
/// @throws IntentError  the list is unchanged then
inline void intent_set(std::int64_t plist, const std::string& json) {
    const int code = tailrace_intent_set(plist, json.c_str());
    if (code != TAILRACE_INTENT_OK) throw IntentError(code);
}

/// What is declared on a list; empty: nothing.  [local]
/// @throws IntentError
inline std::string intent_get(std::int64_t plist) {
    std::size_t bytes = 0;
    int code = tailrace_intent_get(plist, nullptr, 0, &bytes);
    std::string json(bytes, '\0');
    if (code == TAILRACE_INTENT_OK) code = tailrace_intent_get(plist, &json[0], bytes, nullptr);
    if (code != TAILRACE_INTENT_OK) throw IntentError(code);
    json.resize(bytes - 1);  // without the zero
    return json;
}

/// Takes a declaration off a list.  [local]
/// @throws IntentError
inline void intent_clear(std::int64_t plist) {
    const int code = tailrace_intent_clear(plist);
    if (code != TAILRACE_INTENT_OK) throw IntentError(code);
}

/// Declares of files by pattern as long as it lives.
class Intents {
public:
    /// Begins to declare.  [local]
    /// @param json  as tailrace_intent_push has it
    /// @throws IntentError
    explicit Intents(const std::string& json) {
        const int code = tailrace_intent_push(json.c_str(), &x_token);
        if (code != TAILRACE_INTENT_OK) throw IntentError(code);
    }
    ~Intents() { tailrace_intent_pop(x_token); }
    Intents(const Intents&) = delete;
    Intents& operator=(const Intents&) = delete;

private:
    std::uint64_t x_token = 0;
};

}  // namespace tailrace
