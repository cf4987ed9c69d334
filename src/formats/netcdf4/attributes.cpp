// SPDX-License-Identifier: Apache-2.0
#include "formats/netcdf4/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/config.hpp"
#include "formats/compound.hpp"
#include "formats/file/copy_file.hpp"
#include "formats/netcdf4/define.hpp"
#include "formats/netcdf_names.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

using core::AttributeArray;
using core::AttributeScalar;
using core::Code;
using core::Compound;
using core::CompoundMember;
using core::Error;

constexpr std::array<std::string_view, 13> reserved{
    "CLASS",          "DIMENSION_LABELS",    "DIMENSION_LIST", "NAME",
    "REFERENCE_LIST", "_FillValue",          "_Format",        "_IsNetcdf4",
    "_NCProperties",  "_Netcdf4Coordinates", "_Netcdf4Dimid",  "_SuperblockVersion",
    "_nc3_strict"};

/// Where an attribute goes.
nc::Variable place_of(const nc::File& file, const std::string& object) {
    if (object == "/") return {file.get(), NC_GLOBAL};
    const int outer = nc::group_of(file, object, false);
    const std::string name = object.substr(object.rfind('/') + 1);
    nc::Variable place{outer, -1};
    if (nc_inq_varid(outer, name.c_str(), &place.id) == NC_NOERR) return place;
    place.id = NC_GLOBAL;
    nc::check(nc_inq_grp_ncid(outer, name.c_str(), &place.group), "nc_inq_grp_ncid", object);
    return place;
}

struct Putter {
    nc::Variable place;
    const std::string& name;
    const std::string& where;
    DataModel model;
    const std::filesystem::path* compared = nullptr;  ///< not written: it must be there

    void put(nc_type type, std::size_t count, const void* data) const {
        if (compared != nullptr) return compare(type, count, data);
        nc::check(nc_put_att(place.group, place.id, name.c_str(), type, count, data), "nc_put_att",
                  where);
    }
    void text(const std::string& value) const { put(NC_CHAR, value.size(), value.c_str()); }
    void texts(const std::vector<std::string>& values) const {
        if (model != DataModel::netcdf4) {
            std::string all;
            for (const std::string& value : values)
                all += (&value == values.data() ? "" : text_separator) + value;
            return text(all);
        }
        std::vector<const char*> pointers;
        for (const std::string& value : values) pointers.push_back(value.c_str());
        put(NC_STRING, pointers.size(), pointers.data());
    }
    template <class Number>
    void numbers(std::span<const Number> values) const {
        constexpr bool narrow = std::is_signed_v<Number> && sizeof(Number) <= 4;
        if constexpr (std::is_integral_v<Number> && !narrow) {
            if (model == DataModel::classic) return classic_integers(values);
        }
        put(nc::type_of(core::scalar_of_number<Number>()), values.size(), values.data());
    }

private:
    void compare(nc_type type, std::size_t count, const void* data) const {
        nc_type found = NC_NAT;
        std::size_t length = 0, bytes = 0;
        const int status = nc_inq_att(place.group, place.id, name.c_str(), &found, &length);
        nc::check(nc_inq_type(place.group, type, nullptr, &bytes), "nc_inq_type", where);
        std::vector<std::byte> value(length * bytes + 1);
        bool same = status == NC_NOERR && found == type && length == count && type < NC_STRING;
        if (same)
            nc::check(nc_get_att(place.group, place.id, name.c_str(), value.data()), "nc_get_att",
                      where);
        if (!same || std::memcmp(value.data(), data, count * bytes) != 0)
            throw cannot_append(*compared, where.substr(0, where.find('@')),
                                "its attribute " + name +
                                    (status == NC_NOERR ? " has another value" : " is not there"));
    }
    template <class Number>
    void classic_integers(std::span<const Number> values) const {
        const bool fit = std::all_of(values.begin(), values.end(), [](Number value) {
            return std::in_range<std::int32_t>(value);
        });
        if (fit) {
            const std::vector<std::int32_t> narrow(values.begin(), values.end());
            put(NC_INT, narrow.size(), narrow.data());
        } else {
            const std::vector<double> wide(values.begin(), values.end());
            put(NC_DOUBLE, wide.size(), wide.data());
        }
    }
};

