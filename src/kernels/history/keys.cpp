// SPDX-License-Identifier: Apache-2.0
#include "formats/keys.hpp"
#include "kernels/history/inputs.hpp"

namespace tailrace::kernels::history {

using core::Key;
using core::KeyTable;
using core::Shape;
using run::key;

namespace {

void add_number(KeyTable& table, const char* name, const char* standard, std::uint64_t least,
                const char* help) {
    Key one = key(name, Shape::number, "Model", help);
    one.default_text = standard;
    one.min = least;
    one.max = std::uint64_t{1} << 40;
    table.add(one);
}

}  // namespace

KeyTable key_table() {
    KeyTable table;
    Key size = key("size", Shape::choice, "Model", "im, jm and km by name");
    size.choices = {"360x181x72", "720x361x72"};
    table.add(size);
    add_number(table, "im", "90", 1, "cells along longitude, the fastest dimension");
    add_number(table, "jm", "46", 1, "cells along latitude, which the ranks share in bands");
    add_number(table, "km", "10", 1, "levels");
    add_number(table, "fields_3d", "2", 0, "fields of longitude, latitude and level");
    add_number(table, "fields_2d", "3", 0, "fields of longitude and latitude");
    add_number(table, "days", "3", 1, "files");
    add_number(table, "records", "6", 1, "steps per file");
    Key filename = key("filename", Shape::text, "Model",
                       "name of the files; %Y, %m and %d stand for the day, from 2000-01-01");
    filename.default_text = "history.%Y%m%d.nc4";
    table.add(filename);
    Key servers =
        key("servers", Shape::number, "Server",
            "ranks, the last ones, that write while the others go on; 0: the model writes "
            "through the server library itself; without this key it writes by the format");
    servers.max = 1000000;
    table.add(servers);
    formats::register_keys(table);
    run::register_keys(table);
    return table;
}

}  // namespace tailrace::kernels::history
