// SPDX-License-Identifier: Apache-2.0
// Records as kernels produce them, for the tests of their text and of their schema.
#pragma once

#include <cmath>

#include "core/record.hpp"

namespace tailrace::test {

/// A Record with every part filled in.
inline core::Record full_record() {
    using namespace core;
    Record record;
    record.kernel = "seism";
    record.run_id = new_run_id();
    record.repetition = 1;
    record.started = utc_now();
    record.context = collect_context(".");
    record.context.mpi_library = "Open MPI 4.1.4";
    record.context.hdf5_version = "2.2.0";
    record.context.ranks = 2;
    record.configuration = {
        {"processor", std::vector<std::uint64_t>{2, 1, 1}},
        {"precreate", true},
        {"time", std::uint64_t{2}},
        {"compute", 0.5},
        {"offset", std::int64_t{-1}},
        {"filename", std::string("seism-test.h5")},
        {"chunk", std::monostate{}},
        {"use_function_argv", std::vector<std::string>{"1", "1"}},
        {"filter", std::vector<std::vector<std::string>>{{"32013", "4"}}},
        {"hint", std::map<std::string, std::string>{{"romio_cb_write", "enable"}}}};

    FileReport report;
    report.path = "/data/seism-test.h5";
    report.parts = {"/data/seism-test.h5"};
    report.bytes_logical = 1000;
    report.bytes_stored = 1200;
    report.bytes_allocated = 4096;
    WriterReport writer;
    writer.total.write.calls = 2;
    writer.total.write.bytes_asked = writer.total.write.bytes_done = 1000;
    writer.total.write.smallest = writer.total.write.largest = 500;
    writer.total.write.by_size[8] = 2;
    writer.total.by_pwrite = 2;
    writer.by_phase["write"] = writer.total;
    writer.by_phase["read_back"] = FileTally{};
    report.writers = {writer, WriterReport{1, {}, {}}};
    report.writers_measured = true;
    report.hints_in_force = {{"romio_cb_write", "enable"}};
    report.mpi_io = "ROMIO";
    report.data_collective = true;
    report.data_mode = "contiguous collective";
    report.metadata_collective = false;
    report.metadata_evidence = "metadata read by 2 of 2 ranks";
    report.reserved = true;
    report.reservation = "posix_fallocate";
    report.striping = {{"stripe_count", "4"}};
    report.durable = true;
    report.settings = {{"layout", "contiguous"}};
    take(record, report);

    record.transfers.collective_requested = true;
    record.mpi_io.hints_requested = {{"romio_cb_write", "enable"}};
    record.phases = {{"write", {{0.1, 0.15, 0.2}, 2}}};
    record.steps = {{0, 1, {0.05, 0.06, 0.07}, Spread{}, std::nullopt},
                    {1, 3, {0.05, 0.06, 0.07}, std::nullopt, Spread{0.5, 0.5, 0.5}}};
    record.elapsed = ElapsedRecord{0.5, 0.2, 0.25};
    record.file.content_hashes = {{"/chunked", "99aa06d3014798d86001c324468d497f"}};
    record.memory = {10 << 20, 30 << 20, 20 << 20, 500};
    record.verification = {
        VerificationStatus::failed, 250, 1, {{"/chunked", {0, 1, 2, 3}, 1, NAN}}};
    record.read_back = ReadBackRecord{{1, 2, 1}, 1000, 0.01, "warm"};
    record.steps[0].stall_s = Spread{0.1, 0.2, 0.3};
    const Spread some{1, 2, 3};
    record.serving = ServingRecord{"simple",
                                   {2, some, some, some},
                                   {1, some, some, some},
                                   {0.1, 0.2, 0.3},
                                   0.01,
                                   QueueRecord{1000, 3},
                                   SharedMemoryRecord{1 << 20, 2 << 20, 7},
                                   {{"/data/a.nc4", 1000, 0.5}}};
    record.time_lines = TimeLinesRecord{
        0.5,
        false,
        1e-6,
        {"create", "write"},
        {{0, 0.01, {{0, 0, 0.1, 1}, {1, 0.25, 0.5, 3}}}, {1, 0, {{1, 0.1, 1.0 / 3, 1}}}}};
    return record;
}

}  // namespace tailrace::test
