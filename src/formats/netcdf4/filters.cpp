// SPDX-License-Identifier: Apache-2.0
#include "formats/netcdf4/filters.hpp"

#include <netcdf_filter.h>

#include <climits>
#include <cstdlib>

#include "core/config.hpp"
#include "formats/hdf5/beneath.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

using core::Code;
using core::Error;

constexpr unsigned deflate_id = 1, szip_id = 4;

bool floating(const core::Object& object) {
    return object.type == core::Scalar::f32 || object.type == core::Scalar::f64;
}

void require_filter(unsigned id, const std::string& key, const std::string& remedy) {
    if (hdf5::has_filter(id)) return;
    throw Error(Code::unsupported, "HDF5 has no filter " + std::to_string(id) + " (" + key + ")",
                key, remedy);
}

std::string plugin_remedy() {
    const char* path = std::getenv("HDF5_PLUGIN_PATH");
    return "install its plugin (`pip install hdf5plugin` has many) and set HDF5_PLUGIN_PATH, which "
           "is " +
           (path == nullptr ? std::string("not set") : core::in_quotes(path)) +
           ", to its folder; or leave it out";
}

int quantize_mode(Quantize how) {
    switch (how) {
        case Quantize::none:
            return NC_NOQUANTIZE;
        case Quantize::bit_groom:
            return NC_QUANTIZE_BITGROOM;
        case Quantize::granular_bit_round:
            return NC_QUANTIZE_GRANULARBR;
        case Quantize::bit_round:
            return NC_QUANTIZE_BITROUND;
    }
    return NC_NOQUANTIZE;
}

int most_digits(Quantize how, core::Scalar type) {
    const bool narrow = type == core::Scalar::f32;
    if (how == Quantize::bit_round)
        return narrow ? NC_QUANTIZE_MAX_FLOAT_NSB : NC_QUANTIZE_MAX_DOUBLE_NSB;
    return narrow ? NC_QUANTIZE_MAX_FLOAT_NSD : NC_QUANTIZE_MAX_DOUBLE_NSD;
}

void check_filters(const Options& options, const std::string& object = {}) {
    const auto at = [&](const std::string& key) {
        return object.empty() ? key : object + ", " + key;
    };
    if (options.deflate != 0)
        require_filter(deflate_id, at("deflate"), "build HDF5 with zlib, or leave deflate out");
    if (options.zstd) require_filter(zstd_filter, at("zstd"), plugin_remedy());
    if (options.szip)
        require_filter(szip_id, at("szip"),
                       "build HDF5 and netCDF-C with libaec (szip), or use deflate or zstd");
    for (const hdf5::Filter& filter : options.filters)
        require_filter(filter.id, at(filter.name.empty() ? "filter" : filter.name),
                       plugin_remedy());
}

}  // namespace

void check_options(const Options& options, int ranks) {
    if (options.model == DataModel::cdf5 && !options.serial)
        throw Error(Code::bad_input, "netCDF-C writes CDF-5 by one rank alone", "cmode",
                    "use format pnetcdf");
    if (options.filtered() && ranks > 1 && !options.collective)
        throw Error(Code::bad_input,
                    "filters (deflate and the like) need collective writes on several ranks",
                    "collective_write", "add collective_write");
    for (const std::uint64_t bytes : {options.alignment_bytes, options.alignment_threshold_bytes})
        if (bytes > INT_MAX)
            throw Error(Code::bad_input,
                        std::to_string(bytes) + " bytes are more than netCDF takes", "alignment",
                        "give at most " + std::to_string(INT_MAX));
    if (options.deflate < 0 || options.deflate > 9)
        throw Error(Code::bad_input,
                    "level " + std::to_string(options.deflate) + " is not between 0 and 9",
                    "deflate", "give 0 (off) to 9");
    check_filters(options);
    check_levels(options.storage);
    for (const auto& [path, own] : options.storage) check_filters(options.with(path, own), path);
}

void check_quantize(const core::Object& object, const Options& options) {
    if (options.quantize == Quantize::none || !floating(object)) return;
    const int most = most_digits(options.quantize, object.type);
    if (options.quantize_digits >= 1 && options.quantize_digits <= most) return;
    throw Error(Code::bad_input,
                std::to_string(options.quantize_digits) +
                    (options.quantize == Quantize::bit_round ? " bits of the mantissa"
                                                             : " decimal digits") +
                    " are not possible for elements of type " +
                    std::string(core::name(object.type)),
                object.path, "quantize takes 1 to " + std::to_string(most) + " here");
}

void set_filters(const nc::Variable& variable, const core::Object& object, const Options& options) {
    const auto check = [&](int status, const char* call) { nc::check(status, call, object.path); };
    const int group = variable.group, id = variable.id;
    if (options.quantize != Quantize::none && floating(object))
        check(nc_def_var_quantize(group, id, quantize_mode(options.quantize),
                                  options.quantize_digits),
              "nc_def_var_quantize");
    if (options.shuffle || options.deflate != 0)
        check(nc_def_var_deflate(group, id, options.shuffle ? 1 : 0, options.deflate != 0 ? 1 : 0,
                                 options.deflate),
              "nc_def_var_deflate");
    // nc_def_var_zstandard of a library that was built without zstd says yes and does nothing.
    if (options.zstd) {
        const auto level = static_cast<unsigned>(*options.zstd);
        check(nc_def_var_filter(group, id, zstd_filter, 1, &level), "nc_def_var_filter");
    }
    if (options.szip)
        check(nc_def_var_szip(group, id, options.szip->nearest_neighbour ? NC_SZIP_NN : NC_SZIP_EC,
                              static_cast<int>(options.szip->pixels_per_block)),
              "nc_def_var_szip");
    for (const hdf5::Filter& filter : options.filters)
        check(nc_def_var_filter(group, id, filter.id, filter.parameters.size(),
                                filter.parameters.data()),
              "nc_def_var_filter");
}

std::string quantize_text(const nc::Variable& variable, const std::string& where) {
    int mode = NC_NOQUANTIZE, digits = 0;
    nc::check(nc_inq_var_quantize(variable.group, variable.id, &mode, &digits),
              "nc_inq_var_quantize", where);
    for (const auto& [how, name] : {std::pair{Quantize::bit_groom, "bitgroom "},
                                    std::pair{Quantize::granular_bit_round, "granularbr "},
                                    std::pair{Quantize::bit_round, "bitround "}})
        if (quantize_mode(how) == mode) return name + std::to_string(digits);
    return "none";
}

}  // namespace tailrace::formats::netcdf4
