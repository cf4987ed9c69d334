// SPDX-License-Identifier: Apache-2.0
#include "formats/netcdf4/define.hpp"

#include <netcdf_filter.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "core/config.hpp"
#include "formats/file/copy_file.hpp"
#include "formats/hdf5/beneath.hpp"
#include "formats/netcdf4/filters.hpp"
#include "formats/netcdf_names.hpp"
#include "formats/pnetcdf/limits.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

using core::Code;
using core::Error;
using core::Object;
using core::Scalar;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void check_names(const Object& object) {
    for (std::size_t begin = 1; begin <= object.path.size();) {
        const std::size_t slash = std::min(object.path.find('/', begin), object.path.size());
        check_name(object.path.substr(begin, slash - begin), object.path);
        begin = slash + 1;
    }
    for (const std::string& axis : object.axes)
        if (!axis.empty()) {
            check_name(axis, object.path);
            if (axis.find('/') != std::string::npos)
                throw Error(Code::bad_input, core::in_quotes(axis) + " is no name of a dimension",
                            object.path, "leave the / out");
        }
}

void check_classic(const Object& object) {
    static constexpr std::array allowed{Scalar::i8, Scalar::i16, Scalar::i32, Scalar::f32,
                                        Scalar::f64};
    if (std::find(allowed.begin(), allowed.end(), object.type) == allowed.end())
        throw Error(Code::bad_input,
                    "the classic data model has no elements of type " +
                        std::string(core::name(object.type)),
                    object.path, "use cmode netcdf4, or one of i8, i16, i32, f32, f64");
    if (object.path.find('/', 1) != std::string::npos)
        throw Error(Code::bad_input, "the classic data model has no groups", object.path,
                    "use cmode netcdf4, or a name without /");
    for (std::size_t d = 1; d < object.dims.size(); ++d)
        if (object.dims[d].unlimited)
            throw Error(Code::bad_input,
                        "in the classic data model only the first dimension can grow", object.path,
                        "use cmode netcdf4, or give dimension " + std::to_string(d) + " a size");
}

void check_plain(const Object& object, const Options& options) {
    const bool filtered = options.file_wide_filters() || options.quantize != Quantize::none;
    if (!filtered && !options.library_chunks && !options.chunks.contains(object.path)) return;
    throw Error(Code::bad_input, std::string("CDF-5 has no ") + (filtered ? "filters" : "chunks"),
                object.path,
                "leave chunks, deflate, zstd, shuffle and quantize out, or use format netcdf4");
}

/// Dimensions of one name are shared where they are the same; else the variable's name is put in
/// front.
class Dimensions {
public:
    Dimensions(const nc::File& file, const Object& object, std::span<const Defined> taken)
        : x_file(file), x_object(object), x_taken(taken) {}

    [[nodiscard]] int id_of(std::size_t axis) const {
        const core::Extent& dim = x_object.dims[axis];
        const std::string given = axis < x_object.axes.size() ? x_object.axes[axis] : "";
        const std::string own = dimension_name(last_part(x_object.path), axis);
        std::string name = given;
        if (name.empty()) name = dim.unlimited && axis == 0 ? record_dimension : own;
        int id = -1;
        for (const std::string& one : {name, own})
            if (!is_taken(one, dim) && try_name(one, dim, id)) return id;
        for (std::string other = own + '_';; other += '_')
            if (!is_taken(other, dim) && try_name(other, dim, id)) return id;
    }

private:
    /// By another object in the root group than the coordinate of that dimension.
    [[nodiscard]] bool is_taken(const std::string& name, const core::Extent& dim) const {
        return std::any_of(x_taken.begin(), x_taken.end(), [&](const Defined& defined) {
            const Object& other = defined.object;
            const std::size_t end = 1 + name.size();
            if (other.path.compare(1, name.size(), name) != 0) return false;
            if (other.path.size() > end) return other.path[end] == '/';
            return other.dims.size() != 1 || other.axes.empty() || other.axes[0] != name ||
                   !same(other.dims[0], dim);
        });
    }
    [[nodiscard]] static bool same(const core::Extent& one, const core::Extent& other) {
        return one.unlimited == other.unlimited && (one.unlimited || one.size == other.size);
    }
    /// Makes the dimension, or finds that there is an equal one.
    [[nodiscard]] bool try_name(const std::string& name, const core::Extent& dim, int& id) const {
        std::size_t size = 0;
        if (nc_inq_dimid(x_file.get(), name.c_str(), &id) != NC_NOERR) {
            nc::check(nc_def_dim(x_file.get(), name.c_str(),
                                 dim.unlimited ? NC_UNLIMITED : dim.size, &id),
                      "nc_def_dim", x_object.path);
            return true;
        }
        nc::check(nc_inq_dimlen(x_file.get(), id, &size), "nc_inq_dimlen", x_object.path);
        return same({size, unlimited(id)}, dim);
    }
    [[nodiscard]] bool unlimited(int id) const {
        int count = 0;
        nc::check(nc_inq_unlimdims(x_file.get(), &count, nullptr), "nc_inq_unlimdims",
                  x_object.path);
        std::vector<int> ids(static_cast<std::size_t>(count));
        nc::check(nc_inq_unlimdims(x_file.get(), &count, ids.data()), "nc_inq_unlimdims",
                  x_object.path);
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    }
    const nc::File& x_file;
    const Object& x_object;
    std::span<const Defined> x_taken;
};

