// SPDX-License-Identifier: Apache-2.0
#include "rule_cases.hpp"

namespace tailrace::intent::tests {

namespace {

constexpr std::uint64_t mib = 1048576, gib = 1073741824;

void not_aligned(Profile& p) {
    together(p, 8);
    PosixFile posix;
    posix.not_aligned_in_file = 500;
    posix.file_alignment_bytes = mib;
    posix.writes = PosixTransfers{};
    posix.writes->calls = 2000;
    posix.writes->bytes = 2000 * mib;
    p.files[0].posix = posix;
}

void tiny_too(Profile& p) {
    not_aligned(p);
    for (int i = 0; i < 200; ++i)
        p.files[0].datasets.push_back(dataset("/small" + std::to_string(i), 8, 1));
}

void read_in_pieces(Profile& p) {
    p.files[0].hdf5->creates = 0;
    p.files[0].hdf5->opens = p.files[0].hdf5->read_only_opens = 1;
    first(p).reads = accesses(20000, {10});
}

/// Calls that span 800 kB in a row.
void strided(Profile& p) {
    shape(p, {1000, 100000});
    first(p).reads = accesses(100, {4, 20000});
    first(p).reads->shapes[0].stride = {1, 5};
}

/// Another contiguous dataset of the file.
Dataset& beside(Profile& p, const std::string& path, std::uint64_t bytes) {
    Dataset other = dataset(path, bytes / 8, 1);
    other.layout = "contiguous";
    p.files[0].datasets.push_back(std::move(other));
    return p.files[0].datasets.back();
}

void own(Profile& p, const std::string& key, Setting value) {
    p.files[0].hdf5->settings_of_program[key] = std::move(value);
}

/// Of four ranks the last has begun one write less.
void one_left_out(Profile& p) {
    together(p, 4);
    first(p).writes = accesses(28, {1});
    first(p).writes->requested_collective = 28;
    p.files[0].hdf5->transfer_orders = {{ProcessSet(3, 3), 7, "a"}, {ProcessSet(0, 2), 8, "b"}};
}

}  // namespace

const std::vector<RuleCase>& file_cases() {
    static const std::vector<RuleCase> cases{
        {"1", not_aligned, "alignment_bytes", "program",
         [](Profile& p) { own(p, "alignment_bytes", std::uint64_t{4096}); }},
        {"2", tiny_too, "alignment_threshold_bytes", "serial",
         [](Profile& p) {
             p.files[0].hdf5->mpio = false;
             p.files[0].hdf5->creates = 1;
         }},
        {"3", [](Profile& p) { operations(p, "dataset").create = 101; }, "meta_block_bytes",
         "program", [](Profile& p) { own(p, "meta_block_bytes", std::uint64_t{65536}); }},
        {"3",
         [](Profile& p) {  // of the calls each rank makes an eighth
             together(p, 8);
             operations(p, "dataset").create = 101 * 8;
             first(p).writes = accesses(101 * 50 * 8 - 1, {16});
         },
         "meta_block_bytes", "small calls",
         [](Profile& p) { first(p).writes = accesses(101 * 50 * 8, {16}); }},
        {"4",
         [](Profile& p) {
             p.files[0].datasets.assign(60, dataset("/d", 8, 1));
             for (std::size_t i = 0; i < 60; ++i) {
                 p.files[0].datasets[i].path += std::to_string(i);
                 p.files[0].datasets[i].creates = 1;
                 p.files[0].datasets[i].layout = "contiguous";
             }
         },
         "small_data_block_bytes", "existing", [](Profile& p) { p.files[0].hdf5->creates = 0; }},
        {"5",
         [](Profile& p) {
             together(p, 64);
             operations(p, "dataset").create = 64000;
         },
         "collective_metadata_writes", "ranks",
         [](Profile& p) { p.files[0].hdf5->communicator_size = 32; }},
        {"74", one_left_out, "", "", nullptr},
        {"6",
         [](Profile& p) {
             together(p, 64);
             operations(p, "dataset").open = 6400;
         },
         "collective_metadata_reads", "proof",
         [](Profile& p) { p.files[0].hdf5->same_order = false; }},
        {"6",
         [](Profile& p) {
             together(p, 64);
             operations(p, "dataset").open = 6400;
         },
         "collective_metadata_reads", "proof",
         [](Profile& p) { p.files[0].hdf5->same_access_order = false; }},
        {"7", [](Profile& p) { operations(p, "dataset").create = 1000; },
         "metadata_cache_evictions", "reliability", [](Profile&) {}},
        {"8",
         [](Profile& p) {
             p.files[0].hdf5->creates = 0;
             operations(p, "group").open = 10000;
         },
         "metadata_cache_initial_bytes", "program",
         [](Profile& p) { own(p, "metadata_cache_initial_bytes", std::uint64_t{mib}); }},
        {"9", [](Profile& p) { operations(p, "attribute").read = 5000; }, "page_bytes", "parallel",
         [](Profile& p) { p.files[0].hdf5->mpio = true; }},
        {"10",
         [](Profile& p) {
             operations(p, "attribute").read = 5000;
             own(p, "alignment_bytes", std::uint64_t{4096});
         },
         "", "", nullptr},
        {"11", strided, "sieve_buffer_bytes", "parallel",
         [](Profile& p) { p.files[0].hdf5->mpio = true; }},
        {"11", strided, "sieve_buffer_bytes", "others",
         [](Profile& p) {  // 10,000 groups of three records here and there
             Dataset& other = beside(p, "/records", gib);
             other.reads = accesses(30000, {64});
             other.reads->order = Order{20000, 0, 9999, 0, {}};
         }},
        {"11", strided, "sieve_buffer_bytes", "others",
         [](Profile& p) {  // a few calls each, and many of them
             for (int i = 0; i < 2000; ++i)
                 beside(p, "/part" + std::to_string(i), 4 * mib).reads = accesses(9, {64});
         }},
        {"11", strided, "sieve_buffer_bytes", "others",
         [](Profile& p) {  // each keeps a buffer while it is open
             p.run.node_memory_bytes = 4 * 101 * 64 * 1024;
             for (int i = 0; i < 100; ++i)
                 beside(p, "/part" + std::to_string(i), 4 * mib).reads = accesses(1, {512 * 1024});
         }},
        {"11", strided, "sieve_buffer_bytes", "others",
         [](Profile& p) {
             p.files[0].datasets.push_back(first(p));
             Dataset& other = p.files[0].datasets[1];
             other.path = "/e";
             other.reads = accesses(100, {1, 10});
             other.reads->order = Order{0, 0, 99, 0, {}};
         }},
        {"12",
         [](Profile& p) {
             first(p).writes = accesses(3, {512 * 1024});
             first(p).writes->whole = 3;
         },
         "", "", nullptr},
        {"24", [](Profile& p) { operations(p, "link").create = 1000; }, "libver_low", "existing",
         [](Profile& p) { p.files[0].hdf5->creates = 0; }},
        {"32", read_in_pieces, "driver", "written",
         [](Profile& p) { p.files[0].hdf5->read_only_opens = 0; }},
        {"32", read_in_pieces, "driver", "virtual",
         [](Profile& p) { first(p).layout = "virtual"; }},
        {"33",
         [](Profile& p) {
             p.run.ranks = 4;
             p.files[0].posix = PosixFile{};
             p.files[0].posix->not_aligned_in_file = 0;
             p.files[0].posix->writes = PosixTransfers{};
             p.files[0].posix->writes->calls = 256;
             p.files[0].posix->writes->sequential = 256;
             p.files[0].posix->writes->bytes = 2 * gib;
         },
         "driver", "program", [](Profile& p) { own(p, "driver", std::string("core")); }},
        {"34",
         [](Profile& p) {
             together(p, 256);
             shape(p, {gib});
             first(p).writes = accesses(256, {4 * mib});
         },
         "driver", "file system", [](Profile& p) { p.run.file_systems[0].type = "ext4"; }},
        {"34",
         [](Profile& p) {
             together(p, 256);
             shape(p, {gib});
             first(p).writes = accesses(256, {4 * mib});
         },
         "driver", "reads", lost_calls},
        {"35",
         [](Profile& p) {
             operations(p, "dataset").open = 10000;
             p.files[0].datasets.assign(8000, first(p));
         },
         "evict_on_close", "parallel", [](Profile& p) { p.files[0].hdf5->mpio = true; }},
        {"36", [](Profile& p) { p.files[0].hdf5->left_open["dataset"] = 1; }, "", "", nullptr},
        {"37",
         [](Profile& p) {
             p.run.file_systems[0].type = "nfs";
             p.files[0].hdf5->opens = 1;
             p.files[0].hdf5->read_only_opens = 1;
         },
         "file_locking", "program", [](Profile& p) { own(p, "file_locking", true); }},
        {"39", [](Profile& p) { operations(p, "dataset").open = 10000; }, "", "", nullptr},
        {"40",
         [](Profile& p) {
             p.files[0].hdf5->opens = 20;
             operations(p, "dataset").open = 2000;
         },
         "metadata_cache_image", "HDF5 version",
         [](Profile& p) { p.run.processes[0].hdf5_version = "1.8.21"; }},
    };
    return cases;
}

}  // namespace tailrace::intent::tests
