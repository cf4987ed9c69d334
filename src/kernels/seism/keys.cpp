// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel; those of the formats stand with the formats.
#include "formats/keys.hpp"
#include "kernels/seism/inputs.hpp"

namespace tailrace::kernels::seism {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;

Key key(const char* name, Shape shape, const char* group, const char* help) {
    Key one;
    one.name = name;
    one.shape = shape;
    one.group = group;
    one.help = help;
    return one;
}

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

void add_run(KeyTable& table) {
    Key repeat = key("repeat", Shape::number, "Run",
                     "so many measured repetitions after one warm-up, a fresh file each; without "
                     "it one run and no warm-up");
    repeat.min = 1;
    repeat.max = 1000000;
    table.add(repeat);
    Key compute = key("compute", Shape::words, "Run",
                      "emulated computation of so many seconds before every step but the first");
    compute.choices = {"SECONDS", "[busy|idle]"};
    compute.most_words = 2;
    table.add(compute);
    Key fsync = key("fsync", Shape::choice, "Run",
                    "when data is forced to the device: once at the end, or after every step");
    fsync.choices = {"close", "step"};
    fsync.default_text = "close";
    table.add(fsync);
    table.add(key("read_back", Shape::flag, "Run",
                  "read the file by another decomposition afterwards, timed"));
    table.add(key("verify", Shape::flag, "Run", "read the file again and check every element"));
    table.add(key("limit", Shape::flag, "Run",
                  "write the same bytes by plain means too, interleaved: what the machine can do"));
    Key results = key("results", Shape::text, "Run", "file to which Records are appended");
    results.default_text = "results.jsonl";
    table.add(results);
}

void add_lustre(KeyTable& table) {
    Key count = key("lfs_stripe_count", Shape::number, "Lustre",
                    "number of stripes; 0: the file system's default");
    count.max = 65535;
    table.add(count);
    Key size =
        key("lfs_stripe_size", Shape::number, "Lustre", "size of a stripe, a multiple of 65536");
    size.unit = "bytes";
    table.add(size);
}

}  // namespace

core::KeyTable key_table() {
    KeyTable table;
    add_geometry(table);
    formats::register_keys(table);
    add_fill(table);
    add_run(table);
    add_lustre(table);
    return table;
}

}  // namespace tailrace::kernels::seism
