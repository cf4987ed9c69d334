// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/compile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "intent/plan/check.hpp"
#include "intent/plan/compiled.hpp"

namespace tailrace::intent::plan {

namespace {

bool is_pattern(const std::string& text) {
    return text.find_first_of("*?[\\") != std::string::npos;
}

/// Characters of a pattern that stand for themselves.
std::uint32_t literal(const std::string& pattern) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '[') {
            const std::size_t end = pattern.find(']', i + 2);
            if (end != std::string::npos) i = end;
        } else if (pattern[i] != '*' && pattern[i] != '?' && pattern[i] != '\\') {
            ++count;
        }
    }
    return count;
}

class Compiler {
public:
    /// @param shares  entries with the same settings have one list of them
    explicit Compiler(bool shares) : x_shares(shares) {}

    void add(const Entry& entry) {
        PlanEntry one{};
        one.file = text(entry.file);
        one.dataset = text(entry.dataset);
        one.first_setting = settings_of(entry);
        one.settings = static_cast<std::uint32_t>(entry.settings.size());
        one.literal_file = literal(entry.file);
        one.literal_dataset = literal(entry.dataset);
        one.when = static_cast<std::uint16_t>(entry.when);
        one.name_only = entry.file.find('/') == std::string::npos ? 1 : 0;
        one.exact_file = is_pattern(entry.file) ? 0 : 1;
        one.exact_dataset = is_pattern(entry.dataset) ? 0 : 1;
        x_entries.push_back(one);
    }

    /// A variable counts for the hash, and is for the launcher only.
    void add(const Variable& variable) {
        text(variable.name);
        text(variable.value);
        // Without proof it may not come in: nor by a change of the class.
        if (variable.cls == Class::collective) text("collective");
    }

    [[nodiscard]] std::vector<std::byte> bytes(const Hasher& hasher) const {
        PlanHeader header{};
        header.magic = plan_magic;
        header.order = native_order;
        std::vector<std::byte> all(sizeof header);
        const auto place = [&](const auto& records, std::uint32_t& first, std::uint32_t& count) {
            first = static_cast<std::uint32_t>(all.size());
            count = static_cast<std::uint32_t>(records.size());
            const auto part = std::as_bytes(std::span(records));
            all.insert(all.end(), part.begin(), part.end());
        };
        place(x_entries, header.first_entry, header.entries);
        place(x_settings, header.first_setting, header.settings);
        place(x_numbers, header.first_number, header.numbers);
        place(x_texts, header.first_text, header.texts);
        header.bytes = static_cast<std::uint32_t>(all.size());
        if (hasher) {
            const std::string hash = hasher(std::span(all).subspan(sizeof header));
            std::copy_n(hash.begin(), std::min(hash.size(), header.hash.size()),
                        header.hash.begin());
        }
        std::memcpy(all.data(), &header, sizeof header);
        header.checksum = checksum_of(all);
        std::memcpy(all.data(), &header, sizeof header);
        return all;
    }

private:
    /// The first of them.
    std::uint32_t settings_of(const Entry& entry) {
        const std::size_t first = x_settings.size(), first_number = x_numbers.size();
        for (const Planned& setting : entry.settings) add(setting);
        if (!x_shares) return static_cast<std::uint32_t>(first);
        std::vector<PlanSetting> list(x_settings.begin() + static_cast<std::ptrdiff_t>(first),
                                      x_settings.end());
        for (PlanSetting& one : list) one.first_number -= static_cast<std::uint32_t>(first_number);
        std::string said(reinterpret_cast<const char*>(list.data()),  // NOLINT
                         list.size() * sizeof(PlanSetting));
        said.append(reinterpret_cast<const char*>(x_numbers.data() + first_number),  // NOLINT
                    (x_numbers.size() - first_number) * sizeof(std::uint64_t));
        const auto [found, added] =
            x_lists.try_emplace(std::move(said), static_cast<std::uint32_t>(first));
        if (!added) {
            x_settings.resize(first);
            x_numbers.resize(first_number);
        }
        return found->second;
    }

