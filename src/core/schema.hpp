// SPDX-License-Identifier: Apache-2.0
// What is to be written, as data: objects, their element types and extents, and attributes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/box.hpp"

namespace tailrace::core {

/// Type of an element. In files always little endian where the format leaves the choice.
enum class Scalar { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

/// The Scalar of a C++ number.  [local]
template <class Number>
[[nodiscard]] constexpr Scalar scalar_of_number() noexcept {
    if constexpr (std::is_floating_point_v<Number>)
        return sizeof(Number) == 4 ? Scalar::f32 : Scalar::f64;
    constexpr Scalar wholes[] = {Scalar::i8,  Scalar::u8,  Scalar::i16, Scalar::u16,
                                 Scalar::i32, Scalar::u32, Scalar::i64, Scalar::u64};
    return wholes[2 * (std::bit_width(sizeof(Number)) - 1) + std::is_unsigned_v<Number>];
}
/// Bytes of one element.  [local]
[[nodiscard]] std::uint64_t size_of(Scalar type) noexcept;
/// "f32" and so on.  [local]
[[nodiscard]] std::string_view name(Scalar type) noexcept;
/// The inverse of name().  [local]
/// @throws Error{Code::bad_input}
[[nodiscard]] Scalar scalar_of(std::string_view name);

/// Size of a dimension; an unlimited one starts at `size` and grows with the writes.
struct Extent {
    std::uint64_t size = 0;
    bool unlimited = false;
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// dense: an n-dimensional array. record: its first dimension is the record (step) and grows.
/// bytes: an opaque block of bytes (one dimension, Scalar::u8).
enum class Kind { dense, record, bytes };

/// Value of elements that nobody writes. Unset: the format's default (0).
struct Fill {
    bool set = false;
    std::variant<std::int64_t, double> value = 0.0;
    /// As a number of that type.  [local]
    template <class Number>
    [[nodiscard]] Number as() const noexcept {
        const auto* whole = std::get_if<std::int64_t>(&value);
        return whole ? static_cast<Number>(*whole)
                     : static_cast<Number>(*std::get_if<double>(&value));
    }
    [[nodiscard]] std::string text() const;  ///< [local]
    friend bool operator==(const Fill&, const Fill&) = default;
};

/// One of the numbers that a compound element consists of.
struct Member {
    std::string name;
    Scalar type = Scalar::f32;
    friend bool operator==(const Member&, const Member&) = default;
};

struct Object {
    std::string path;  ///< "/group/name"; groups are created as needed
    Scalar type = Scalar::f32;
    std::vector<Extent> dims{};  ///< slowest first; at most Capabilities::max_rank
    Kind kind = Kind::dense;
    Fill fill{};
    /// Names of the dimensions, for formats that have them; fewer or empty ones: the format names
    /// them.
    std::vector<std::string> axes{};
    /// Not empty: what lies along the last dimension is stored as one compound element of these
    /// members, each as large as `type`, and so in memory, where a piece says `type`. For HDF5;
    /// other formats store numbers of `type`.
    std::vector<Member> members{};
    bool text = false;  ///< elements of type i8 are characters, in formats that know such

    [[nodiscard]] Extents sizes() const;
    /// Bytes of all elements at the present extents.  [local]
    [[nodiscard]] std::uint64_t bytes() const;
    friend bool operator==(const Object&, const Object&) = default;
};

using AttributeScalar = std::variant<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
                                     double, std::string, std::int8_t, std::int16_t, float>;
using AttributeArray =
    std::variant<std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>,
                 std::vector<std::string>, std::vector<std::int32_t>, std::vector<std::int8_t>,
                 std::vector<std::int16_t>, std::vector<float>>;
/// One attribute of several named members, for formats that have compounds; `committed_as` is the
/// path of a named type (may be empty). `offset`s and `size` in bytes lay out the stored type;
/// strings are variable-length (8 bytes).
struct CompoundMember {
    std::string name;
    std::uint64_t offset = 0;
    std::variant<AttributeScalar, AttributeArray> value;
};
struct Compound {
    std::string committed_as;
    std::uint64_t size = 0;
    std::vector<CompoundMember> members;
};

struct Attribute {
    std::string object;  ///< path of the object it belongs to; "/" for the file
    std::string name;
    std::variant<AttributeScalar, AttributeArray, Compound> value;
    /// If the format has a choice, a text is stored at its length and with a zero behind it, as
    /// C programs do, and not as one of variable length.
    bool plain_text = false;
};

struct Schema {
    std::vector<Object> objects;
    std::vector<Attribute> attributes;
    std::vector<std::string> groups{};  ///< that have attributes and no objects; for HDF5
    /// Equal on all ranks where the schemas are equal (FNV-1a over a canonical text).  [local]
    [[nodiscard]] std::uint64_t hash() const;
};

}  // namespace tailrace::core