void put_value(const Putter& putter, const AttributeScalar& scalar) {
    std::visit(
        [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::string>)
                putter.text(value);
            else
                putter.numbers(std::span<const Value>(&value, 1));
        },
        scalar);
}

void put_value(const Putter& putter, const AttributeArray& array) {
    std::visit(
        [&](const auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if constexpr (std::is_same_v<Value, std::string>)
                putter.texts(values);
            else
                putter.numbers(std::span<const Value>(values));
        },
        array);
}

/// A member as netCDF wants it: its type, how many (0: a scalar), its bytes.
struct Member {
    nc_type type = NC_NAT;
    int count = 0;
    std::vector<std::byte> bytes;
};

template <class Value>
void append(Member& member, const Value& value) {
    const auto add = [&](const auto& plain, nc_type type) {
        const auto* begin = reinterpret_cast<const std::byte*>(&plain);
        member.type = type;
        member.bytes.insert(member.bytes.end(), begin, begin + sizeof plain);
    };
    if constexpr (std::is_same_v<Value, std::string>)
        add(value.c_str(), NC_STRING);
    else
        add(value, nc::type_of(core::scalar_of_number<Value>()));
}

Member member_of(const CompoundMember& given) {
    Member member;
    if (const auto* scalar = std::get_if<AttributeScalar>(&given.value)) {
        std::visit([&](const auto& value) { append(member, value); }, *scalar);
    } else {
        std::visit(
            [&](const auto& values) {
                for (const auto& value : values) append(member, value);
                member.count = static_cast<int>(values.size());
            },
            std::get<AttributeArray>(given.value));
    }
    return member;
}

void put_compound(const nc::File& file, const Putter& putter, const Compound& compound) {
    const std::string path =
        compound.committed_as.empty() ? "/" + putter.name + "_t" : compound.committed_as;
    const int group = nc::group_of(file, path, true);
    nc_type type = NC_NAT;
    nc::check(
        nc_def_compound(group, compound.size, path.substr(path.rfind('/') + 1).c_str(), &type),
        "nc_def_compound", path);
    std::vector<std::byte> bytes(compound.size);
    for (const CompoundMember& given : compound.members) {
        const Member member = member_of(given);
        const char* name = given.name.c_str();
        nc::check(member.count == 0
                      ? nc_insert_compound(group, type, name, given.offset, member.type)
                      : nc_insert_array_compound(group, type, name, given.offset, member.type, 1,
                                                 &member.count),
                  "nc_insert_compound", path + "." + given.name);
        std::copy(member.bytes.begin(), member.bytes.end(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(given.offset));
    }
    putter.put(type, 1, bytes.data());
}

}  // namespace

void check_attribute(const core::Attribute& attribute, bool object_known) {
    const std::string where = attribute.object + "@" + attribute.name;
    check_name(attribute.name, where);
    if (std::find(reserved.begin(), reserved.end(), attribute.name) != reserved.end())
        throw Error(Code::bad_input,
                    "netCDF keeps the name " + core::in_quotes(attribute.name) + " for itself",
                    where, "give the attribute another name");
    if (!object_known)
        throw Error(Code::bad_input, "no object \"" + attribute.object + "\" is defined", where,
                    "use / for the file, or the path of a variable or group");
    if (const auto* compound = std::get_if<Compound>(&attribute.value))
        check_compound(*compound, where);
}

void put_attribute(const nc::File& file, const core::Attribute& attribute, DataModel model) {
    const std::string where = attribute.object + "@" + attribute.name;
    const Putter putter{place_of(file, attribute.object), attribute.name, where, model, nullptr};
    if (const auto* compound = std::get_if<Compound>(&attribute.value)) {
        if (model == DataModel::netcdf4) put_compound(file, putter, *compound);
    } else if (const auto* scalar = std::get_if<AttributeScalar>(&attribute.value)) {
        put_value(putter, *scalar);
    } else {
        put_value(putter, std::get<AttributeArray>(attribute.value));
    }
}

void check_same_attribute(const nc::File& file, const core::Attribute& attribute, DataModel model,
                          const std::filesystem::path& name) {
    const std::string where = attribute.object + "@" + attribute.name;
    const Putter putter{place_of(file, attribute.object), attribute.name, where, model, &name};
    std::visit(
        [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Compound>)
                put_value(putter, value);
        },
        attribute.value);
}

}  // namespace tailrace::formats::netcdf4
