// SPDX-License-Identifier: Apache-2.0
#include "core/schema.hpp"

#include <array>
#include <cstring>

#include "core/checked.hpp"

namespace tailrace::core {

namespace {

struct ScalarFacts {
    Scalar type;
    std::string_view name;
    std::uint64_t bytes;
};

constexpr std::array<ScalarFacts, 10> scalar_facts{{
    {Scalar::i8, "i8", 1},
    {Scalar::u8, "u8", 1},
    {Scalar::i16, "i16", 2},
    {Scalar::u16, "u16", 2},
    {Scalar::i32, "i32", 4},
    {Scalar::u32, "u32", 4},
    {Scalar::i64, "i64", 8},
    {Scalar::u64, "u64", 8},
    {Scalar::f32, "f32", 4},
    {Scalar::f64, "f64", 8},
}};

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/. Enough to compare ranks with each
// other; content is hashed by core/hash.hpp.
class Fnv {
public:
    void add(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < size; ++i) x_state = (x_state ^ bytes[i]) * 0x100000001b3ULL;
    }
    template <class Number>
    void number(Number value) {
        add(&value, sizeof value);
    }
    void text(std::string_view value) {
        number<std::uint64_t>(value.size());
        add(value.data(), value.size());
    }
    [[nodiscard]] std::uint64_t value() const { return x_state; }

private:
    std::uint64_t x_state = 0xcbf29ce484222325ULL;
};

void add_value(Fnv& fnv, const AttributeScalar& value) {
    fnv.number(value.index());
    std::visit(
        [&fnv](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                fnv.text(v);
            else
                fnv.number(v);
        },
        value);
}

void add_value(Fnv& fnv, const AttributeArray& value) {
    fnv.number(value.index());
    std::visit(
        [&fnv](const auto& values) {
            fnv.number<std::uint64_t>(values.size());
            for (const auto& v : values) add_value(fnv, AttributeScalar(v));
        },
        value);
}

void add_value(Fnv& fnv, const Compound& value) {
    fnv.text(value.committed_as);
    fnv.number(value.size);
    for (const CompoundMember& member : value.members) {
        fnv.text(member.name);
        fnv.number(member.offset);
        std::visit([&fnv](const auto& v) { add_value(fnv, v); }, member.value);
    }
}

}  // namespace

std::uint64_t size_of(Scalar type) noexcept {
    return scalar_facts[static_cast<std::size_t>(type)].bytes;
}

std::string_view name(Scalar type) noexcept {
    return scalar_facts[static_cast<std::size_t>(type)].name;
}

Scalar scalar_of(std::string_view wanted) {
    for (const ScalarFacts& facts : scalar_facts)
        if (facts.name == wanted) return facts.type;
    throw Error(Code::bad_input, "\"" + std::string(wanted) + "\" is no element type", "",
                "one of i8 u8 i16 u16 i32 u32 i64 u64 f32 f64");
}

std::string Fill::text() const {
    return std::visit([](auto number) { return std::to_string(number); }, value);
}

Extents Object::sizes() const {
    Extents sizes;
    sizes.reserve(dims.size());
    for (const Extent& extent : dims) sizes.push_back(extent.size);
    return sizes;
}

std::uint64_t Object::bytes() const {
    return checked_mul(checked_product(sizes(), path), size_of(type), path);
}

std::uint64_t Schema::hash() const {
    Fnv fnv;
    for (const Object& object : objects) {
        fnv.text(object.path);
        fnv.number(object.type);
        fnv.number(object.text);
        fnv.number(object.kind);
        fnv.number(object.fill.set);
        if (object.fill.set) {
            fnv.number(object.fill.value.index());
            std::visit([&fnv](auto value) { fnv.number(value); }, object.fill.value);
        }
        for (const Extent& extent : object.dims) {
            fnv.number(extent.size);
            fnv.number(extent.unlimited);
        }
        for (const std::string& axis : object.axes) fnv.text(axis);
        for (const Member& member : object.members) {
            fnv.text(member.name);
            fnv.number(member.type);
        }
    }
    for (const Attribute& attribute : attributes) {
        fnv.text(attribute.object);
        fnv.text(attribute.name);
        fnv.number(attribute.value.index());
        std::visit([&fnv](const auto& v) { add_value(fnv, v); }, attribute.value);
        if (attribute.plain_text) fnv.number(true);
    }
    for (const std::string& group : groups) fnv.text(group);
    return fnv.value();
}

}  // namespace tailrace::core
