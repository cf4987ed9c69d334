// SPDX-License-Identifier: Apache-2.0
#include "server/metadata/metadata.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/checked.hpp"
#include "core/config.hpp"
#include "server/archive.hpp"
#include "server/metadata/check.hpp"

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

const std::string fill_name = "_FillValue";

template <class T>
auto find(std::vector<T>& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
}
template <class T>
auto find(const std::vector<T>& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
}

template <class T>
Error unknown(const std::string& what, const std::string& name, const std::vector<T>& all,
              const std::string& where) {
    std::vector<std::string> names;
    for (const T& one : all) names.push_back(one.name);
    const std::string guess = core::nearest(name, names);
    return Error(Code::bad_input,
                 "there is no " + what + " " + core::in_quotes(name) +
                     (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?"),
                 where, "define it first, or use a name that is defined");
}

void set(std::vector<Attribute>& all, const Attribute& attribute) {
    const auto found = find(all, attribute.name);
    if (found == all.end())
        all.push_back(attribute);
    else
        *found = attribute;
}

/// One number is a scalar.
decltype(core::Attribute::value) stored(const AttributeValue& value) {
    return std::visit(
        [](const auto& held) -> decltype(core::Attribute::value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
                return core::AttributeScalar(held);
            else if (held.size() == 1)
                return core::AttributeScalar(held.front());
            else
                return core::AttributeArray(held);
        },
        value);
}

}  // namespace

core::Scalar scalar_of(Element type) noexcept {
    static constexpr core::Scalar all[] = {core::Scalar::i8,  core::Scalar::i16, core::Scalar::i32,
                                           core::Scalar::i64, core::Scalar::f32, core::Scalar::f64,
                                           core::Scalar::i8};
    return all[static_cast<std::size_t>(type)];
}

void FileMetadata::check_editable() const {
    if (frozen())
        throw Error(Code::wrong_call, "metadata cannot change any more: data were put already",
                    x_frozen_by, "change them before the first put, or for the next file");
}

void FileMetadata::add_dimension(const std::string& name, std::uint64_t size) {
    check_editable();
    const std::string where = "dimension " + name;
    check_name(name, where);
    if (find(x_dimensions, name) != x_dimensions.end())
        throw Error(Code::bad_input, "there is one with this name already", where,
                    "give each dimension a name of its own");
    if (size == 0)
        for (const Dimension& other : x_dimensions)
            if (other.unlimited)
                throw Error(Code::bad_input, core::in_quotes(other.name) + " is unlimited already",
                            where, "give it a size: a file has one unlimited dimension");
    x_dimensions.push_back({name, size, size == 0});
}

const Dimension& FileMetadata::dimension(const std::string& name, const Variable& by) const {
    const auto found = find(x_dimensions, name);
    if (found == x_dimensions.end())
        throw unknown("dimension", name, x_dimensions, "variable " + by.name);
    return *found;
}

void FileMetadata::check_shape(const Variable& variable) const {
    const std::string where = "variable " + variable.name;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d)
        if (dimension(variable.dimensions[d], variable).unlimited && d > 0)
            throw Error(Code::bad_input,
                        core::in_quotes(variable.dimensions[d]) +
                            " is unlimited and not the first dimension",
                        where, "put it first: records follow each other");
    const core::Extents extents = record_extents(variable);
    const std::uint64_t bytes =
        core::checked_mul(core::checked_product(extents, where), size_of(variable.type), where);
    core::Extents whole = extents;
    if (has_records(variable)) whole.insert(whole.begin(), ~std::uint64_t{0});
    check_storage(variable, whole);
    if (variable.constant.empty()) return;
    if (has_records(variable) || variable.constant.size() != bytes)
        throw Error(Code::bad_input,
                    "the constant has " + std::to_string(variable.constant.size()) +
                        " bytes, the variable " +
                        (has_records(variable) ? "records" : std::to_string(bytes)),
                    where, "give all elements, in the type of the variable, and no record");
}

/// A fill value that is given as an attribute is none that is kept beside the fill value.
Variable FileMetadata::checked(const Variable& given) const {
    check_editable();
    Variable variable = given;
    const std::string where = "variable " + variable.name;
    check_name(variable.name, where);
    for (const Attribute& attribute : variable.attributes) {
        check_attribute(attribute, where);
        if (&*find(variable.attributes, attribute.name) != &attribute)
            throw Error(Code::bad_input, "it has two attributes " + core::in_quotes(attribute.name),
                        where, "give each a name of its own");
    }
    if (const auto fill = find(variable.attributes, fill_name); fill != variable.attributes.end()) {
        variable.fill = fill_of(*fill, variable);
        variable.attributes.erase(fill);
    }
    check_fill(variable);
    check_shape(variable);
    return variable;
}