    TextPlace text(const std::string& value) {
        const auto [found, added] =
            x_places.try_emplace(value, static_cast<std::uint32_t>(x_texts.size()));
        if (added) x_texts.insert(x_texts.end(), value.c_str(), value.c_str() + value.size() + 1);
        return {found->second, static_cast<std::uint32_t>(value.size())};
    }

    void add(const Planned& setting) {
        const KeyInfo& info = *find_key(setting.key);
        PlanSetting one{};
        one.key = static_cast<std::uint16_t>(info.key);
        one.shape = static_cast<std::uint16_t>(info.shape);
        one.cls = static_cast<std::uint16_t>(setting.cls);
        one.rule = text(setting.because.rule);
        one.ranks = setting.ranks.value_or(0);
        one.name = text(info.key == Key::hint ? setting.key.substr(hint_prefix.size()) : "");
        one.text = text("");
        one.first_number = static_cast<std::uint32_t>(x_numbers.size());
        if (setting.function) {
            add(*setting.function, one);
        } else if (const auto* flag = std::get_if<bool>(&*setting.value)) {
            one.number = *flag ? 1 : 0;
        } else if (const auto* number = std::get_if<std::uint64_t>(&*setting.value)) {
            one.number = info.shape == Shape::real
                             ? std::bit_cast<std::uint64_t>(static_cast<double>(*number))
                             : *number;
        } else if (const auto* real = std::get_if<double>(&*setting.value)) {
            one.number = std::bit_cast<std::uint64_t>(*real);
        } else if (const auto* word = std::get_if<std::string>(&*setting.value)) {
            one.text = text(*word);
        } else {
            const auto& extents = std::get<Extents>(*setting.value);
            x_numbers.insert(x_numbers.end(), extents.begin(), extents.end());
        }
        one.numbers = static_cast<std::uint32_t>(x_numbers.size()) - one.first_number;
        x_settings.push_back(one);
    }

    void add(const Call& call, PlanSetting& one) {
        const FunctionInfo& function = *find_function(call.name);
        one.function = static_cast<std::uint16_t>(function.function);
        for (const std::string_view& name : function.numbers)
            if (!name.empty()) x_numbers.push_back(call.numbers.at(std::string(name)));
        x_numbers.insert(x_numbers.end(), call.extents.begin(), call.extents.end());
    }

    std::vector<PlanEntry> x_entries;
    std::vector<PlanSetting> x_settings;
    std::vector<std::uint64_t> x_numbers;
    std::vector<char> x_texts;
    std::map<std::string, std::uint32_t> x_places, x_lists;
    bool x_shares;
};

std::vector<std::byte> flat(const Plan& plan, const Hasher& hasher, bool shares) {
    Compiler compiler(shares);
    for (const Entry& entry : plan.entries) compiler.add(entry);
    for (const Variable& variable : plan.environment) compiler.add(variable);
    return compiler.bytes(hasher);
}

/// Only a plan that is too large without shares lists: the hash of others stays as it was.
std::vector<std::byte> flat(const Plan& plan, const Hasher& hasher) {
    std::vector<std::byte> whole = flat(plan, hasher, false);
    return whole.size() > largest_advised ? flat(plan, hasher, true) : whole;
}

}  // namespace

std::vector<std::byte> compile(const Plan& plan, const std::string& where, const Hasher& hasher) {
    check(plan, where);
    std::vector<std::byte> bytes = flat(plan, hasher);
    if (bytes.size() > largest_plan)
        throw core::Error(core::Code::bad_input,
                          "the plan has " + std::to_string(plan.entries.size()) + " entries, " +
                              std::to_string(bytes.size()) + " bytes when compiled, and may have " +
                              std::to_string(largest_plan),
                          where, "take out entries, or join them by patterns");
    return bytes;
}

std::size_t compiled_bytes(const Plan& plan) { return flat(plan, {}).size(); }

std::string hash_of(const Plan& plan, const std::string& where, const Hasher& hasher) {
    const std::vector<std::byte> bytes = compile(plan, where, hasher);
    PlanHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    return {header.hash.data(), header.hash.size()};
}

}  // namespace tailrace::intent::plan
