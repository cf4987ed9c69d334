// SPDX-License-Identifier: Apache-2.0
// The keys of the kernel: those of h5bench in lower case, with its meaning of each.
#include "formats/keys.hpp"
#include "kernels/particle/inputs.hpp"

namespace tailrace::kernels::particle {

namespace {

using core::Key;
using core::KeyTable;
using core::Shape;

Key of(const char* group, const char* name, Shape shape, const char* help) {
    return runner::key(name, shape, group, help);
}

void add_number(KeyTable& table, const char* group, const char* name, const char* fallback,
                const char* help, std::uint64_t min = 1, std::uint64_t max = UINT64_MAX) {
    Key key = of(group, name, Shape::number, help);
    key.default_text = fallback;
    key.min = min;
    key.max = max;
    table.add(key);
}

void add_choice(KeyTable& table, const char* group, const char* name, const char* fallback,
                std::vector<std::string> choices, const char* help) {
    Key key = of(group, name, Shape::choice, help);
    key.default_text = fallback;
    key.choices = std::move(choices);
    table.add(key);
}

void add_yes_no(KeyTable& table, const char* group, const char* name, const char* help) {
    add_choice(table, group, name, "", {"yes", "no"}, help);
}

void add_particles(KeyTable& table) {
    constexpr const char* group = "Particles";
    add_number(table, group, "timesteps", "1", "time steps, a group Timestep_N each", 1, 1000000);
    add_number(table, group, "num_dims", "1", "dimensions of a variable", 1, 3);
    add_number(table, group, "dim_1", "1048576",
               "particles of a rank along the first dimension, along which the ranks are stacked");
    add_number(table, group, "dim_2", "1", "the same along the second one, which all ranks share");
    add_number(table, group, "dim_3", "1", "the same along the third one");
    add_number(table, group, "num_particles", "",
               "particles of a rank; only to check dim_1 dim_2 dim_3");
    Key filename = of(group, "filename", Shape::text, "the file to write");
    filename.default_text = "test.h5";
    table.add(filename);
    table.add(of(group, "directory", Shape::text, "a folder that is made where it is missing"));
    table.add(of(group, "csv_file", Shape::text, "a table of the figures, as h5bench writes it"));
    table.add(of(group, "read_csv_file", Shape::text, "the same of read_option"));
    Key computing = of(group, "emulated_compute_time_per_timestep", Shape::words,
                       "sleep so long between two steps; `compute` can keep the cores busy");
    computing.choices = {"NUMBER", "[min|s|ms|us]"};
    computing.most_words = 2;
    table.add(computing);
}

void add_patterns(KeyTable& table) {
    constexpr const char* group = "Patterns";
    add_choice(table, group, "mem_pattern", "contig", {"contig", "interleaved"},
               "in memory: an array for each variable, or an array of particles");
    add_choice(table, group, "file_pattern", "contig", {"contig", "interleaved", "strided"},
               "in the file: a dataset for each variable, or one of particles, or blocks with gaps "
               "(one dimension)");
    add_choice(table, group, "read_option", "", {"full", "partial", "strided"},
               "read afterwards: all, the first to_read_num_particles of each rank, or blocks");
    add_number(table, group, "to_read_num_particles", "", "for read_option partial");
    add_number(table, group, "stride_size", "", "for strided: from one block to the next");
    add_number(table, group, "block_size", "", "for strided: particles of a block");
    add_number(table, group, "block_cnt", "", "for strided: blocks of a rank");
    add_yes_no(table, group, "file_per_proc", "a file for each rank");
}

void add_storage(KeyTable& table) {
    constexpr const char* group = "h5bench's names for options of the format";
    add_yes_no(table, group, "collective_data", "collective_write");
    add_yes_no(table, group, "collective_metadata", "set_collective_metadata");
    add_yes_no(table, group, "align", "alignment align_len align_threshold");
    add_number(table, group, "align_threshold", "", "bytes; for align", 0);
    add_number(table, group, "align_len", "", "bytes; for align");
    add_yes_no(table, group, "compress", "deflate 9, with chunks and collective writes");
    add_number(table, group, "chunk_dim_1", "", "particles of a chunk; where there is compression");
    add_number(table, group, "chunk_dim_2", "", "the same along the second dimension");
    add_number(table, group, "chunk_dim_3", "", "the same along the third one");
    add_yes_no(table, group, "subfiling", "no only: use `subfile N`");
}

void add_without_effect(KeyTable& table) {
    constexpr const char* group = "h5bench's keys without effect here";
    add_choice(table, group, "mode", "", {"sync"}, "nothing is asynchronous here");
    add_choice(table, group, "compress_filter", "", {"gzip"}, "`compress` means deflate");
    add_number(table, group, "delayed_close_timesteps", "",
               "objects stay open until the file is closed", 0);
    table.add(of(group, "io_mem_limit", Shape::text, "for asynchronous writes only"));
    for (const char* name : {"stride_size_2", "stride_size_3", "block_size_2", "block_size_3"})
        add_number(table, group, name, "", "it belongs to the read patterns LDC, RDC, CS and PRL",
                   0);
    table.add(of(group, "env_metadata_file", Shape::text, "the Record holds the context"));
}

}  // namespace

KeyTable key_table() {
    KeyTable table;
    add_particles(table);
    add_patterns(table);
    formats::register_keys(table);
    add_storage(table);
    runner::register_keys(table);
    add_without_effect(table);
    return table;
}

}  // namespace tailrace::kernels::particle
