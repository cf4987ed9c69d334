// SPDX-License-Identifier: Apache-2.0
#include "formats/pnetcdf/limits.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/checked.hpp"
#include "core/config.hpp"
#include "core/error.hpp"

namespace tailrace::formats::pnetcdf {

using core::Code;
using core::Error;
using core::Object;
using core::Scalar;

namespace {

constexpr std::size_t longest_name = 256;  // NC_MAX_NAME
constexpr std::uint64_t greatest_i31 = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t greatest_u32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t greatest_i63 = std::numeric_limits<std::int64_t>::max();
constexpr const char* use_cdf_5 = "use `cdf 5`, or format hdf5";

std::string format_name(const Options& options) { return "CDF-" + std::to_string(options.cdf); }

/// Names as PnetCDF takes them, dimensions named after a variable included.
void check_name(const std::string& name, const std::string& where) {
    const auto refuse = [&](const std::string& why) {
        throw Error(Code::bad_input, core::in_quotes(name) + " is no name for netCDF: " + why,
                    where,
                    "begin it with a letter, a digit or _, and use neither / nor control "
                    "characters; or use format hdf5");
    };
    if (name.empty()) refuse("it is empty");
    if (name.size() + 4 > longest_name) refuse("it is longer than 252 bytes");
    const auto first = static_cast<unsigned char>(name.front());
    if (std::isalnum(first) == 0 && first != '_' && first < 0x80) refuse("of its first character");
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '/')
            refuse("of a / or a control character");
    if (name.back() == ' ') refuse("it ends with a space");
}

void check_path(const Object& object) {
    if (object.path.size() < 2 || object.path.front() != '/')
        throw Error(Code::bad_input, "\"" + object.path + "\" is not the path of an object", "",
                    "begin it with / and a name");
    if (object.path.find('/', 1) != std::string::npos)
        throw Error(Code::unsupported, "classic netCDF files have no groups", object.path,
                    "give the object a path with one /, or use format hdf5");
    check_name(variable_name(object), object.path);
    for (const std::string& axis : object.axes)
        if (!axis.empty()) check_name(axis, object.path);
}

void check_type(const Options& options, const Object& object) {
    const bool classic = object.type == Scalar::i8 || object.type == Scalar::i16 ||
                         object.type == Scalar::i32 || object.type == Scalar::f32 ||
                         object.type == Scalar::f64;
    if (options.cdf != 5 && !classic)
        throw Error(Code::bad_input,
                    format_name(options) + " has no type " + std::string(core::name(object.type)),
                    object.path, use_cdf_5);
}

void check_dims(const Options& options, const Object& object) {
    if (object.dims.size() > greatest_rank)
        throw Error(Code::bad_input, "it has " + std::to_string(object.dims.size()) + " dimensions",
                    object.path, "netCDF takes at most " + std::to_string(greatest_rank));
    for (std::size_t d = 0; d < object.dims.size(); ++d) {
        const core::Extent& dim = object.dims[d];
        const std::string axis = "dimension " + std::to_string(d);
        if (dim.unlimited && d > 0)
            throw Error(Code::unsupported,
                        axis + " grows; in classic netCDF files only the first can", object.path,
                        "make it the first one, or use format hdf5");
        if (!dim.unlimited && dim.size == 0)
            throw Error(Code::unsupported,
                        axis + " has no elements; classic netCDF cannot say that", object.path,
                        "leave the object out, or use format hdf5");
        const std::uint64_t most = options.cdf == 5 ? greatest_i63 - 3 : greatest_i31 - 3;
        if (dim.size > most)
            throw Error(Code::bad_input,
                        axis + " of " + std::to_string(dim.size) + " elements is longer than " +
                            format_name(options) + " can say (" + std::to_string(most) + ")",
                        object.path, options.cdf == 5 ? "make it shorter" : use_cdf_5);
    }
}

template <class Number>
bool holds(const core::Fill& fill) {
    if (const auto* whole = std::get_if<std::int64_t>(&fill.value))
        return std::in_range<Number>(*whole);
    const double value = fill.as<double>();
    const double low = static_cast<double>(std::numeric_limits<Number>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<Number>::digits);
    return value >= low && value < high && value == std::trunc(value);
}

bool holds(Scalar type, const core::Fill& value) {
    switch (type) {
        case Scalar::i8:
            return holds<std::int8_t>(value);
        case Scalar::u8:
            return holds<std::uint8_t>(value);
        case Scalar::i16:
            return holds<std::int16_t>(value);
        case Scalar::u16:
            return holds<std::uint16_t>(value);
        case Scalar::i32:
            return holds<std::int32_t>(value);
        case Scalar::u32:
            return holds<std::uint32_t>(value);
        case Scalar::i64:
            return holds<std::int64_t>(value);
        case Scalar::u64:
            return holds<std::uint64_t>(value);
        case Scalar::f32:
        case Scalar::f64:
            return true;
    }
    return false;
}

void check_fill(const Object& object) {
    if (object.fill.set && !holds(object.type, object.fill))
        throw Error(Code::bad_input,
                    "fill value " + object.fill.text() + " does not fit type " +
                        std::string(core::name(object.type)),
                    object.path, "give a fill value of that type");
}

/// Bytes of a variable, or of one record of it, rounded up as in the file.
std::uint64_t bytes_of(const Object& object) {
    std::uint64_t bytes = core::size_of(object.type);
    for (std::size_t d = is_record(object) ? 1 : 0; d < object.dims.size(); ++d)
        bytes = core::checked_mul(bytes, object.dims[d].size, object.path);
    return core::checked_add(bytes, (4 - bytes % 4) % 4, object.path);
}

/// Only one variable may be larger than the format's size field, and only as the last one.
void check_sizes(const Options& options, std::span<const Object> objects) {
    const std::uint64_t most = options.cdf == 5   ? greatest_i63 - 3
                               : options.cdf == 2 ? greatest_u32 - 3
                                                  : greatest_i31 - 3;
    const Object* large_fixed = nullptr;
    const Object* large_record = nullptr;
    std::uint64_t fixed_end = 0;
    bool records = false;
    const auto refuse = [&](const Object& object, const std::string& why) {
        throw Error(Code::bad_input,
                    "its " + std::to_string(bytes_of(object)) + " bytes are more than the " +
                        std::to_string(most) + " that " + format_name(options) +
                        " takes for a variable" + why,
                    object.path, options.cdf == 5 ? "make it smaller" : use_cdf_5);
    };
    for (const Object& object : objects) {
        const bool record = is_record(object);
        records = records || record;
        const std::uint64_t bytes = bytes_of(object);
        const Object*& large = record ? large_record : large_fixed;
        if (large != nullptr) refuse(*large, " that others follow");
        if (bytes > most) {
            if (options.cdf == 5) refuse(object, "");
            large = &object;
        }
        if (record) continue;
        // Where a variable begins is 32 bits wide in CDF-1.
        if (options.cdf == 1 && fixed_end > greatest_i31)
            throw Error(Code::bad_input,
                        "it would begin at byte " + std::to_string(fixed_end) +
                            "; CDF-1 can say at most " + std::to_string(greatest_i31),
                        object.path, "use `cdf 2` or `cdf 5`, or format hdf5");
        fixed_end = core::checked_add(fixed_end, bytes, object.path);
    }
    if (fixed_end > greatest_i63)
        throw Error(Code::bad_input, "all objects take more than 2^63 bytes", objects.back().path,
                    "make them smaller");
    if (large_fixed != nullptr && records) refuse(*large_fixed, " that records follow");
    if (options.cdf == 1 && records && fixed_end > greatest_i31)
        for (const Object& object : objects)
            if (is_record(object))
                throw Error(Code::bad_input,
                            "its records would begin at byte " + std::to_string(fixed_end) +
                                "; CDF-1 can say at most " + std::to_string(greatest_i31),
                            object.path, "use `cdf 2` or `cdf 5`, or format hdf5");
}

/// CDF-1 and CDF-2 have no integers beyond 32 bits; a double holds what is exact in it.
template <class Number>
void check_integer(const Options& options, Number value, const std::string& where) {
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    if (options.cdf == 5) return;
    const bool fits = value <= static_cast<Number>(exact) &&
                      (!std::is_signed_v<Number> || static_cast<std::int64_t>(value) >= -exact);
    if (!fits)
        throw Error(Code::bad_input,
                    std::to_string(value) + " cannot be said exactly in " + format_name(options),
                    where, use_cdf_5);
}

void check_value(const Options& options, const core::AttributeScalar& scalar,
                 const std::string& where) {
    if (const auto* wide = std::get_if<std::int64_t>(&scalar)) check_integer(options, *wide, where);
    if (const auto* wide = std::get_if<std::uint64_t>(&scalar))
        check_integer(options, *wide, where);
}

void check_value(const Options& options, const core::AttributeArray& array,
                 const std::string& where) {
    std::visit(
        [&](const auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if constexpr (std::is_integral_v<Value> && sizeof(Value) == sizeof(std::int64_t))
                for (const Value value : values) check_integer(options, value, where);
        },
        array);
}

/// All records lie in one dimension: a shorter object would get the others' number of them, filled
/// or not.
void check_records(const Options& options, std::span<const Object> objects) {
    if (!options.unlimited) return;
    const Object* first = nullptr;
    for (const Object& object : objects) {
        if (!is_record(object)) continue;
        if (first == nullptr) first = &object;
        if (object.dims[0].size != first->dims[0].size)
            throw Error(Code::bad_input,
                        "with unlimited it shares its first dimension with " + first->path +
                            ", and has " + std::to_string(object.dims[0].size) +
                            " records where that has " + std::to_string(first->dims[0].size),
                        object.path,
                        "take unlimited away, write objects that are equally long, or take format "
                        "netcdf4, where each has a dimension of its own");
    }
}

void check_attribute(const Options& options, const core::Attribute& attribute,
                     const std::set<std::string>& paths) {
    const std::string where = attribute.object + "@" + attribute.name;
    if (attribute.object != "/" && !paths.contains(attribute.object))
        throw Error(Code::bad_input, "no object \"" + attribute.object + "\" is defined", where,
                    "use / for the file, or the path of an object");
    check_name(attribute.name, where);
    if (const auto* scalar = std::get_if<core::AttributeScalar>(&attribute.value))
        check_value(options, *scalar, where);
    if (const auto* array = std::get_if<core::AttributeArray>(&attribute.value))
        check_value(options, *array, where);
}

}  // namespace

std::string variable_name(const Object& object) { return object.path.substr(1); }

bool is_record(const Object& object) { return !object.dims.empty() && object.dims[0].unlimited; }

core::Schema as_stored(const Options& options, core::Schema schema) {
    for (Object& object : schema.objects)
        if (options.unlimited && !object.dims.empty()) object.dims[0].unlimited = true;
    return schema;
}

void check_schema(const Options& options, const core::Schema& schema,
                  std::span<const Object> before) {
    std::vector<Object> all(before.begin(), before.end());
    std::set<std::string> paths;
    for (const Object& object : all) paths.insert(object.path);
    for (const Object& object : schema.objects) {
        check_path(object);
        check_type(options, object);
        check_dims(options, object);
        check_fill(object);
        if (!paths.insert(object.path).second)
            throw Error(Code::bad_input, "it is defined twice", object.path,
                        "give every object a path of its own");
        all.push_back(object);
    }
    check_records(options, all);
    check_sizes(options, all);
    for (const core::Attribute& attribute : schema.attributes)
        check_attribute(options, attribute, paths);
}

}  // namespace tailrace::formats::pnetcdf
