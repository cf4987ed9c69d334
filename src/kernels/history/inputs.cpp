// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/inputs.hpp"

#include <chrono>
#include <cstdio>

#include "core/checked.hpp"
#include "formats/keys.hpp"

namespace tailrace::kernels::history {

using core::Config;
using core::Object;
using core::Scalar;

namespace {

Object field(const std::string& name, const std::vector<core::Extent>& dims,
             const std::vector<std::string>& axes) {
    Object one;
    one.path = "/" + name;
    one.dims = dims;
    one.axes = axes;
    one.kind = core::Kind::record;
    return one;
}

void take_size(Inputs& inputs) {
    const Config& config = inputs.config;
    inputs.im = config.number("im");
    inputs.jm = config.number("jm");
    inputs.km = config.number("km");
    if (!config.has("size")) return;
    for (const char* name : {"im", "jm", "km"})
        if (config.given(name))
            throw config.error("size", std::string("it says what ") + name + " says, too",
                               "give size, or im, jm and km");
    const bool large = config.text("size") == "720x361x72";
    inputs.im = large ? 720 : 360;
    inputs.jm = large ? 361 : 181;
    inputs.km = 72;
    for (const auto& [name, value] :
         {std::pair{"im", inputs.im}, std::pair{"jm", inputs.jm}, std::pair{"km", inputs.km}})
        inputs.config.derive(name, std::to_string(value), "size");
}

void take_server(Inputs& inputs) {
    const Config& config = inputs.config;
    inputs.by_server = config.has("servers");
    if (!inputs.by_server) return;
    inputs.servers = config.number("servers");
    if (!std::holds_alternative<formats::netcdf4::Options>(inputs.options))
        throw config.error("servers", "the kernel has a server write netCDF-4 alone",
                           "leave format out, or leave servers out");
}

/// A dimension without a limit takes collective transfers.
void choose_format(Inputs& inputs) {
    auto* netcdf = std::get_if<formats::netcdf4::Options>(&inputs.options);
    if (netcdf != nullptr) netcdf->collective = true;
    for (const Object& object : inputs.objects())
        formats::set_chunk(inputs.options, object.path, inputs.chunk_of(object));
}

}  // namespace

std::vector<Object> Inputs::objects() const {
    const core::Extent time{records, true};
    std::vector<Object> all{field("time", {time}, {"time"})};
    all[0].type = Scalar::f64;
    for (std::uint64_t i = 0; i < fields_3d; ++i)
        all.push_back(field("T" + std::to_string(i + 1), {time, {km}, {jm}, {im}},
                            {"time", "lev", "lat", "lon"}));
    for (std::uint64_t i = 0; i < fields_2d; ++i)
        all.push_back(
            field("S" + std::to_string(i + 1), {time, {jm}, {im}}, {"time", "lat", "lon"}));
    return all;
}

core::Extents Inputs::chunk_of(const Object& object) const {
    core::Extents chunk = object.sizes();
    if (object.dims.size() > 1) chunk[0] = 1;
    return chunk;
}

std::filesystem::path Inputs::file_of(std::uint64_t day) const {
    using namespace std::chrono;
    const year_month_day date{sys_days{2000y / January / 1} + std::chrono::days{day}};
    const auto number = [](const char* format, int value) {
        char text[16];
        std::snprintf(text, sizeof text, format, value);
        return std::string(text);
    };
    std::string name = filename.string();
    for (const auto& [word, value] :
         {std::pair{"%Y", number("%04d", int{date.year()})},
          std::pair{"%m", number("%02d", static_cast<int>(unsigned{date.month()}))},
          std::pair{"%d", number("%02d", static_cast<int>(unsigned{date.day()}))}})
        for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word))
            name.replace(at, 2, value);
    return name;
}

std::uint64_t Inputs::record_bytes() const {
    const std::uint64_t plane = run::product(config, "im", {im, jm, 4});
    return core::checked_add(8, run::product(config, "im", {plane, fields_3d * km + fields_2d}),
                             "bytes of a record");
}

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    if (!inputs.config.given("format"))
        inputs.config.derive("format", "netcdf4", "default of history");
    take_size(inputs);
    inputs.fields_3d = inputs.config.number("fields_3d");
    inputs.fields_2d = inputs.config.number("fields_2d");
    inputs.days = inputs.config.number("days");
    inputs.records = inputs.config.number("records");
    inputs.ranks = ranks;
    run::take_shared(inputs);
    take_server(inputs);
    choose_format(inputs);
    run::settle(inputs);
    if (run::product(inputs.config, "days", {inputs.record_bytes(), inputs.records, inputs.days}) >
        run::largest_file_bytes)
        throw inputs.config.error("days", "the files together are larger than 2^63 bytes",
                                  "make days, records or the grid smaller");
    if (inputs.days > 1 && inputs.file_of(0) == inputs.file_of(1))
        throw inputs.config.error("filename", "all days have the same name",
                                  "put %Y%m%d into it, or set days=1");
    return inputs;
}

}  // namespace tailrace::kernels::history
