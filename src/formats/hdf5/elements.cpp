// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/elements.hpp"

#include <memory>
#include <utility>

#include "comm/comm.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;
using core::Object;

h5::Id copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "H5Tcopy", "a number"}; }

/// A compound of `count` members, the first of them the object's number `first`, of a place in
/// memory or in the file that holds `all` of them, the first of ours at number `at`.
h5::Id compound(const Object& object, std::uint64_t first, std::uint64_t count, std::uint64_t at,
                std::uint64_t all, hid_t (*number)(core::Scalar)) {
    const std::uint64_t bytes = core::size_of(object.type);
    h5::Id type(H5Tcreate(H5T_COMPOUND, all * bytes), H5Tclose, "H5Tcreate", object.path);
    for (std::uint64_t k = 0; k < count; ++k) {
        const core::Member& member = object.members[first + k];
        h5::check(H5Tinsert(type.get(), member.name.c_str(), (at + k) * bytes, number(member.type)),
                  "H5Tinsert", object.path + "." + member.name);
    }
    return type;
}

core::Box without_last(core::Box box) {
    box.offset.pop_back();
    box.count.pop_back();
    return box;
}

std::string member_name(hid_t type, unsigned number, const std::string& where) {
    const std::unique_ptr<char, void (*)(char*)> name(H5Tget_member_name(type, number),
                                                      [](char* text) { H5free_memory(text); });
    if (!name) h5::fail("H5Tget_member_name", where);
    return name.get();
}

}  // namespace

void check_members(const Object& object) {
    if (object.members.empty()) return;
    const auto refuse = [&](const std::string& what, const std::string& remedy) {
        throw Error(Code::bad_input, what, object.path, remedy);
    };
    if (object.dims.empty() || object.dims.back().unlimited ||
        object.dims.back().size != object.members.size())
        refuse("its last dimension is not that of its " + std::to_string(object.members.size()) +
                   " members",
               "give it a last dimension of as many elements");
    if (object.fill.set)
        refuse("a compound has no fill value of one number", "leave the fill value away");
    for (const core::Member& member : object.members)
        if (core::size_of(member.type) != core::size_of(object.type))
            refuse("its member " + member.name + " is not as large as its type",
                   "use members of one size");
}

core::Extents in_file(const Object& object, core::Extents extents) {
    if (!object.members.empty() && !extents.empty()) extents.pop_back();
    return extents;
}

h5::Id file_type_of(const Object& object) {
    const std::size_t count = object.members.size();
    if (object.text) return h5::character_type();
    if (count == 0) return copy_of(h5::file_type(object.type));
    return compound(object, 0, count, 0, count, h5::file_type);
}

std::optional<Object> element_of(hid_t type, const std::string& where) {
    Object object;
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) == 1) {
        object.type = core::Scalar::i8;
        object.text = true;
        return object;
    }
    if (H5Tget_class(type) != H5T_COMPOUND) {
        const auto other = comm::Comm::caught([&] { object.type = h5::scalar_of(type, where); });
        return other ? std::nullopt : std::optional(object);
    }
    const int count = h5::check(H5Tget_nmembers(type), "H5Tget_nmembers", where);
    for (unsigned k = 0; k < static_cast<unsigned>(count); ++k) {
        const h5::Id member(H5Tget_member_type(type, k), H5Tclose, "H5Tget_member_type", where);
        const auto number = element_of(member.get(), where);
        if (!number || !number->members.empty()) return std::nullopt;
        if (k == 0) object.type = number->type;
        const std::uint64_t bytes = core::size_of(object.type);
        if (core::size_of(number->type) != bytes || H5Tget_member_offset(type, k) != k * bytes)
            return std::nullopt;
        object.members.push_back({member_name(type, k, where), number->type});
    }
    return object;
}

Selected selected(const Object& object, core::Scalar type, const core::Box& place,
                  const core::MemLayout& memory, h5::Id in_file) {
    const bool packed = memory.dims.empty();
    core::Box from{packed ? core::Extents(place.count.size(), 0) : memory.offset, place.count};
    core::Extents dims = packed ? place.count : memory.dims;
    Selected all;
    core::Box to = place;
    if (object.members.empty()) {
        all.type = object.text ? h5::character_type() : copy_of(h5::memory_type(type));
    } else {
        all.type = compound(object, place.offset.back(), place.count.back(), from.offset.back(),
                            dims.back(), h5::memory_type);
        dims.pop_back();
        from = without_last(std::move(from));
        to = without_last(std::move(to));
    }
    all.in_memory = h5::simple_space(dims);
    if (!packed) h5::select(all.in_memory, from);
    all.in_file = std::move(in_file);
    h5::select(all.in_file, to);
    return all;
}

Selected selected_nothing(const Object& object, h5::Id in_file) {
    const std::size_t count = object.members.size();
    Selected all{object.text  ? h5::character_type()
                 : count == 0 ? copy_of(h5::memory_type(object.type))
                              : compound(object, 0, count, 0, count, h5::memory_type),
                 h5::scalar_space(), std::move(in_file)};
    h5::select_none(all.in_memory);
    h5::select_none(all.in_file);
    return all;
}

}  // namespace tailrace::formats::hdf5
