// SPDX-License-Identifier: Apache-2.0
// Making statements with the numbers they rest on. Internal to src/intent.
#pragma once

#include <string>
#include <utility>

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// Collects evidence of one layer; what is not known is left out.
class Reasons {
public:
    explicit Reasons(std::string from) : x_from(std::move(from)) {}

    Reasons& note(const std::string& name, const Count& value,
                  const std::string& unit);                           ///< [local]
    Reasons& note(const std::string& name, const Seconds& value);     ///< [local]
    Reasons& note(const std::string& name, const std::string& text);  ///< [local]
    Reasons& share(const std::string& name, double value);            ///< [local]

    /// The statement with all that was noted.  [local]
    [[nodiscard]] Statement say(std::string value, Confidence confidence) const;

private:
    std::string x_from;
    std::vector<Evidence> x_evidence;
};

/// a + b of what is known; nothing where neither is.  [local]
[[nodiscard]] Count sum(const Count& a, const Count& b);
/// From the begin of the first to the end of the last.  [local]
[[nodiscard]] std::optional<Span> cover(const std::optional<Span>& a, const std::optional<Span>& b);
/// "12.3 MiB", for the words.  [local]
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace tailrace::intent
