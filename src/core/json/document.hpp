// SPDX-License-Identifier: Apache-2.0
// Reading a JSON document of ours: its schema is checked first, and every error names the place.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tailrace::json {

using Json = nlohmann::ordered_json;

/// What kind of document a reader wants, for its messages.
struct Kind {
    std::string_view schema;  ///< "tailrace-profile/1"
    std::string_view noun;    ///< "profile"
    std::string_view remedy;  ///< how to get one
    bool by_hand = false;     ///< people write it: a key that stands there twice is a mistake
};

/// The document in `text`, whose key "schema" is `kind.schema`.  [local]
/// @param where  file name for messages
/// @throws Error{Code::bad_input} where it is no JSON, is of a foreign or a newer schema
[[nodiscard]] Json parse(std::string_view text, const std::string& where, const Kind& kind);
/// The object in `text`, of whatever schema.  [local]
/// @throws Error{Code::bad_input} where it is no JSON, or no object
[[nodiscard]] Json parse_object(std::string_view text, const std::string& where, const Kind& kind);
/// An error at a place of the document ("profile.json: files[3].posix.opens").  [local]
[[nodiscard]] core::Error error_at(const std::string& where, const std::string& place,
                                   const std::string& message, const std::string& remedy = {});
/// The error for a key that is not among `known`, with "did you mean".  [local]
[[nodiscard]] core::Error unknown_key(const std::string& where, const std::string& place,
                                      const std::string& key,
                                      const std::vector<std::string>& known);
/// "a text", "an object", ...: what a value is.  [local]
[[nodiscard]] std::string kind_of(const Json& value);
/// The document as text, one blank per level, with a line end; damaged letters replaced.  [local]
[[nodiscard]] std::string text_of(const Json& document);

}  // namespace tailrace::json
