// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/attributes.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <variant>

#include "formats/compound.hpp"
#include "formats/file/copy_file.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::AttributeArray;
using core::AttributeScalar;
using core::Code;
using core::Compound;
using core::CompoundMember;
using core::Error;

/// A value ready for HDF5: types in the file and in memory, and its bytes. Strings are borrowed
/// from the attribute as pointers.
struct Image {
    h5::Id file_type, memory_type;
    std::vector<std::uint64_t> dims;  ///< empty: a scalar
    std::vector<std::byte> bytes;
};

h5::Id copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "H5Tcopy", "attribute"}; }

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
}

void append_text(std::vector<std::byte>& bytes, const std::string& text) {
    const char* pointer = text.c_str();
    append(bytes, &pointer, sizeof pointer);
}

/// A text in its bytes and a zero.
Image plain_image_of(const std::string& text) {
    Image image;
    for (h5::Id* type : {&image.file_type, &image.memory_type}) {
        *type = copy_of(H5T_C_S1);
        h5::check(H5Tset_size(type->get(), text.size() + 1), "H5Tset_size", "attribute");
    }
    append(image.bytes, text.c_str(), text.size() + 1);
    return image;
}

Image image_of(const AttributeScalar& scalar, bool plain_text = false) {
    return std::visit(
        [plain_text](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            Image image;
            if constexpr (std::is_same_v<Value, std::string>) {
                if (plain_text) return plain_image_of(value);
                image.file_type = h5::string_type();
                image.memory_type = h5::string_type();
                append_text(image.bytes, value);
            } else {
                image.file_type = copy_of(h5::file_type(core::scalar_of_number<Value>()));
                image.memory_type = copy_of(h5::memory_type(core::scalar_of_number<Value>()));
                append(image.bytes, &value, sizeof value);
            }
            return image;
        },
        scalar);
}

Image image_of(const AttributeArray& array) {
    return std::visit(
        [](const auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            Image image;
            image.dims = {values.size()};
            if constexpr (std::is_same_v<Value, std::string>) {
                image.file_type = h5::string_type();
                image.memory_type = h5::string_type();
                for (const std::string& value : values) append_text(image.bytes, value);
            } else {
                image.file_type = copy_of(h5::file_type(core::scalar_of_number<Value>()));
                image.memory_type = copy_of(h5::memory_type(core::scalar_of_number<Value>()));
                append(image.bytes, values.data(), values.size() * sizeof(Value));
            }
            return image;
        },
        array);
}

Image image_of(const CompoundMember& member) {
    Image image = std::visit([](const auto& value) { return image_of(value); }, member.value);
    if (image.dims.empty()) return image;
    const std::vector<hsize_t> dims(image.dims.begin(), image.dims.end());
    for (h5::Id* type : {&image.file_type, &image.memory_type})
        *type = h5::Id(H5Tarray_create2(type->get(), 1, dims.data()), H5Tclose, "H5Tarray_create2",
                       member.name);
    return image;
}

Image image_of(const Compound& compound);

Image image_of(const core::Attribute& attribute) {
    if (const auto* scalar = std::get_if<AttributeScalar>(&attribute.value))
        return image_of(*scalar, attribute.plain_text);
    if (const auto* array = std::get_if<AttributeArray>(&attribute.value)) return image_of(*array);
    return image_of(std::get<Compound>(attribute.value));
}

/// Plain characters: the character set that readers of old compounds ask for.
void use_ascii(h5::Id& type) {
    if (H5Tget_class(type.get()) == H5T_STRING)
        h5::check(H5Tset_cset(type.get(), H5T_CSET_ASCII), "H5Tset_cset", "attribute");
}

Image image_of(const Compound& compound) {
    Image image;
    for (h5::Id* type : {&image.file_type, &image.memory_type})
        *type = h5::Id(H5Tcreate(H5T_COMPOUND, compound.size), H5Tclose, "H5Tcreate", "attribute");
    image.bytes.resize(compound.size);
    for (const CompoundMember& member : compound.members) {
        Image part = image_of(member);
        use_ascii(part.file_type);
        use_ascii(part.memory_type);
        h5::check(H5Tinsert(image.file_type.get(), member.name.c_str(), member.offset,
                            part.file_type.get()),
                  "H5Tinsert", member.name);
        h5::check(H5Tinsert(image.memory_type.get(), member.name.c_str(), member.offset,
                            part.memory_type.get()),
                  "H5Tinsert", member.name);
        std::copy(part.bytes.begin(), part.bytes.end(),
                  image.bytes.begin() + static_cast<std::ptrdiff_t>(member.offset));
    }
    return image;
}

