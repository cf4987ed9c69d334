// SPDX-License-Identifier: Apache-2.0
// What a file of the server holds, by name: dimensions, variables, attributes, and how variables
// are stored. It is edited until the first data of a file are put, and again for the next file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/box.hpp"
#include "core/schema.hpp"
#include "formats/options.hpp"

namespace tailrace::server {

struct Dimension {
    std::string name;
    std::uint64_t size = 0;  ///< of an unlimited one: 0
    bool unlimited = false;
    static void fields(auto& io, auto& m) { io.all(m.name, m.size, m.unlimited); }
};

/// Text, or numbers of one type; each as it stands in the file.
using AttributeValue =
    std::variant<std::string, std::vector<std::int8_t>, std::vector<std::int16_t>,
                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<double>>;
struct Attribute {
    std::string name;
    AttributeValue value{};
    static void fields(auto& io, auto& m) { io.all(m.name, m.value); }
};

enum class Element : std::uint64_t { int8, int16, int32, int64, real32, real64, character };
[[nodiscard]] constexpr Element last_of(Element) { return Element::character; }  ///< [local]
/// "real32" and so on.  [local]
[[nodiscard]] std::string_view name(Element type) noexcept;
/// The inverse of name().  [local]
/// @throws core::Error{Code::bad_input} with "did you mean"
[[nodiscard]] Element element_of(std::string_view name);
[[nodiscard]] std::uint64_t size_of(Element type) noexcept;   ///< [local]
[[nodiscard]] core::Scalar scalar_of(Element type) noexcept;  ///< [local]

using formats::Quantize;
using formats::Storage;

struct Variable {
    std::string name;
    Element type = Element::real32;
    std::vector<std::string> dimensions{};  ///< slowest first; an unlimited one only there
    std::vector<Attribute> attributes{};
    std::optional<std::variant<std::int64_t, double>> fill{};  ///< of elements that nobody puts
    Storage storage{};
    std::vector<std::byte> constant{};  ///< all its elements, if nobody puts them: a coordinate
    static void fields(auto& io, auto& m) {
        io.all(m.name, m.type, m.dimensions, m.attributes, m.fill, m.storage, m.constant);
    }
};

class FileMetadata {
public:
    /// @param size  0 makes it unlimited; there is at most one such  [local]
    void add_dimension(const std::string& name, std::uint64_t size);
    /// A variable of a name that is free, or in the place of the one with this name.  [local]
    /// @throws core::Error{Code::bad_input} naming variable and remedy; nothing is changed then
    void add(const Variable& variable);
    void modify(const Variable& variable);
    /// @throws core::Error{Code::bad_input} with "did you mean" if there is none  [local]
    void remove(const std::string& variable);
    /// Adds an attribute, or gives it another value. _FillValue is the fill value.  [local]
    /// @param variable  empty: of the file
    void set_attribute(const std::string& variable, const Attribute& attribute);
    void remove_attribute(const std::string& variable, const std::string& attribute);  ///< [local]
    /// Takes everything of another one.  [local]
    void replace(const FileMetadata& other);

    /// The first data of `file` were put: every edit is Code::wrong_call until the next file.
    void freeze(const std::string& file) { x_frozen_by = file; }  ///< [local]
    void thaw() { x_frozen_by.clear(); }                          ///< [local]
    [[nodiscard]] bool frozen() const noexcept { return !x_frozen_by.empty(); }

    [[nodiscard]] const std::vector<Variable>& variables() const noexcept { return x_variables; }
    [[nodiscard]] const std::vector<Dimension>& dimensions() const noexcept { return x_dimensions; }
    [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept { return x_attributes; }
    /// The number of a variable, by which messages call it.  [local]
    /// @throws core::Error{Code::bad_input} with "did you mean"
    [[nodiscard]] std::size_t index_of(const std::string& variable) const;
    /// Extents of one record: without the unlimited dimension.  [local]
    [[nodiscard]] core::Extents record_extents(const Variable& variable) const;
    [[nodiscard]] bool has_records(const Variable& variable) const;  ///< [local]

    /// The same on all ranks that made the same edits, and on every machine of one byte order.
    [[nodiscard]] std::uint64_t hash() const;  ///< [local]
    /// Of type and shape of one variable, to name the one that differs between ranks.  [local]
    [[nodiscard]] std::uint64_t hash(const Variable& variable) const;
    [[nodiscard]] std::vector<std::byte> to_bytes() const;  ///< [local]
    /// @throws core::Error{Code::data_lost} if they are damaged
    [[nodiscard]] static FileMetadata from_bytes(std::span<const std::byte> bytes);  ///< [local]

    /// What the formats store. It does not carry storage and the values of constants: both stand in
    /// variables().  [local]
    [[nodiscard]] core::Schema schema() const;

    static void fields(auto& io, auto& m) { io.all(m.x_dimensions, m.x_attributes, m.x_variables); }

private:
    void check_editable() const;
    [[nodiscard]] const Dimension& dimension(const std::string& name, const Variable& by) const;
    [[nodiscard]] Variable checked(const Variable& variable) const;
    void check_shape(const Variable& variable) const;

    std::vector<Dimension> x_dimensions;
    std::vector<Attribute> x_attributes;
    std::vector<Variable> x_variables;
    std::string x_frozen_by;
};

}  // namespace tailrace::server
