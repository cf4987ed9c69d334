// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel; those of the formats stand with the formats.
#include "formats/keys.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;
using runner::key;

void add_geometry(KeyTable& table) {
    const auto tuple = [](const char* name, bool required, const char* unit, const char* help) {
        Key one = key(name, Shape::tuple, "Geometry", help);
        one.required = required;
        one.unit = unit;
        one.min = 1;
        return one;
    };
    table.add(
        tuple("processor", true, "", "blocks of the domain; their product is the number of ranks"));
    table.add(tuple("domain", true, "elements", "size of the block of one rank"));
    table.add(tuple("chunk", false, "elements",
                    "size of a chunk (its time extent is 1); without it the layout is contiguous"));
    Key time = key("time", Shape::number, "Geometry", "number of time steps");
    time.required = true;
    time.min = 1;
    table.add(time);
    Key filename = key("filename", Shape::text, "Geometry", "the file to write");
    filename.default_text = "seism-test.h5";
    table.add(filename);
    Key nodes = key("n_nodes", Shape::number, "Geometry", "recorded, without effect");
    nodes.max = 4294967295;  // the classic attribute has 32 bits for it
    table.add(nodes);
}

void add_fill(KeyTable& table) {
    Key fill = key("fill", Shape::choice, "Data",
                   "the owner's rank, a value that differs per element and step, or (with "
                   "use_function_lib, where it is the default) that of a plugin");
    fill.choices = {"rank", "position", "plugin"};
    fill.default_text = "rank";
    table.add(fill);
    table.add(key("use_function_lib", Shape::text, "Data",
                  "shared library with a fill function: a path, or a name on LD_LIBRARY_PATH"));
    table.add(key("use_function_name", Shape::text, "Data", "name of the fill function"));
    Key argc = key("use_function_argc", Shape::number, "Data", "number of its arguments");
    argc.max = 4096;
    table.add(argc);
    Key argv = key("use_function_argv", Shape::words, "Data", "its arguments, counted from 0");
    argv.least_words = 0;
    table.add(argv);
}

}  // namespace

core::KeyTable key_table() {
    KeyTable table;
    add_geometry(table);
    formats::register_keys(table);
    add_fill(table);
    runner::register_keys(table);
    return table;
}

}  // namespace tailrace::kernels::seism
