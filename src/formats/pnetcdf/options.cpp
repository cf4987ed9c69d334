// SPDX-License-Identifier: Apache-2.0
// The keys of format pnetcdf; those that it shares with others are described with hdf5. No foreign
// header: they are known, and checked, in every build.
#include "formats/keys.hpp"

namespace tailrace::formats::pnetcdf {

namespace {

using core::Key;
using core::Shape;

Key key(const char* name, Shape shape, const char* help) {
    return key_of("pnetcdf", "PnetCDF", name, shape, help);
}

Key bytes_key(const char* name, const char* help) {
    Key one = key(name, Shape::number, help);
    one.unit = "bytes";
    return one;
}

Put put_of(const std::string& word) {
    if (word == "aggregated") return Put::aggregated;
    return word == "buffered" ? Put::buffered : Put::blocking;
}

}  // namespace

void register_keys(core::KeyTable& table) {
    for (const auto& [name, shape] :
         {std::pair{"alignment", Shape::words}, std::pair{"collective_write", Shape::flag},
          std::pair{"never_fill", Shape::flag}, std::pair{"unlimited", Shape::flag},
          std::pair{"hint", Shape::pairs}})
        table.add(key(name, shape, ""));
    Key cdf = key("cdf", Shape::choice, "the classic netCDF format: CDF-1, CDF-2 or CDF-5");
    cdf.choices = {"1", "2", "5"};
    cdf.default_text = "5";
    table.add(cdf);
    Key put = key("put", Shape::choice,
                  "each piece by a call of its own, or all pieces of a step together at its end "
                  "(buffered: copied into one buffer until then)");
    put.choices = {"blocking", "aggregated", "buffered"};
    put.default_text = "blocking";
    table.add(put);
    table.add(bytes_key("header_alignment",
                        "the first variable begins at a multiple of this (nc_header_align_size)"));
    table.add(bytes_key("record_alignment",
                        "the records begin at a multiple of this (nc_record_align_size)"));
    table.add(
        bytes_key("header_reserve", "free space kept behind the header, for later additions"));
    table.add(key("burst_buffer", Shape::text,
                  "folder on fast storage where writes are logged first (nc_burst_buf)"));
}

Facts Options::facts() const {
    return {.format = "pnetcdf",
            .collective = collective,
            .contiguous = "with format pnetcdf: its layout is contiguous",
            .hint_to_swap = "nc_in_place_swap"};
}

Options options_from(const core::Config& config) {
    Options options;
    const auto number = [&](const char* name) -> std::uint64_t {
        return config.has(name) ? config.number(name) : 0;
    };
    options.collective = config.flag("collective_write");
    options.never_fill = config.flag("never_fill");
    options.unlimited = config.flag("unlimited");
    options.cdf = config.text("cdf")[0] - '0';
    options.put = put_of(config.text("put"));
    if (config.has("alignment")) options.alignment_bytes = raw_alignment(config);
    options.header_alignment_bytes = number("header_alignment");
    options.record_alignment_bytes = number("record_alignment");
    options.header_reserve_bytes = number("header_reserve");
    if (config.has("burst_buffer")) options.burst_buffer = config.text("burst_buffer");
    options.hints = hints_of(config);
    return options;
}

}  // namespace tailrace::formats::pnetcdf
