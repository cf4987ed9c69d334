// SPDX-License-Identifier: Apache-2.0
// What programs declared, out of the spools. Texts come from foreign processes: none is trusted.
#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "intent/declare/into_profile.hpp"
#include "intent/declare/match.hpp"
#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {

namespace {

using declare::Of;
constexpr std::size_t most = declare::most_document_bytes;  // of blocks, several of them in one

const char* source_of(DeclaredBy by) {
    switch (by) {
        case declared_on_list:
            return declare::from_list;
        case declared_in_context:
            return declare::from_context;
        case declared_in_file:
            return declare::from_file;
        default:
            return declare::from_environment;
    }
}

void note(std::vector<std::string>& notes, const core::Error& error) {
    std::string text = "a declaration is left out: " + error.where() + ": " + error.message();
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

/// The name and the text of what the environment declared.
std::pair<std::string, std::string> named(const DecodedDeclared& one) {
    const std::size_t zero = one.by == declared_in_file ? one.text.find('\0') : std::string::npos;
    if (zero == std::string::npos) return {"TAILRACE_INTENTS", one.text};
    return {one.text.substr(0, zero), one.text.substr(zero + 1)};
}

}  // namespace

void add_declared(File& made, const std::vector<Part<DecodedFile>>& parts,
                  std::vector<std::string>& notes) {
    for (const auto& part : parts)
        for (const DecodedDeclared& one : part.record->declared) try {
                declare::add(made, declare::list_from_json(one.text, Of::file, made.path, most),
                             source_of(one.by), ProcessSet(part.member.id, part.member.id));
            } catch (const core::Error& error) {
                note(notes, error);
            }
}

void add_declared(Dataset& made, const std::vector<Part<DecodedDataset>>& parts,
                  std::vector<std::string>& notes) {
    for (const auto& part : parts)
        for (const DecodedDeclared& one : part.record->declared) try {
                declare::add(made,
                             declare::list_from_json(one.text, Of::dataset, made.path, most).values,
                             source_of(one.by), ProcessSet(part.member.id, part.member.id));
            } catch (const core::Error& error) {
                note(notes, error);
            }
}

void add_declared(Profile& profile, const std::vector<Part<Spool>>& members) {
    std::map<std::pair<DeclaredBy, std::string>, ProcessSet> all;
    for (const auto& part : members)
        for (const DecodedDeclared& one : part.record->declared)
            all[{one.by, one.text}].add(part.member.id);
    for (const auto& [declared, processes] : all) try {
            const auto [name, text] = named({declared.first, declared.second});
            for (std::string& problem :
                 declare::declare(profile, declare::document_from_json(text, name),
                                  source_of(declared.first), processes))
                profile.origin.notes.push_back(std::move(problem));
        } catch (const core::Error& error) {
            note(profile.origin.notes, error);
        }
}

}  // namespace tailrace::intent::spool
