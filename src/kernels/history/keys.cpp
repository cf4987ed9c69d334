// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel.
#include "formats/keys.hpp"
#include "kernels/history/inputs.hpp"

namespace tailrace::kernels::history {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;
using runner::key;

void add_number(KeyTable& table, const char* name, const char* group, const char* help,
                const char* usual, std::uint64_t least) {
    Key one = key(name, Shape::number, group, help);
    one.default_text = usual;
    one.min = least;
    one.max = std::uint64_t{1} << 32;
    table.add(one);
}

void add_geometry(KeyTable& table) {
    constexpr const char* group = "Geometry";
    Key size = key("size", Shape::choice, group, "grid by name: IM x JM x KM");
    size.choices = {"360x181x72", "720x361x72"};
    size.default_text = "360x181x72";
    table.add(size);
    add_number(table, "im", group, "longitudes, instead of those of size", "360", 1);
    add_number(table, "jm", group, "latitudes, instead of those of size", "181", 1);
    add_number(table, "km", group, "levels, instead of those of size", "72", 1);
    Key grid = key("decomposition", Shape::tuple, group,
                   "ranks of the model along longitude and latitude; without it nearly square");
    grid.tuple_size = 2;
    grid.min = 1;
    table.add(grid);
}

void add_contents(KeyTable& table) {
    constexpr const char* group = "Contents";
    add_number(table, "fields_2d", group, "fields without levels", "1", 0);
    add_number(table, "fields_3d", group, "fields with levels", "1", 0);
    add_number(table, "extra_2d", group, "more fields without levels", "0", 0);
    add_number(table, "collections", group,
               "as many collections, each with all these fields, in files of its own", "1", 1);
    add_number(table, "days", group, "days of the model", "3", 1);
    add_number(table, "records_per_day", group, "records (steps) of a day", "6", 1);
    Key records = key("records_per_file", Shape::number, group,
                      "records of a file; without it those of a day. The last file may have fewer");
    records.min = 1;
    table.add(records);
    Key filename = key("filename", Shape::text, group,
                       "the files to write; %Y, %m, %d, %H and %M stand for the date of the first "
                       "record, counted from 2000-01-01, %c for the number of the collection");
    filename.default_text = "history.%Y%m%d.nc4";
    table.add(filename);
}

}  // namespace

KeyTable key_table() {
    KeyTable table;
    add_geometry(table);
    add_contents(table);
    Key servers = key(
        "servers", Shape::number, "Server",
        "ranks, the last ones, that write for the others; 0: the model's ranks write through the "
        "server's library themselves; without it there is no server: plain calls");
    table.add(servers);
    Key memory = key("memory_every", Shape::real, "Server",
                     "seconds between looks at the memory of all processes; 0: none");
    memory.default_text = "0";
    memory.unit = "s";
    table.add(memory);
    formats::register_keys(table);
    runner::register_keys(table);
    return table;
}

}  // namespace tailrace::kernels::history
