// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/inputs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "core/checked.hpp"
#include "formats/keys.hpp"
#include "runner/chunks.hpp"
#include "runner/reads.hpp"

namespace tailrace::kernels::history {

using core::Config;

namespace {

constexpr std::uint64_t most_chunk_bytes = std::uint64_t{2} << 20;  // as the server has it

void take_size(Inputs& inputs) {
    Config& config = inputs.config;
    if (config.text("size") == "720x361x72") {
        if (!config.given("im")) config.derive("im", "720", "size 720x361x72");
        if (!config.given("jm")) config.derive("jm", "361", "size 720x361x72");
    }
    Geometry& geometry = inputs.geometry;
    geometry.im = config.number("im");
    geometry.jm = config.number("jm");
    geometry.km = config.number("km");
}

/// As square as the ranks allow, more of them along longitude.
void take_ranks(Inputs& inputs, std::uint64_t ranks) {
    Geometry& geometry = inputs.geometry;
    if (inputs.config.has("decomposition")) {
        const core::Extents& grid = inputs.config.tuple("decomposition");
        geometry.nx = grid[0], geometry.ny = grid[1];
        if (runner::product(inputs.config, "decomposition", grid) != ranks)
            throw inputs.config.error("decomposition",
                                      runner::by_x(grid) + " blocks do not suit " +
                                          std::to_string(ranks) + " ranks of the model",
                                      "its product must be the number of ranks without servers");
        return;
    }
    for (std::uint64_t ny = 1; ny * ny <= ranks; ++ny)
        if (ranks % ny == 0) geometry.ny = ny;
    geometry.nx = ranks / geometry.ny;
}

void add_variables(Inputs& inputs) {
    inputs.collections = inputs.config.number("collections");
    for (std::uint64_t collection = 1; collection <= inputs.collections; ++collection) {
        const auto add = [&](const char* key, const char* name, Role role) {
            for (std::uint64_t i = 1; i <= inputs.config.number(key); ++i)
                inputs.variables.push_back(
                    {name + std::to_string(i), role, inputs.fields++, collection});
        };
        for (const auto& [name, role] : {std::pair{"time", Role::time},
                                         {"lev", Role::level},
                                         {"lat", Role::latitude},
                                         {"lon", Role::longitude}})
            inputs.variables.push_back({name, role, 0, collection});
        add("fields_2d", "flat_", Role::flat);
        add("fields_3d", "solid_", Role::solid);
        add("extra_2d", "extra_", Role::flat);
    }
    if (inputs.fields == 0)
        throw inputs.config.error("fields_2d", "there is no field to write",
                                  "ask for at least one of fields_2d, fields_3d and extra_2d");
}

void take_steps(Inputs& inputs) {
    const Config& config = inputs.config;
    const std::uint64_t per_day = config.number("records_per_day");
    inputs.steps = runner::product(inputs.config, "days", {config.number("days"), per_day});
    inputs.records_per_file =
        config.has("records_per_file") ? config.number("records_per_file") : per_day;
    inputs.records_per_day = per_day;
    inputs.geometry.minutes_per_step = 1440.0 / static_cast<double>(per_day);
}

void check_names(const Inputs& inputs) {
    std::set<std::filesystem::path> names;
    if (inputs.collections > 1 && inputs.filename.string().find("%c") == std::string::npos)
        throw inputs.config.error("filename",
                                  "the files of " + std::to_string(inputs.collections) +
                                      " collections would have the same names",
                                  "put the number of the collection into it: %c");
    for (std::uint64_t step = 0; step < inputs.steps; step += inputs.records_per_file)
        if (!names.insert(inputs.file_of(step)).second)
            throw inputs.config.error(
                "filename", "two files have the same name, " + inputs.file_of(step).string(),
                "put the date of a file into it: %Y%m%d, or %Y%m%d_%H%M "
                "if a day has several files");
}

/// Files of records grow together, and netCDF-4 grows them in collective calls alone.
void set_defaults(Config& config) {
    if (!config.given("format")) config.derive("format", "netcdf4", "default of history");
    if (config.has("servers") && config.text("format") != "netcdf4")
        throw config.error("servers", "the kernel has a server write netCDF-4 alone",
                           "leave format out, or leave servers out");
    for (const char* key :
         {"alignment", "cmode", "endian", "filter", "hint", "hints", "lfs_stripe_count",
          "lfs_stripe_size", "never_fill", "set_collective_metadata", "szip"})
        if (config.has("servers") && config.given(key))
            throw config.error(key, key + std::string(" has no effect with servers"),
                               "leave it or servers out");
    if (config.has("servers") && config.text("fsync") == "step")
        throw config.error("fsync", "a server syncs a file when it is complete",
                           "leave fsync or servers out");
    if (config.number("collections") > 1 && !config.given("filename"))
        config.derive("filename", "history_%c.%Y%m%d.nc4", "several collections");
    if (!config.given("collective_write"))
        config.derive("collective_write", "1", "default of history");
}

}  // namespace

std::filesystem::path Inputs::file_of(std::uint64_t step, std::uint64_t collection) const {
    using namespace std::chrono;
    const std::uint64_t first = step / records_per_file * records_per_file;
    const std::uint64_t minute =
        first / records_per_day * 1440 + first % records_per_day * 1440 / records_per_day;
    const year_month_day date{sys_days{2000y / January / 1} + std::chrono::days{minute / 1440}};
    const auto two = [](std::uint64_t value) {
        return (value < 10 ? "0" : "") + std::to_string(value);
    };
    const std::array<std::pair<const char*, std::string>, 6> words{
        {{"%c", std::to_string(collection)},
         {"%Y", std::to_string(int{date.year()})},
         {"%m", two(unsigned{date.month()})},
         {"%d", two(unsigned{date.day()})},
         {"%H", two(minute % 1440 / 60)},
         {"%M", two(minute % 60)}}};
    std::string name = filename.string();
    for (const auto& [word, value] : words)
        for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word))
            name.replace(at, 2, value);
    return name;
}

core::Extents Inputs::chunk_of(const Variable& variable) const {
    if (!variable.has_records()) return {};
    core::Extents chunk = core::cut_evenly(geometry.dims_of(variable),
                                           core::size_of(variable.type()), most_chunk_bytes);
    chunk.insert(chunk.begin(), 1);
    return chunk;
}

std::uint64_t Inputs::bytes_of_step(std::uint64_t step) const {
    std::uint64_t bytes = 0;
    for (const Variable& variable : variables) {
        if (!variable.has_records() && step % records_per_file != 0) continue;
        core::Extents factors = geometry.dims_of(variable);
        factors.push_back(core::size_of(variable.type()));
        bytes = core::checked_add(bytes, core::checked_product(factors, "bytes of a step"),
                                  "bytes of a step");
    }
    return bytes;
}

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    set_defaults(inputs.config);
    take_size(inputs);
    take_ranks(inputs, ranks);
    add_variables(inputs);
    take_steps(inputs);
    runner::take_shared(inputs);
    for (const Variable& variable : inputs.variables)
        if (const core::Extents chunk = inputs.chunk_of(variable); !chunk.empty())
            inputs.options.set_chunk("/" + variable.name, chunk);
    runner::settle(inputs);
    const core::Extents factors{inputs.bytes_of_step(0), inputs.steps};
    if (runner::product(inputs.config, "days", factors) > runner::largest_file_bytes)
        throw inputs.config.error("days", "all records take more than 2^63 bytes",
                                  "choose fewer days or fields");
    check_names(inputs);
    return inputs;
}

}  // namespace tailrace::kernels::history