/// One of Schema::groups; all others came with their objects.
void make_group_if_missing(const h5::Id& file, const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string group = path.substr(0, end);
        if (path == "/" ||
            h5::check(H5Lexists(file.get(), group.c_str(), H5P_DEFAULT), "H5Lexists", path) > 0) {
            if (end == std::string::npos) return;
            continue;
        }
        const h5::Id links = h5::groups_as_needed();
        const h5::Id made(
            H5Gcreate2(file.get(), path.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
            "H5Gcreate2", path);
        return;
    }
}

bool is_same(const h5::Id& stored, const Image& image, const std::string& where) {
    const h5::Id type(H5Aget_type(stored.get()), H5Tclose, "H5Aget_type", where);
    const h5::Id space(H5Aget_space(stored.get()), H5Sclose, "H5Aget_space", where);
    const bool lengths_vary =
        h5::check(H5Tis_variable_str(type.get()), "H5Tis_variable_str", where) > 0;
    if (lengths_vary ||
        h5::check(H5Tequal(type.get(), image.file_type.get()), "H5Tequal", where) == 0 ||
        h5::extents_of(space, nullptr, where) != image.dims)
        return false;
    std::vector<std::byte> value(image.bytes.size() + 1);
    h5::check(H5Aread(stored.get(), image.memory_type.get(), value.data()), "H5Aread", where);
    return std::equal(image.bytes.begin(), image.bytes.end(), value.begin());
}

}  // namespace

void check_attribute(const core::Attribute& attribute, bool object_known) {
    const std::string where = attribute.object + "@" + attribute.name;
    if (attribute.name.empty())
        throw Error(Code::bad_input, "an attribute without a name", where, "name it");
    if (!object_known)
        throw Error(Code::bad_input, "no object \"" + attribute.object + "\" is defined", where,
                    "use / for the file, or the path of a dataset or group");
    if (const auto* compound = std::get_if<Compound>(&attribute.value))
        check_compound(*compound, where);
}

void write_attribute(const h5::Id& file, const core::Attribute& attribute) {
    const std::string where = attribute.object + "@" + attribute.name;
    Image image = image_of(attribute);
    const auto* compound = std::get_if<Compound>(&attribute.value);
    if (compound != nullptr && !compound->committed_as.empty()) {
        const h5::Id links = h5::groups_as_needed();
        h5::check(H5Tcommit2(file.get(), compound->committed_as.c_str(), image.file_type.get(),
                             links.get(), H5P_DEFAULT, H5P_DEFAULT),
                  "H5Tcommit2", compound->committed_as);
    }
    make_group_if_missing(file, attribute.object);
    const h5::Id object(H5Oopen(file.get(), attribute.object.c_str(), H5P_DEFAULT), H5Oclose,
                        "H5Oopen", attribute.object);
    if (h5::check(H5Aexists(object.get(), attribute.name.c_str()), "H5Aexists", where) > 0)
        h5::check(H5Adelete(object.get(), attribute.name.c_str()), "H5Adelete", where);
    const h5::Id space = h5::simple_space(image.dims);
    h5::Id stored(H5Acreate2(object.get(), attribute.name.c_str(), image.file_type.get(),
                             space.get(), H5P_DEFAULT, H5P_DEFAULT),
                  H5Aclose, "H5Acreate2", where);
    if (!image.bytes.empty())
        h5::check(H5Awrite(stored.get(), image.memory_type.get(), image.bytes.data()), "H5Awrite",
                  where);
    stored.close("H5Aclose", where);
}

void check_same_attribute(const h5::Id& file, const core::Attribute& attribute,
                          const std::filesystem::path& name) {
    const std::string where = attribute.object + "@" + attribute.name;
    const h5::Id object(H5Oopen(file.get(), attribute.object.c_str(), H5P_DEFAULT), H5Oclose,
                        "H5Oopen", attribute.object);
    const bool there =
        h5::check(H5Aexists(object.get(), attribute.name.c_str()), "H5Aexists", where) > 0;
    if (there && is_same({H5Aopen(object.get(), attribute.name.c_str(), H5P_DEFAULT), H5Aclose,
                          "H5Aopen", where},
                         image_of(attribute), where))
        return;
    throw cannot_append(
        name, attribute.object,
        "its attribute " + attribute.name + (there ? " has another value" : " is not there"));
}

}  // namespace tailrace::formats::hdf5