void FileMetadata::add(const Variable& variable) {
    Variable good = checked(variable);
    if (find(x_variables, variable.name) != x_variables.end())
        throw Error(Code::bad_input, "there is one with this name already",
                    "variable " + variable.name, "use modify() to change it");
    x_variables.push_back(std::move(good));
}

void FileMetadata::modify(const Variable& variable) {
    Variable good = checked(variable);
    x_variables[index_of(variable.name)] = std::move(good);
}

void FileMetadata::remove(const std::string& variable) {
    check_editable();
    x_variables.erase(x_variables.begin() + static_cast<std::ptrdiff_t>(index_of(variable)));
}

void FileMetadata::set_attribute(const std::string& variable, const Attribute& attribute) {
    check_editable();
    check_attribute(attribute, variable.empty() ? "file" : "variable " + variable);
    if (attribute.name == fill_name) {
        if (variable.empty())
            throw Error(Code::bad_input, "a file has no _FillValue", "file",
                        "give it to a variable");
        Variable& one = x_variables[index_of(variable)];
        one.fill = fill_of(attribute, one);
        return;
    }
    set(variable.empty() ? x_attributes : x_variables[index_of(variable)].attributes, attribute);
}

void FileMetadata::remove_attribute(const std::string& variable, const std::string& attribute) {
    check_editable();
    if (attribute == fill_name && !variable.empty())
        return x_variables[index_of(variable)].fill.reset();
    auto& all = variable.empty() ? x_attributes : x_variables[index_of(variable)].attributes;
    const auto found = find(all, attribute);
    if (found == all.end())
        throw unknown("attribute", attribute, all,
                      variable.empty() ? "file" : "variable " + variable);
    all.erase(found);
}

void FileMetadata::replace(const FileMetadata& other) {
    check_editable();
    *this = other;
    thaw();
}

std::size_t FileMetadata::index_of(const std::string& variable) const {
    const auto found = find(x_variables, variable);
    if (found == x_variables.end()) throw unknown("variable", variable, x_variables, "");
    return static_cast<std::size_t>(found - x_variables.begin());
}

bool FileMetadata::has_records(const Variable& variable) const {
    return !variable.dimensions.empty() && dimension(variable.dimensions[0], variable).unlimited;
}

core::Extents FileMetadata::record_extents(const Variable& variable) const {
    core::Extents extents;
    for (const std::string& name : variable.dimensions)
        if (const Dimension& one = dimension(name, variable); !one.unlimited)
            extents.push_back(one.size);
    return extents;
}

std::uint64_t FileMetadata::hash() const { return short_hash(to_bytes()); }

std::uint64_t FileMetadata::hash(const Variable& variable) const {
    std::vector<std::byte> bytes;
    ArchiveWriter(bytes).all(variable.name, variable.type, variable.dimensions,
                             has_records(variable), record_extents(variable));
    return short_hash(bytes);
}

std::vector<std::byte> FileMetadata::to_bytes() const { return archived(*this); }

FileMetadata FileMetadata::from_bytes(std::span<const std::byte> bytes) {
    return unarchived<FileMetadata>(bytes);
}

core::Schema FileMetadata::schema() const {
    core::Schema schema;
    for (const Attribute& attribute : x_attributes)
        schema.attributes.push_back({"/", attribute.name, stored(attribute.value), true});
    for (const Variable& variable : x_variables) {
        core::Object object;
        object.path = "/" + variable.name;
        object.type = scalar_of(variable.type);
        object.text = variable.type == Element::character;
        for (const std::string& name : variable.dimensions) {
            const Dimension& one = dimension(name, variable);
            object.dims.push_back({one.size, one.unlimited});
            object.axes.push_back(name);
        }
        if (has_records(variable)) object.kind = core::Kind::record;
        if (variable.fill) object.fill = {true, *variable.fill};
        schema.objects.push_back(std::move(object));
        for (const Attribute& attribute : variable.attributes)
            schema.attributes.push_back(
                {"/" + variable.name, attribute.name, stored(attribute.value), true});
    }
    return schema;
}

}  // namespace tailrace::server
