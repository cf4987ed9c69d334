// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel, and the classic command line.
#include "formats/keys.hpp"
#include "kernels/slab/inputs.hpp"

namespace tailrace::kernels::slab {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;
using runner::key;

constexpr const char* group = "Geometry";

void add_geometry(KeyTable& table) {
    Key n1 = key("n1", Shape::number, group, "elements of the long dimension");
    n1.default_text = "40000000";
    n1.min = 1;
    table.add(n1);
    Key n2 = key("n2", Shape::number, group, "elements of the short dimension");
    n2.default_text = "50";
    n2.min = 1;
    table.add(n2);
    Key axis = key("axis", Shape::choice, group,
                   "which dimension is fast in the file, and which the ranks share: pair is "
                   "long-fast and then long-slow");
    axis.choices = {"pair", "long-fast", "long-slow", "short-split"};
    axis.default_text = "pair";
    table.add(axis);
    Key chunk = key("chunk", Shape::tuple, group,
                    "size of a chunk along the long and the short dimension; without it the layout "
                    "is contiguous");
    chunk.tuple_size = 2;
    chunk.min = 1;
    chunk.unit = "elements";
    table.add(chunk);
    Key filename = key("filename", Shape::text, group, "the file to write");
    filename.default_text = "output.h5";
    table.add(filename);
}

bool is_number(const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

KeyTable key_table() {
    KeyTable table;
    add_geometry(table);
    formats::register_keys(table);
    Key fill = key("fill", Shape::choice, "Data",
                   "a value that differs per element, or the owner's rank, as in the original");
    fill.choices = {"position", "rank"};
    fill.default_text = "position";
    table.add(fill);
    runner::register_keys(table);
    return table;
}

std::vector<std::string> from_classic(const std::vector<std::string>& words) {
    std::vector<std::string> arguments;
    std::size_t numbers = 0, modes = 0;
    for (const std::string& word : words) {
        if (is_number(word)) {
            if (++numbers > 2)
                throw core::Error(core::Code::bad_input, "a third number, " + core::in_quotes(word),
                                  "<command line>", "the classic arguments are `n1 n2 T|F`");
            arguments.push_back((numbers == 1 ? "n1=" : "n2=") + word);
        } else if (word == "T" || word == "F") {
            if (++modes > 1)
                throw core::Error(core::Code::bad_input, "T or F is given twice", "<command line>",
                                  "the classic arguments are `n1 n2 T|F`");
            arguments.push_back(word == "T" ? "collective_write=1" : "collective_write=0");
        } else {
            arguments.push_back(word);
        }
    }
    return arguments;
}

}  // namespace tailrace::kernels::slab
