// SPDX-License-Identifier: Apache-2.0
// Declarations as JSON: on a property list
//   {"reliability": "scratch", "datasets": {"/rho*": {"order": "strided"}}}
// and of files by pattern, schema tailrace-declarations/1
//   {"files": {"chk_*.h5": {"reliability": "recomputable"}}}
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "intent/declare/keys.hpp"
#include "intent/profile/model.hpp"

namespace tailrace::intent::declare {

/// Keys and values, checked; yes and no are words.
using Values = Settings;

struct OfDatasets {
    std::string pattern;
    Values values;
};
struct OfFile {
    Values values;
    std::vector<OfDatasets> datasets;
};
struct OfFiles {
    std::string pattern;
    OfFile of;
};
struct Document {
    std::vector<OfFiles> files;
};

/// What a text that goes on a property list declares.  [local]
/// @param of    Of::dataset: on a list of a dataset, which knows of no other datasets
/// @param where for messages
/// @throws Error{bad_input | unknown_key} with the place, and the nearest key or word
[[nodiscard]] OfFile list_from_json(std::string_view text, Of of, const std::string& where,
                                    std::size_t most = most_list_bytes);
/// The same as a text of one line, always the same for the same declarations.  [local]
[[nodiscard]] std::string list_text(const OfFile& of);
/// What a file of declarations says.  [local]
/// @throws Error{bad_input | unknown_key} with the place
[[nodiscard]] Document document_from_json(std::string_view text, const std::string& where);
/// The same as a text of one line.  [local]
[[nodiscard]] std::string document_text(const Document& document);
/// The text that stands in schemas/declarations-1.schema.json.  [local]
[[nodiscard]] std::string declarations_schema();
/// Values that stand in a profile.  [local]
/// @throws Error{bad_input | unknown_key} with the place
void check(const Values& values, Of of, const std::string& where, const std::string& place);

}  // namespace tailrace::intent::declare
