// SPDX-License-Identifier: Apache-2.0
#include "server/metadata/check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <type_traits>

#include "core/config.hpp"

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> elements{{{"int8", 1},
                                                                              {"int16", 2},
                                                                              {"int32", 4},
                                                                              {"int64", 8},
                                                                              {"real32", 4},
                                                                              {"real64", 8},
                                                                              {"char", 1}}};
constexpr std::array<std::string_view, 4> quantize_names{"none", "bitgroom", "granularbr",
                                                         "bitround"};
constexpr std::size_t longest_name = 256;  // NC_MAX_NAME

bool is_real(Element type) { return type == Element::real32 || type == Element::real64; }

bool fits(Element type, std::int64_t value) {
    switch (type) {
        case Element::int8:
        case Element::character:
            return std::in_range<std::int8_t>(value);
        case Element::int16:
            return std::in_range<std::int16_t>(value);
        case Element::int32:
            return std::in_range<std::int32_t>(value);
        default:
            return true;
    }
}

void check_quantize(const Variable& variable, const std::string& where) {
    const Storage& storage = variable.storage;
    if (storage.quantize == Quantize::none) return;
    const std::string how(quantize_names[static_cast<std::size_t>(storage.quantize)]);
    if (!is_real(variable.type))
        throw Error(Code::bad_input,
                    how + " does not fit elements of type " + std::string(name(variable.type)),
                    where, "quantize real32 and real64 only");
    const bool bits = storage.quantize == Quantize::bit_round, wide = size_of(variable.type) == 8;
    const std::uint64_t most = bits ? (wide ? 52 : 23) : (wide ? 15 : 7);
    if (storage.digits < 1 || storage.digits > most)
        throw Error(Code::bad_input,
                    how + " cannot keep " + std::to_string(storage.digits) +
                        (bits ? " bits of the mantissa" : " decimal digits"),
                    where, "give 1 to " + std::to_string(most));
}

}  // namespace

std::string_view name(Element type) noexcept {
    return elements[static_cast<std::size_t>(type)].first;
}

std::uint64_t size_of(Element type) noexcept {
    return elements[static_cast<std::size_t>(type)].second;
}

Element element_of(std::string_view wanted) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].first == wanted) return static_cast<Element>(i);
        names.emplace_back(elements[i].first);
    }
    const std::string guess = core::nearest(wanted, names);
    throw Error(Code::bad_input,
                core::in_quotes(wanted) + " is no type of elements" +
                    (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?"),
                "", "one of int8 int16 int32 int64 real32 real64 char");
}

void check_name(const std::string& name, const std::string& where) {
    const auto first = static_cast<unsigned char>(name.empty() ? ' ' : name.front());
    const bool begins = first >= 0x80 || first == '_' || std::isalnum(first) != 0;
    const bool sound = std::none_of(name.begin(), name.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f || c == '/';
    });
    if (begins && sound && name.back() != ' ' && name.size() <= longest_name) return;
    throw Error(Code::bad_input, core::in_quotes(name) + " cannot be a name", where,
                "begin it with a letter, a digit or _, use no /, end it with no blank, and take at "
                "most " +
                    std::to_string(longest_name) + " bytes");
}

void check_attribute(const Attribute& attribute, const std::string& where) {
    check_name(attribute.name, where + ", attribute " + attribute.name);
}

std::variant<std::int64_t, double> fill_of(const Attribute& attribute, const Variable& variable) {
    const std::string where = "variable " + variable.name;
    const std::size_t given = attribute.value.index();  // text, then the types as Element has them
    const bool text = variable.type == Element::character;
    if (given != (text ? 0 : static_cast<std::size_t>(variable.type) + 1))
        throw Error(Code::bad_input,
                    "it is of type " + std::string(name(variable.type)) +
                        ", and its fill value of type " +
                        (given == 0 ? "text" : std::string(name(static_cast<Element>(given - 1)))),
                    where, "pass values of the type of the variable");
    return std::visit(
        [&](const auto& held) -> std::variant<std::int64_t, double> {
            using Held = std::decay_t<decltype(held)>;
            if (held.size() != 1)
                throw Error(Code::bad_input,
                            std::to_string(held.size()) + (text ? " characters" : " numbers") +
                                " are no fill value",
                            where, "give one");
            if constexpr (std::is_same_v<Held, std::string>)
                return std::int64_t{static_cast<signed char>(held.front())};
            else if constexpr (std::is_floating_point_v<typename Held::value_type>)
                return static_cast<double>(held.front());
            else
                return std::int64_t{held.front()};
        },
        attribute.value);
}

void check_fill(const Variable& variable) {
    if (!variable.fill) return;
    const auto* whole = std::get_if<std::int64_t>(&*variable.fill);
    const bool sound =
        is_real(variable.type) ? whole == nullptr : whole != nullptr && fits(variable.type, *whole);
    if (sound) return;
    throw Error(Code::bad_input,
                "the fill value " +
                    (whole != nullptr ? std::to_string(*whole)
                                      : std::to_string(std::get<double>(*variable.fill))) +
                    " is none of type " + std::string(name(variable.type)),
                "variable " + variable.name, "give one of the type of the variable");
}

void check_storage(const Variable& variable, const core::Extents& extents) {
    const Storage& storage = variable.storage;
    const std::string where = "variable " + variable.name;
    const auto refuse = [&where](const std::string& message, const std::string& remedy) {
        throw Error(Code::bad_input, message, where, remedy);
    };
    if (storage.deflate > 9)
        refuse("deflate has no level " + std::to_string(storage.deflate), "give 0 (none) to 9");
    if (storage.zstd && (*storage.zstd < 1 || *storage.zstd > 22))
        refuse("zstd has no level " + std::to_string(*storage.zstd), "give 1 to 22");
    check_quantize(variable, where);
    const bool filtered = storage.shuffle || storage.deflate != 0 || storage.zstd ||
                          storage.quantize != Quantize::none || !storage.chunks.empty();
    if (extents.empty() && filtered)
        refuse("a single number has no chunks and no filters", "leave them out");
    if (!storage.chunks.empty() && storage.chunks.size() != extents.size())
        refuse("it has " + std::to_string(extents.size()) + " dimensions and " +
                   std::to_string(storage.chunks.size()) + " sizes of a chunk",
               "give one size for each dimension");
    for (std::size_t d = 0; d < storage.chunks.size(); ++d)
        if (storage.chunks[d] == 0 || storage.chunks[d] > extents[d])
            refuse("a chunk of " + std::to_string(storage.chunks[d]) + " does not fit dimension " +
                       core::in_quotes(variable.dimensions[d]),
                   "give 1 to the size of the dimension");
}

}  // namespace tailrace::server