/// Calls it with a number of the type.
template <class Call>
int with_number(Scalar type, const Call& call) {
    switch (type) {
        case Scalar::i8:
            return call(std::int8_t{});
        case Scalar::u8:
            return call(std::uint8_t{});
        case Scalar::i16:
            return call(std::int16_t{});
        case Scalar::u16:
            return call(std::uint16_t{});
        case Scalar::i32:
            return call(std::int32_t{});
        case Scalar::u32:
            return call(std::uint32_t{});
        case Scalar::i64:
            return call(std::int64_t{});
        case Scalar::u64:
            return call(std::uint64_t{});
        case Scalar::f32:
            return call(float{});
        case Scalar::f64:
            return call(double{});
    }
    return NC_EBADTYPE;
}

int set_fill(const nc::Variable& variable, const Object& object) {
    return with_number(object.type, [&](auto number) {
        number = object.fill.as<decltype(number)>();
        return nc_def_var_fill(variable.group, variable.id, NC_FILL, &number);
    });
}

bool has_fill(const nc::Variable& variable, const Object& object) {
    std::size_t length = 0;
    const bool set = nc_inq_attlen(variable.group, variable.id, NC_FillValue, &length) == NC_NOERR;
    bool same = set == object.fill.set;
    if (!set || !same) return same;
    nc::check(with_number(object.type,
                          [&](auto number) {
                              const auto wanted = object.fill.as<decltype(number)>();
                              const int status =
                                  nc_inq_var_fill(variable.group, variable.id, nullptr, &number);
                              same = std::ranges::equal(std::as_bytes(std::span(&number, 1)),
                                                        std::as_bytes(std::span(&wanted, 1)));
                              return status;
                          }),
              "nc_inq_var_fill", object.path);
    return same;
}

void set_layout(const nc::Variable& variable, const Object& object, const Options& options) {
    if (object.dims.empty()) return;
    const auto chunk = options.chunks.find(object.path);
    int status = NC_NOERR;
    if (chunk != options.chunks.end()) {
        const std::vector<std::size_t> sizes(chunk->second.begin(), chunk->second.end());
        status = nc_def_var_chunking(variable.group, variable.id, NC_CHUNKED, sizes.data());
    } else if (options.library_chunks || grows(object)) {
        status = nc_def_var_chunking(variable.group, variable.id, NC_CHUNKED, nullptr);
    } else {
        status = nc_def_var_chunking(variable.group, variable.id, NC_CONTIGUOUS, nullptr);
    }
    nc::check(status, "nc_def_var_chunking", object.path);
}

void set_values(const nc::Variable& variable, const Object& object, const Options& options) {
    if (options.never_fill)
        nc::check(nc_def_var_fill(variable.group, variable.id, NC_NOFILL, nullptr),
                  "nc_def_var_fill", object.path);
    else if (object.fill.set)
        nc::check(set_fill(variable, object), "nc_def_var_fill", object.path);
    if (options.endian != Endian::native)
        nc::check(
            nc_def_var_endian(variable.group, variable.id,
                              options.endian == Endian::big ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE),
            "nc_def_var_endian", object.path);
}

}  // namespace

