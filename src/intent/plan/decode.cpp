// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "intent/plan/compiled.hpp"

namespace tailrace::intent::plan {

namespace {

/// `count` records from `first` on, where they lie within `bytes` and begin at a multiple of 8.
template <class T>
bool part(std::span<const std::byte> bytes, std::uint32_t first, std::uint32_t count,
          std::span<const T>& out) noexcept {
    if (first > bytes.size() || first % alignof(T) != 0) return false;
    if (count > (bytes.size() - first) / sizeof(T)) return false;
    out = {reinterpret_cast<const T*>(bytes.data() + first), count};  // NOLINT
    return true;
}

bool within(std::uint32_t first, std::uint32_t count, std::size_t size) noexcept {
    return first <= size && count <= size - first;
}

bool good_text(TextPlace place, std::span<const char> texts) noexcept {
    return within(place.offset, place.length, texts.size()) &&
           place.offset + std::size_t{place.length} < texts.size() &&
           texts[place.offset + std::size_t{place.length}] == '\0' &&
           std::find(texts.begin() + place.offset, texts.begin() + place.offset + place.length,
                     '\0') == texts.begin() + place.offset + place.length;
}

bool good_setting(const PlanSetting& one, std::size_t numbers, std::span<const char> texts) {
    if (one.key >= static_cast<std::uint16_t>(Key::count_of_keys) ||
        one.function >= static_cast<std::uint16_t>(Function::count_of_functions) ||
        one.cls >= static_cast<std::uint16_t>(Class::advice))
        return false;
    const KeyInfo& info = keys()[one.key];
    if (one.shape != static_cast<std::uint16_t>(info.shape)) return false;
    if (!within(one.first_number, one.numbers, numbers)) return false;
    if (one.function != 0) {
        const FunctionInfo& function = functions()[one.function];
        std::size_t wanted = 0;
        for (const std::string_view& name : function.numbers) wanted += name.empty() ? 0 : 1;
        const bool fits = function.extents
                              ? one.numbers > wanted && one.numbers <= wanted + most_dimensions
                              : one.numbers == wanted;
        if (!fits || function.result != info.shape) return false;
    } else if (info.shape == Shape::extents &&
               (one.numbers == 0 || one.numbers > most_dimensions)) {
        return false;
    }
    return good_text(one.name, texts) && good_text(one.text, texts) && good_text(one.rule, texts);
}

Value in_range(const KeyInfo& info, Value value, double number) noexcept {
    if (!(number >= info.low && number <= info.high)) value.state = Value::State::out_of_range;
    return value;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t place = offsetof(PlanHeader, checksum);
    std::uint64_t sum = 0xcbf29ce484222325U;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool itself = at >= place && at < place + sizeof(std::uint64_t);
        sum = (sum ^ (itself ? 0U : std::to_integer<std::uint64_t>(bytes[at]))) * 0x100000001b3U;
    }
    return sum;
}

PlanView PlanView::decode(std::span<const std::byte> bytes, std::string_view& problem) noexcept {
    problem = {};
    const auto fails = [&](std::string_view why) {
        problem = why;
        return PlanView{};
    };
    PlanHeader header{};
    if (bytes.size() < sizeof header) return fails("it is too short for a plan");
    if (bytes.size() > largest_plan) return fails("it is longer than 512 KiB");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0)  // NOLINT
        return fails("it does not lie at a multiple of 8 bytes");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != plan_magic)
        return fails("this is no compiled plan, or one of another version");
    if (header.order != native_order)
        return fails("it was made on a machine of another byte order");
    if (header.bytes != bytes.size()) return fails("it is truncated, or something follows it");
    if (header.checksum != checksum_of(bytes)) return fails("it is damaged");
    PlanView view;
    std::span<const char> texts;
    if (!part(bytes, header.first_entry, header.entries, view.x_entries) ||
        !part(bytes, header.first_setting, header.settings, view.x_settings) ||
        !part(bytes, header.first_number, header.numbers, view.x_numbers) ||
        !part(bytes, header.first_text, header.texts, texts))
        return fails("a part of it lies outside of it");
    view.x_texts = texts;
    for (const PlanSetting& one : view.x_settings)
        if (!good_setting(one, view.x_numbers.size(), texts))
            return fails("a setting in it is damaged");
    for (const PlanEntry& entry : view.x_entries)
        if (!within(entry.first_setting, entry.settings, view.x_settings.size()) ||
            !good_text(entry.file, texts) || !good_text(entry.dataset, texts) || entry.when > 2)
            return fails("an entry in it is damaged");
    view.x_hash = {
        reinterpret_cast<const char*>(bytes.data()) + offsetof(PlanHeader, hash),  // NOLINT
        sizeof header.hash};
    return view;
}

Value value_of(const PlanView& plan, const PlanSetting& setting,
               const Surroundings& around) noexcept {
    const KeyInfo& info = keys()[setting.key];
    const std::span<const std::uint64_t> numbers = plan.numbers(setting);
    Value value;
    if (setting.function != 0) {
        const FunctionInfo& function = functions()[setting.function];
        std::size_t arguments = 0;
        for (const std::string_view& name : function.numbers) arguments += name.empty() ? 0 : 1;
        value = evaluate(function.function, numbers.first(arguments), numbers.subspan(arguments),
                         around);
        if (value.state == Value::State::good && info.shape == Shape::number)
            value = in_range(info, value, static_cast<double>(value.number));
        return value;
    }
    switch (info.shape) {
        case Shape::extents:
            return literal_chunk(numbers, around);
        case Shape::number:
            value.number = setting.number;
            value.state = Value::State::good;
            return in_range(info, value, static_cast<double>(value.number));
        case Shape::real:
            value.number = setting.number;
            value.state = Value::State::good;
            return in_range(info, value, std::bit_cast<double>(value.number));
        case Shape::flag:
            value.number = setting.number != 0 ? 1 : 0;
            break;
        case Shape::word:
            if (info.key != Key::hint && !is_word(info, plan.text(setting.text))) {
                value.state = Value::State::out_of_range;
                return value;
            }
            break;
    }
    value.state = Value::State::good;
    return value;
}

}  // namespace tailrace::intent::plan
