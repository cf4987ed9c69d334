// SPDX-License-Identifier: Apache-2.0
#include "rule_cases.hpp"

namespace tailrace::intent::tests {

namespace {

constexpr std::uint64_t mib = 1048576;

void own(Profile& p, const std::string& key, Setting value) {
    first(p).settings_of_program[key] = std::move(value);
}

/// Rank blocks of 100 rows, independent writes.
void small_writes(Profile& p) {
    together(p, 4);
    shape(p, {400, 1000});
    first(p).writes = accesses(400, {1, 1000});
    first(p).writes->requested_independent = 400;
    balance(*first(p).writes, 4);
}

/// Two columns of each rank in rows of eight, independent writes: pieces of 16 bytes.
void side_by_side(Profile& p) {
    together(p, 4);
    shape(p, {16384, 8});
    first(p).writes = accesses(4, {16384, 2});
    first(p).writes->requested_independent = 4;
}

/// Columns that four ranks read, of rows in chunks of 600 KB.
void read_by_columns(Profile& p) {
    together(p, 4);
    shape(p, {2000, 3000}, {50, 3000});
    first(p).reads = accesses(6000, {2000, 1});
}

/// Rows one by one in compressed chunks of their own.
void packed_rows(Profile& p) {
    shape(p, {10000, 50}, {1, 50});
    first(p).filters.push_back({1, "deflate", {6}});
    first(p).writes = accesses(10000, {1, 50});
}

/// Along the last dimension, of which a chunk has 64.
void frames_in_cubes(Profile& p) {
    shape(p, {256, 256, 512}, {64, 64, 64});
    first(p).writes = accesses(512, {256, 256, 1});
}

/// Appends of 8 KiB.
void appended(Profile& p) {
    shape(p, {mib}, {128});
    first(p).max_dims = {std::nullopt};
    first(p).extensions = Extensions{1024, {}};
    first(p).writes = accesses(1024, {1024});
}

void written_in_two(Profile& p) {
    first(p).writes = accesses(2, {256 * 1024});
    first(p).writes->coverage = Coverage{512 * 1024, true, {}};
}

void filled_together(Profile& p) {
    together(p, 4);
    first(p).fill = Fill{"user", "ifset"};
    written_in_two(p);
}

void one_side_only(Profile& p) { first(p).writes->by_process[2].calls = 99; }

Transfers collective(Transfers side) {
    side.requested_collective = side.calls;
    side.requested_independent = 0;
    return side;
}

/// Columns of a contiguous dataset that is there.
void columns_of_rows(Profile& p) {
    shape(p, {65536, 2048});
    first(p).creates = p.files[0].hdf5->creates = 0;
    first(p).reads = accesses(100, {65536, 1});
}

/// Points of a virtual dataset over 40 files, which are opened for each of them.
void across_sources(Profile& p) {
    shape(p, {400, 1000});
    first(p).layout = "virtual";
    first(p).reads = accesses(100, {400, 1});
    for (int i = 0; i < 40; ++i) {
        File one = file("/data/day" + std::to_string(i) + ".h5", 0, 0);
        one.hdf5.reset();
        one.posix = PosixFile{};
        one.posix->opens = 100;
        one.posix->reads = PosixTransfers{};
        one.posix->reads->bytes = 200 * mib;
        one.posix->reads->highest_byte = mib - 1;
        p.files.push_back(one);
    }
}

}  // namespace

const std::vector<RuleCase>& dataset_cases() {
    static const std::vector<RuleCase> cases{
        {"13",
         [](Profile& p) {
             shape(p, {2000, 3000}, {50, 3000});
             first(p).filters.push_back({1, "deflate", {6}});
             first(p).reads = accesses(30, {2000, 1});
         },
         "chunk_cache_bytes", "memory", [](Profile& p) { p.run.node_memory_bytes = 32 * mib; }},
        {"13", read_by_columns, "chunk_cache_bytes", "ranks",
         [](Profile& p) {
             first(p).chunk = {400, 3000};
         }},
        {"15", read_by_columns, "chunk_cache_preemption", "ranks",
         [](Profile& p) {
             first(p).chunk = {400, 3000};
         }},
        {"14",
         [](Profile& p) {
             shape(p, {4096, 1024}, {16, 1024});
             first(p).writes = accesses(4096, {1, 1024});
             first(p).writes->order = Order{4095, 0, 0, 0, {}};
         },
         "chunk_cache_preemption", "program",
         [](Profile& p) { own(p, "chunk_cache_preemption", 0.2); }},
        {"14",
         [](Profile& p) {
             shape(p, {4096, 1024}, {16, 1024});
             first(p).writes = accesses(4096, {1, 1024});
             first(p).writes->order = Order{4095, 0, 0, 0, {}};
         },
         "chunk_cache_preemption", "reads", lost_calls},
        {"15",
         [](Profile& p) {
             shape(p, {100, 100}, {10, 10});
             first(p).reads = accesses(40, {10, 100});
         },
         "chunk_cache_preemption", "program",
         [](Profile& p) { own(p, "chunk_cache_bytes", std::uint64_t{mib}); }},
        {"15",
         [](Profile& p) {
             shape(p, {100, 100}, {10, 10});
             first(p).reads = accesses(40, {10, 100});
         },
         "chunk_cache_preemption", "in force",
         [](Profile& p) {  // PyTables asks for it by itself
             own(p, "chunk_cache_slots", std::uint64_t{521});
             own(p, "chunk_cache_bytes", 16 * mib);
             own(p, "chunk_cache_preemption", 0.0);
         }},
        {"16",
         [](Profile& p) {
             shape(p, {4096, 1024}, {2048, 1024});
             first(p).filters.push_back({1, "deflate", {6}});
             first(p).reads = accesses(30, {1, 1024});
             own(p, "chunk_cache_bytes", std::uint64_t{mib});  // so that rule 13 is held
         },
         "", "", nullptr},
        {"17",
         [](Profile& p) {
             shape(p, {2000, 3000});
             first(p).writes = accesses(2000, {1, 3000});
             first(p).reads = accesses(30, {2000, 1});
         },
         "chunk", "existing", [](Profile& p) { first(p).creates = 0; }},
        {"17",
         [](Profile& p) {
             shape(p, {2000, 3000});
             first(p).writes = accesses(2000, {1, 3000});
             first(p).reads = accesses(30, {2000, 1});
         },
         "chunk", "address", [](Profile& p) { own(p, "address_asked", true); }},
        {"18", side_by_side, "chunk", "name",
         [](Profile& p) { own(p, "made_without_name", true); }},
        {"18", side_by_side, "chunk", "library",
         [](Profile& p) { p.files[0].path = "/data/pytables-x7_y.tmp"; }},
        {"17",
         [](Profile& p) {  // each plane would touch 256 chunks of 1 MiB
             shape(p, {10000, 1024, 1024});
             first(p).writes = accesses(10000, {1, 1024, 1024});
             first(p).reads = accesses(9, {10000, 1, 1});
         },
         "chunk", "cache", [](Profile& p) { p.run.node_memory_bytes = 1024 * mib; }},
        {"17",
         [](Profile& p) {
             shape(p, {2000, 3000});
             first(p).writes = accesses(2000, {1, 3000});
             first(p).reads = accesses(30, {2000, 1});
         },
         "chunk", "fill",
         [](Profile& p) {
             together(p, 4);
             first(p).reads = accesses(4, {2000, 1});
         }},
        {"18",
         [](Profile& p) {
             shape(p, {1000, 1000}, {10, 10});
             first(p).writes = accesses(1000, {1, 1000});
         },
         "chunk", "program",
         [](Profile& p) {
             own(p, "chunk", Extents{10, 10});
         }},
        {"18", side_by_side, "chunk", "reads",
         [](Profile& p) {
             first(p).reads = accesses(16384, {1, 8});
         }},
        {"18", side_by_side, "chunk", "reads", lost_calls},
        {"18", side_by_side, "chunk", "program",
         [](Profile& p) { own(p, "layout", std::string("contiguous")); }},
        {"18", side_by_side, "chunk", "sparse",
         [](Profile& p) { first(p).writes->bytes = *first(p).writes->bytes / 2; }},
        {"18", packed_rows, "chunk", "cache",
         [](Profile& p) { own(p, "chunk_cache_bytes", std::uint64_t{0}); }},
        {"18", packed_rows, "chunk", "extents",
         [](Profile& p) {
             first(p).max_dims = {std::nullopt, Count(50)};
             first(p).extensions = Extensions{10000, {}};
         }},
        {"19", appended, "chunk", "existing", [](Profile& p) { first(p).creates = 0; }},
        {"19", appended, "chunk", "cache",
         [](Profile& p) {
             first(p).filters.push_back({1, "deflate", {6}});
             own(p, "chunk_cache_bytes", std::uint64_t{1024});
         }},
        {"20",
         [](Profile& p) {
             first(p).fill = Fill{"user", "ifset"};
             written_in_two(p);
         },
         "fill_time", "proof", [](Profile& p) { first(p).writes->coverage->full.reset(); }},
        {"20",
         [](Profile& p) {
             first(p).fill = Fill{"user", "ifset"};
             written_in_two(p);
         },
         "fill_time", "type", [](Profile& p) { first(p).type->type_class = "compound"; }},
        {"20",
         [](Profile& p) {
             first(p).fill = Fill{"user", "ifset"};
             written_in_two(p);
         },
         "fill_time", "type",
         [](Profile& p) {
             first(p).type = ElementType{"string", 8, {}, true};
         }},
        {"20",
         [](Profile& p) {
             first(p).fill = Fill{"user", "ifset"};
             first(p).allocation = "early";
             written_in_two(p);
         },
         "fill_time", "layout", [](Profile& p) { shape(p, {512 * 1024}, {64 * 1024}); }},
        {"20",
         [](Profile& p) {
             first(p).fill = Fill{"user", "ifset"};
             written_in_two(p);
         },
         "fill_time", "ranks", [](Profile& p) { together(p, 4); }},
        {"59", filled_together, "fill_time", "proof",
         [](Profile& p) { first(p).writes->coverage->full.reset(); }},
        {"59", filled_together, "fill_time", "reads",
         [](Profile& p) { first(p).reads = accesses(1, {1024}); }},
        {"59", filled_together, "fill_time", "reads", lost_calls},
        {"59", filled_together, "fill_time", "flush", [](Profile& p) { first(p).flushes = 1; }},
        {"59", filled_together, "fill_time", "proof",
         [](Profile& p) { p.files[0].hdf5->same_order = false; }},
        {"59", filled_together, "fill_time", "layout",
         [](Profile& p) { shape(p, {512 * 1024}, {64 * 1024}); }},
        {"21",
         [](Profile& p) {
             together(p, 4);
             shape(p, {4096, 1024}, {64, 1024});
             first(p).writes = accesses(4, {64, 1024});
         },
         "allocation_time", "layout",
         [](Profile& p) {
             shape(p, {4096, 1024});
         }},
        {"22",
         [](Profile& p) {
             first(p).writes = accesses(1, {512 * 1024});
             first(p).writes->coverage = Coverage{512 * 1024, true, {}};
         },
         "", "", nullptr},
        {"23",
         [](Profile& p) {
             p.files[0].datasets.assign(10, dataset("/d", 100, 1));
             for (std::size_t i = 0; i < 10; ++i) p.files[0].datasets[i].path += std::to_string(i);
             first(p).layout = "contiguous";
             first(p).creates = 1;
         },
         "layout", "extents", [](Profile& p) { first(p).max_dims = {std::nullopt}; }},
        {"23",
         [](Profile& p) {
             p.files[0].datasets.assign(10, dataset("/d", 100, 1));
             first(p).path = "/t";
             first(p).layout = "contiguous";
             first(p).creates = 1;
         },
         "layout", "type", [](Profile& p) { first(p).type->variable_length = true; }},
        {"23",
         [](Profile& p) {
             p.files[0].datasets.assign(400, dataset("/d", 6000, 1));
             first(p).path = "/t";
             first(p).layout = "contiguous";
             first(p).creates = 1;
             first(p).opens = 2;
             first(p).reads = accesses(1, {6000});
         },
         "layout", "opens", [](Profile& p) { first(p).reads.reset(); }},
        {"25", small_writes, "write_mode", "proof", one_side_only},
        {"25", small_writes, "write_mode", "proof",
         [](Profile& p) { p.files[0].hdf5->same_transfer_order = false; }},
        {"25", small_writes, "write_mode", "proof",
         [](Profile& p) { p.files[0].hdf5->same_transfer_order.reset(); }},
        {"26",
         [](Profile& p) {
             small_writes(p);
             first(p).reads = first(p).writes;
             first(p).writes.reset();
         },
         "read_mode", "proof", [](Profile& p) { first(p).reads->by_process.pop_back(); }},
        {"26",
         [](Profile& p) {
             small_writes(p);
             first(p).reads = first(p).writes;
             first(p).writes.reset();
         },
         "read_mode", "proof", [](Profile& p) { p.files[0].hdf5->same_transfer_order = false; }},
        {"27",
         [](Profile& p) {
             together(p, 4);
             shape(p, {64 * mib});
             first(p).writes = collective(*accesses(4, {16 * mib}));
         },
         "collective_io", "filters",
         [](Profile& p) {
             first(p).filters.push_back({1, "deflate", {}});
         }},
        {"28",
         [](Profile& p) {
             together(p, 4);
             shape(p, {4096, 1024}, {64, 1024});
             first(p).writes = collective(*accesses(4, {1024, 1024}));
         },
         "chunk_io", "proof", [](Profile& p) { p.files[0].hdf5->same_order.reset(); }},
        {"72", frames_in_cubes, "", "direct chunks",
         [](Profile& p) {
             first(p).direct_chunk_writes = DirectChunks{1, 1};
         }},
        {"29",
         [](Profile& p) {
             small_writes(p);
             shape(p, {400, 1000}, {100, 1000});
             first(p).filters.push_back({1, "deflate", {}});
         },
         "write_mode", "proof", one_side_only},
        {"30",
         [](Profile& p) {
             shape(p, {16 * mib}, {mib});
             first(p).writes = accesses(16, {mib});
         },
         "deflate", "layout", [](Profile& p) { shape(p, {16 * mib}); }},
        {"30",
         [](Profile& p) {
             shape(p, {16 * mib}, {mib});
             first(p).writes = accesses(16, {mib});
         },
         "deflate", "reads",
         [](Profile& p) {
             p.files[0].datasets.push_back(dataset("/all", 16 * mib, 4));
             p.files[0].datasets.back().layout = "virtual";
             p.files[0].datasets.back().reads = accesses(1, {16 * mib});
         }},
        {"30",
         [](Profile& p) {
             shape(p, {16 * mib}, {mib});
             first(p).writes = accesses(16, {mib});
         },
         "deflate", "reads", lost_calls},
        {"31",
         [](Profile& p) {
             shape(p, {mib}, {1024});
             first(p).filters.push_back({1, "deflate", {}});
             first(p).reads = accesses(5, {mib});
         },
         "", "format", [](Profile& p) { p.files[0].hdf5.reset(); }},
        {"38",
         [](Profile& p) {
             first(p).settings_of_program["memory_type_differs"] = true;
             first(p).writes = accesses(1, {512 * 1024});
         },
         "conversion_buffer_bytes", "program",
         [](Profile& p) { own(p, "conversion_buffer_bytes", std::uint64_t{mib}); }},
        {"75", columns_of_rows, "", "", nullptr},
        {"76", across_sources, "", "", nullptr},
    };
    return cases;
}

}  // namespace tailrace::intent::tests
