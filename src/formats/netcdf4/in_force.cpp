// SPDX-License-Identifier: Apache-2.0
#include "formats/netcdf4/in_force.hpp"

#include <vector>

#include "formats/netcdf4/filters.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

/// "time (unlimited) x y z".
std::string dimensions_text(const nc::File& file, const nc::Variable& variable,
                            const std::string& where) {
    int count = 0, unlimited_count = 0;
    nc::check(nc_inq_varndims(variable.group, variable.id, &count), "nc_inq_varndims", where);
    std::vector<int> ids(static_cast<std::size_t>(count));
    nc::check(nc_inq_vardimid(variable.group, variable.id, ids.data()), "nc_inq_vardimid", where);
    nc::check(nc_inq_unlimdims(file.get(), &unlimited_count, nullptr), "nc_inq_unlimdims", where);
    std::vector<int> unlimited(static_cast<std::size_t>(unlimited_count));
    nc::check(nc_inq_unlimdims(file.get(), &unlimited_count, unlimited.data()), "nc_inq_unlimdims",
              where);
    std::string text;
    for (const int id : ids) {
        char name[NC_MAX_NAME + 1] = {};
        nc::check(nc_inq_dimname(file.get(), id, name), "nc_inq_dimname", where);
        text += (text.empty() ? "" : " ") + std::string(name);
        for (const int one : unlimited) text += one == id ? " (unlimited)" : "";
    }
    return text.empty() ? "none" : text;
}

}  // namespace

void look_at_file(const nc::File& file, const std::string& where,
                  std::map<std::string, std::string>& settings) {
    int format = 0;
    nc::check(nc_inq_format(file.get(), &format), "nc_inq_format", where);
    settings["data_model"] = format == NC_FORMAT_CDF5              ? "cdf5"
                             : format == NC_FORMAT_NETCDF4_CLASSIC ? "classic-model"
                                                                   : "netcdf4";
    settings["netcdf_library"] = "netCDF-C " + nc::library_version();
}

void look_at_variable(const nc::File& file, const std::string& path, bool only,
                      std::map<std::string, std::string>& settings) {
    const std::string prefix = only ? "" : path + " ";
    const nc::Variable variable = nc::variable(file, path);
    int endian = 0, no_fill = 0;
    nc::check(nc_inq_var_fill(variable.group, variable.id, &no_fill, nullptr), "nc_inq_var_fill",
              path);
    settings[prefix + "dimensions"] = dimensions_text(file, variable, path);
    settings[prefix + "fill"] = no_fill != 0 ? "off" : "on";
    if (settings.at("data_model") == "cdf5") return;
    nc::check(nc_inq_var_endian(variable.group, variable.id, &endian), "nc_inq_var_endian", path);
    settings[prefix + "endian"] = endian == NC_ENDIAN_BIG      ? "big"
                                  : endian == NC_ENDIAN_LITTLE ? "little"
                                                               : "native";
    settings[prefix + "quantize"] = quantize_text(variable, path);
}

}  // namespace tailrace::formats::netcdf4
