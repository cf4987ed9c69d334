// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/declared.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "intent/declare/into_profile.hpp"
#include "intent/intents/access.hpp"
#include "intent/intents/derive.hpp"

namespace tailrace::intent {

namespace {

/// The declarations of one key from the strongest of its sources.
struct Said {
    std::size_t strength = 0;
    std::vector<Setting> values;
    std::string from;
};

std::map<std::string, Said> strongest(const std::vector<Declared>& declared) {
    std::map<std::string, Said> all;
    for (const Declared& one : declared) {
        const std::size_t strength = declare::strength_of(one.from);
        for (const auto& [name, value] : one.intents) {
            Said& said = all[name];
            if (!said.values.empty() && strength < said.strength) continue;
            if (strength > said.strength) said.values.clear();
            said.strength = strength;
            said.from = one.from;
            if (std::find(said.values.begin(), said.values.end(), value) == said.values.end())
                said.values.push_back(value);
        }
    }
    return all;
}

std::string text_of(const Setting& value) {
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    return {};
}

/// Of several the last; of reliabilities the most careful.
Setting chosen(const std::string& name, const std::vector<Setting>& values) {
    if (name != "reliability") return values.back();
    return *std::max_element(values.begin(), values.end(), [](const Setting& a, const Setting& b) {
        return more_careful(text_of(b), text_of(a));
    });
}

std::optional<std::string> also_declared(const std::vector<Setting>& values) {
    if (values.size() < 2) return std::nullopt;
    std::string text;
    for (const Setting& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
    return "declared differently at different times or in different processes: " + text;
}

template <class T>
Statement T::*member_of(std::string_view name) {
    const std::array<std::pair<std::string_view, Statement T::*>, 9> both{{
        {"type", &T::type},
        {"append", &T::append},
        {"reuse", &T::reuse},
        {"order", &T::order},
        {"sharing_pattern", &T::sharing_pattern},
        {"how_shared", &T::how_shared},
        {"collective", &T::collective},
        {"producer_consumer", &T::producer_consumer},
        {"reliability", &T::reliability},
    }};
    for (const auto& [key, member] : both)
        if (key == name) return member;
    if constexpr (std::is_same_v<T, FileIntent>) {
        if (name == "metadata_dominated") return &T::metadata_dominated;
    } else {
        if (name == "full_coverage") return &T::full_coverage;
    }
    return nullptr;
}

void put(Statement& statement, const std::string& word, const std::string& from) {
    std::vector<Evidence> evidence{{"declared", word, "", from, 0}};
    if (statement.value != "not known")
        evidence.push_back({"derived", statement.value, "", "run", 0});
    evidence.insert(evidence.end(), statement.evidence.begin(), statement.evidence.end());
    statement.value = word;
    statement.confidence = Confidence::full;
    statement.evidence = std::move(evidence);
}

template <class T>
std::optional<std::string> take_number(T& intent, const std::string& name, std::uint64_t number,
                                       const std::string& from) {
    if (name == "size_bytes") {
        Count seen;
        if (intent.fs_size && !(intent.fs_size->at_least && number >= intent.fs_size->bytes))
            seen = intent.fs_size->bytes;
        intent.fs_size = Amount{number, "declared: " + from, {}};
        return against("its size is", number, seen);
    }
    if (name == "transfer_bytes")
        return against("most transfers have", number,
                       intent.transfer_size_dist.empty()
                           ? Count{}
                           : Count{intent.transfer_size_dist.front().bytes});
    if constexpr (std::is_same_v<T, DatasetIntent>) {
        const Count seen = std::exchange(intent.sequence, number);
        if (seen && *seen != number)
            return "the profile says it was number " + std::to_string(*seen);
    }
    return std::nullopt;
}

/// A producer that only reads, a consumer that only writes: one run's type tells.
std::optional<std::string> against_type(const std::string& word, const Statement& type) {
    if (word == "producer" && type.value == "read_only") return against("type", "write_only", type);
    if (word == "consumer" && type.value == "write_only") return against("type", "read_only", type);
    return std::nullopt;
}

template <class T>
void hold(T& intent, const T& other) {
    for (DeclaredIntent& one : intent.declared) {
        const auto member = member_of<T>(one.name);
        if (one.contradiction || member == nullptr) continue;
        const Statement& seen = other.*member;
        if (seen.confidence != Confidence::full)
            one.contradiction = against(one.name, text_of(one.value), seen);
    }
}

template <class T>
void take(T& intent, const std::vector<Declared>& declared) {
    for (const auto& [name, said] : strongest(declared)) {
        const Setting value = chosen(name, said.values);
        std::optional<std::string> contradiction;
        if (const auto* number = std::get_if<std::uint64_t>(&value))
            contradiction = take_number(intent, name, *number, said.from);
        if (const auto member = member_of<T>(name)) {
            Statement& statement = intent.*member;
            // What the program itself has said of the file is no word of the profile.
            if (statement.confidence != Confidence::full)
                contradiction = against(name, text_of(value), statement);
            if (name == "producer_consumer")
                contradiction = against_type(text_of(value), intent.type);
            put(statement, text_of(value), said.from);
        }
        if (!contradiction) contradiction = also_declared(said.values);
        if (name == "type") intent.mode = mode_of(intent.type);
        intent.declared.push_back({name, value, said.from, 0, contradiction});
    }
}

}  // namespace

void declare_of(std::vector<NamedProfile>& profiles,
                const std::vector<std::pair<std::string, std::string>>& documents) {
    for (const auto& [name, text] : documents) {
        const declare::Document document = declare::document_from_json(text, name);
        std::vector<const File*> files;  // one that some profile has is no mistake
        for (NamedProfile& one : profiles) {
            (void)declare::declare(one.profile, document, declare::from_command_line);
            for (const File& file : one.profile.files) files.push_back(&file);
        }
        for (std::string& one : declare::unmatched(document, files))
            profiles.front().profile.origin.notes.push_back(std::move(one));
    }
}

void take_declared(FileIntent& intent, const std::vector<Declared>& declared) {
    take(intent, declared);
}

void take_declared(DatasetIntent& intent, const std::vector<Declared>& declared) {
    take(intent, declared);
}

bool more_careful(std::string_view a, std::string_view b) {
    constexpr std::array<std::string_view, 3> words{"scratch", "recomputable", "durable"};
    const auto care = [&words](std::string_view word) {
        return std::find(words.begin(), words.end(), word) - words.begin();
    };
    // What nobody has said is no word.
    return care(a) > care(b) && care(a) < std::ssize(words);
}

void take_careful(FileIntent& file, const DatasetIntent& dataset) {
    if (dataset.reliability.confidence != Confidence::full) return;
    if (more_careful(dataset.reliability.value, file.reliability.value))
        file.reliability = dataset.reliability;
}

void take_most_careful(FileIntent& file, std::uint64_t lost) {
    if (file.reliability.value == "durable") return;
    file.reliability.evidence.push_back({declarations_not_kept, lost, "declarations", "run", 0});
    file.reliability.value = "durable";
    file.reliability.confidence = Confidence::low;
}

void hold_against(FileIntent& intent, const FileIntent& other) { hold(intent, other); }

void hold_against(DatasetIntent& intent, const DatasetIntent& other) { hold(intent, other); }

}  // namespace tailrace::intent