void keep_chunks(const nc::Variable& variable, const Object& object, const Options& options,
                 std::size_t bytes) {
    if (!options.serial || options.model == DataModel::cdf5 || object.dims.empty()) return;
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> chunk(object.dims.size());
    nc::check(nc_inq_var_chunking(variable.group, variable.id, &storage, chunk.data()),
              "nc_inq_var_chunking", object.path);
    if (storage != NC_CHUNKED || chunk[0] != 1) return;
    const std::size_t slots = bytes > 1 ? 521 : 1;  // a prime; 0 bytes would be the default
    nc::check(nc_set_var_chunk_cache(variable.group, variable.id, bytes, slots, 0),
              "nc_set_var_chunk_cache", object.path);
}

void check_name(const std::string& name, const std::string& where) {
    const auto first = static_cast<unsigned char>(name.empty() ? ' ' : name.front());
    const bool begins = first >= 0x80 || first == '_' || std::isalnum(first) != 0;
    const bool printable = std::none_of(name.begin(), name.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f;
    });
    if (begins && printable && name.back() != ' ' && name.size() <= NC_MAX_NAME) return;
    throw Error(Code::bad_input, core::in_quotes(name) + " is no name for netCDF", where,
                "begin it with a letter, a digit or _, end it with no blank, and use at most " +
                    std::to_string(NC_MAX_NAME) + " bytes");
}

Object as_stored(Object object, const Options& options) {
    if (!object.dims.empty() && (options.unlimited || object.kind == core::Kind::record)) {
        if (!object.dims[0].unlimited && options.unlimited) object.dims[0].size = 0;
        object.dims[0].unlimited = true;
    }
    return object;
}

void check_object(const Object& object, const Options& all) {
    const OptionsOf own(all, object.path);
    const Options& options = *own;
    const bool filtered = all.filtered(object.path) && !object.dims.empty();
    hdf5::check_dataset(object, options.chunks);
    check_names(object);
    if (options.model == DataModel::classic) check_classic(object);
    if (options.model == DataModel::cdf5) check_plain(object, options);
    for (std::size_t d = 0; d < object.dims.size(); ++d)
        if (object.dims[d].size == 0 && !object.dims[d].unlimited)
            throw Error(Code::bad_input,
                        "dimension " + std::to_string(d) +
                            " has no elements, which netCDF takes for unlimited",
                        object.path, "leave the object out, or make the dimension unlimited");
    if (filtered && !options.chunks.contains(object.path) && !options.library_chunks &&
        !grows(object))
        throw Error(Code::bad_input, "a filter wants a chunked variable", object.path,
                    "give it a chunk, or take the chunks that netCDF chooses (default_chunks)");
    check_quantize(object, options);
}

void check_cdf5(const core::Schema& schema, std::span<const Defined> before) {
    if (!before.empty())
        throw Error(Code::unsupported,
                    "objects are defined in a later step, for which CDF-5 moves all data",
                    schema.objects.empty() ? "" : schema.objects[0].path,
                    "define all objects at once, or use format netcdf4");
    pnetcdf::check_schema({}, schema);
}

nc::Variable found_variable(const nc::File& file, const Object& object, const Options& options,
                            const std::filesystem::path& name) {
    const nc::Variable variable = nc::variable(file, object.path);
    if (!has_fill(variable, object))
        throw cannot_append(name, object.path, "its fill value is another one");
    keep_chunks(variable, object, options, 1);
    return variable;
}

nc::Variable define_variable(const nc::File& file, const Object& object, const Options& all,
                             std::span<const Defined> taken) {
    const OptionsOf own(all, object.path);
    const Options& options = *own;
    nc::Variable variable{nc::group_of(file, object.path, true), -1, object.text};
    const Dimensions dimensions(file, object, taken);
    std::vector<int> ids;
    for (std::size_t d = 0; d < object.dims.size(); ++d) ids.push_back(dimensions.id_of(d));
    nc::check(nc_def_var(variable.group, last_part(object.path).c_str(),
                         object.text ? NC_CHAR : nc::type_of(object.type),
                         static_cast<int>(ids.size()), ids.data(), &variable.id),
              "nc_def_var", object.path);
    set_values(variable, object, options);
    if (options.model == DataModel::cdf5) return variable;
    set_layout(variable, object, options);
    if (!object.dims.empty()) set_filters(variable, object, options);
    keep_chunks(variable, object, all, 1);
    return variable;
}

}  // namespace tailrace::formats::netcdf4
