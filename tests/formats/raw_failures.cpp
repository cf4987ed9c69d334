// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the raw formats: on all ranks or on none, and nothing is left behind.
#include <doctest/doctest.h>

#include <fstream>

#include "formats_test.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Box;
using core::Code;
using core::Extents;
using core::Outcome;
using core::Scalar;

namespace {

/// Faults of the interposer that end with the scope.
class Faults {
public:
    explicit Faults(const std::string& rules) {
        hooks::posix::install();
        hooks::posix::inject_faults(rules);
    }
    ~Faults() { hooks::posix::inject_faults(""); }
};

constexpr std::uint64_t per_rank = 1 << 16;

Run run_of(const std::string& path, const Variant& variant, std::uint64_t reserve_bytes = 0) {
    return {target_of(path, core::Publish::atomic_rename, reserve_bytes), variant.options, per_rank,
            7};
}

bool old_file_is_there(const std::string& path) {
    barrier();
    const bool there = slurp(path) == "old";
    barrier();
    return there;
}

}  // namespace

TEST_SUITE("raw_failures") {
    TAILRACE_MPI_TEST("a failing write is heard on all ranks, and the old file stays") {
        for (const Variant& variant : variants())
            for (const std::string rule :
                 {"op=write,phase=write,path=*.part,errno=ENOSPC",
                  "op=write,phase=write,path=*.part,short=1000,errno=ENOSPC",
                  "op=write,phase=write,path=*.part,errno=ENOSPC,after=1",
                  "op=write,phase=write,path=*.part,limit_bytes=1000,errno=EDQUOT"}) {
                const std::string folder = shared_folder();
                const std::string path = folder + "/f";
                CAPTURE(variant.name);
                CAPTURE(rule);
                put(path, "old");
                {
                    const Faults faults(rule);
                    Run run = run_of(path, variant);
                    run.sink->write(run.pieces);
                    // `after=1` reaches ranks with a second write only: this one makes it fail.
                    run.sink->write(run.pieces);
                    TAILRACE_CHECK_ALL_THROW(Code::no_space, run.sink->complete(0));
                    // The file is poisoned: the same again, without communication.
                    if (rank() == 0) CHECK_THROWS_AS(run.sink->write(run.pieces), core::Error);
                    TAILRACE_CHECK_ALL_THROW(Code::no_space, run.sink->close(Outcome::publish));
                    run.sink->close(Outcome::discard);
                }
                CHECK(left_in(folder) == Names{"f"});
                CHECK(old_file_is_there(path));
            }
    }

    TAILRACE_MPI_TEST("the text names file, rank, and bytes asked and written") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            const std::string path = folder + "/f";
            CAPTURE(variant.name);
            const Faults faults("op=write,phase=write,path=*.part,short=1000,errno=ENOSPC");
            Run run = run_of(path, variant);
            run.sink->write(run.pieces);
            std::string text;
            try {
                run.sink->complete(0);
            } catch (const core::Error& error) {
                text = error.what();
                CHECK(error.rank() >= 0);
                CHECK(error.total_ranks() == size());
            }
            CAPTURE(text);
            CHECK(text.find(path) != std::string::npos);
            CHECK(text.find("bytes asked") != std::string::npos);
            CHECK(text.find("written") != std::string::npos);
            CHECK(text.find("rank") != std::string::npos);
            run.sink->close(Outcome::discard);
        }
    }

    TAILRACE_MPI_TEST("a sink that is dropped after a failure leaves nothing") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            CAPTURE(variant.name);
            {
                const Faults faults("op=write,phase=write,path=*.part,errno=EIO");
                Run run = run_of(folder + "/f", variant);
                TAILRACE_CHECK_ALL_THROW(Code::io, run.publish());
            }
            CHECK(left_in(folder).empty());
        }
    }

    TAILRACE_MPI_TEST("failures at the end: describe, sync, rename, folder") {
        for (const Variant& variant : variants())
            for (const std::string rule :
                 {"op=write,phase=describe,errno=ENOSPC", "op=fsync,path=*.part*,errno=EIO",
                  "op=ftruncate,phase=describe,errno=EIO", "op=rename,errno=EIO"}) {
                const std::string folder = shared_folder();
                const std::string path = folder + "/f";
                CAPTURE(variant.name);
                CAPTURE(rule);
                {
                    const Faults faults(rule);
                    Run run = run_of(path, variant);
                    TAILRACE_CHECK_ALL_THROW(
                        rule.find("ENOSPC") != std::string::npos ? Code::no_space : Code::io,
                        run.publish());
                    run.sink->close(Outcome::discard);
                }
                CHECK(left_in(folder).empty());
            }
    }

    TAILRACE_MPI_TEST("without room to reserve nothing is created and nothing overwritten") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            const std::string path = folder + "/f";
            CAPTURE(variant.name);
            put(path, "old");
            {
                const Faults faults("op=fallocate,errno=ENOSPC");
                TAILRACE_CHECK_ALL_THROW(Code::no_space_reserved, run_of(path, variant, 1 << 20));
            }
            CHECK(left_in(folder) == Names{"f"});
            CHECK(old_file_is_there(path));
        }
    }

    TAILRACE_MPI_TEST("a file system without fallocate: the free space is looked at") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            CAPTURE(variant.name);
            const Faults faults("op=fallocate,errno=95");  // EOPNOTSUPP
            Run run = run_of(folder + "/f", variant, 1 << 20);
            const auto report = run.publish();
            CHECK_FALSE(report.reserved);
            CAPTURE(report.reservation);
            CHECK(report.reservation.find("nothing set aside") != std::string::npos);
            // More than any disk has.
            TAILRACE_CHECK_ALL_THROW(Code::no_space_reserved,
                                     run_of(folder + "/g", variant, std::uint64_t{1} << 62));
        }
    }

    TAILRACE_MPI_TEST("one rank cannot open the file") {
        for (const Variant& variant : variants())
            for (const std::string phase : {"create", "open_file"}) {
                const std::string folder = shared_folder();
                const std::string path = folder + "/f";
                CAPTURE(variant.name);
                CAPTURE(phase);
                const bool opens_later = phase == "create" || variant.name != "posix-per-rank";
                {
                    const Faults faults("op=open,path=*.part,errno=EIO,phase=" + phase +
                                        ",rank=" + std::to_string(size() - 1));
                    if (opens_later)
                        TAILRACE_CHECK_ALL_THROW(Code::io, run_of(path, variant));
                    else  // its part is created in phase "create" and stays open
                        run_of(path, variant).publish();
                }
                CHECK(left_in(folder).empty() == opens_later);
            }
    }

    TAILRACE_MPI_TEST("ranks that are late, and short writes without a reason") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            CAPTURE(variant.name);
            const Faults faults(
                "op=write,path=*.part,rank=0,delay_ms=40,times=3;"
                "op=write,path=*.part,rank=" +
                std::to_string(size() - 1) +
                ",delay_ms=70,times=2;op=write,path=*.part,short=5000");
            Run run = run_of(folder + "/f", variant);
            run.publish();
            if (rank() == 0) CHECK(wrong_elements<std::uint64_t>(folder + "/f", 0, 7) == 0);
        }
    }

    TAILRACE_MPI_TEST("bad arguments on one rank leave the file good") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            const std::string path = folder + "/f";
            CAPTURE(variant.name);
            Run run = run_of(path, variant);
            const core::Write good = run.pieces[0];
            std::vector<core::Write> bad(6, good);
            bad[0].place.offset[0] += 1 + per_rank * static_cast<std::uint64_t>(size());
            bad[1].type = Scalar::f64;
            bad[2].data = nullptr;
            bad[3].memory = {{10}, {0}};
            bad[4].place = Box{{0, 0}, {1, 1}};
            bad[5].object = 3;
            for (std::size_t k = 0; k < bad.size(); ++k) {
                CAPTURE(k);
                const std::vector<core::Write> mine{rank() == size() - 1 ? bad[k] : good};
                TAILRACE_CHECK_ALL_THROW_NAMING(k == 5 ? Code::wrong_call : Code::bad_input, path,
                                                run.sink->write(mine));
            }
            CHECK_THROWS_AS(run.sink->write_encoded(std::vector<core::EncodedChunk>(1)),
                            core::Error);
            run.publish();
            if (rank() == 0) CHECK(wrong_elements<std::uint64_t>(path, 0, 7) == 0);
            CHECK_THROWS_AS(run.sink->write(run.pieces), core::Error);
            CHECK_THROWS_AS(run.sink->close(Outcome::publish), core::Error);
        }
    }

    TAILRACE_MPI_TEST("bad definitions leave the file good") {
        for (Variant variant : variants()) {
            const std::string folder = shared_folder();
            CAPTURE(variant.name);
            Run run = run_of(folder + "/f", variant);
            core::Object object = dense("/data", Scalar::u64, {4});
            TAILRACE_CHECK_ALL_THROW_NAMING(Code::bad_input, folder + "/f",
                                            run.sink->define(schema_of(object)));
            object.path = "/fill";
            object.fill = {true, 2.0};
            TAILRACE_CHECK_ALL_THROW(Code::unsupported, run.sink->define(schema_of(object)));
            object.fill = {};
            object.dims[0].unlimited = true;
            TAILRACE_CHECK_ALL_THROW(Code::unsupported, run.sink->define(schema_of(object)));
            object.dims = {{std::uint64_t{1} << 62, false}};
            TAILRACE_CHECK_ALL_THROW(Code::bad_input, run.sink->define(schema_of(object)));
            if (size() > 1) {
                object.dims = {{rank() == 0 ? 4u : 5u, false}};
                TAILRACE_CHECK_ALL_THROW(Code::rank_mismatch, run.sink->define(schema_of(object)));
            }
            object.dims = {{4, false}};
            CHECK(run.sink->define(schema_of(object)) == std::vector<core::ObjectId>{1});
            run.publish();
            if (rank() == 0) CHECK(wrong_elements<std::uint64_t>(folder + "/f", 0, 7) == 0);
            if (!has_chunks(variant)) continue;
            for (const Extents& chunk : {Extents{0}, Extents{2, 2}, Extents{per_rank * 100}}) {
                set_chunk(variant, "/data", chunk);
                TAILRACE_CHECK_ALL_THROW(Code::bad_input, run_of(folder + "/g", variant));
            }
            CHECK(left_in(folder) == Names{"f"});
        }
    }

    TAILRACE_MPI_TEST("discarding leaves the old file") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            const std::string path = folder + "/f";
            CAPTURE(variant.name);
            put(path, "old");
            {
                Run run = run_of(path, variant);
                run.sink->write(run.pieces);
                run.sink->close(Outcome::discard);
            }
            {
                Run run = run_of(path, variant);
                run.sink->write(run.pieces);  // and dropped
            }
            CHECK(left_in(folder) == Names{"f"});
            CHECK(old_file_is_there(path));
        }
    }

    TAILRACE_MPI_TEST("who wrote is said of a run that failed, too") {
        constexpr std::uint64_t all = per_rank * 8;
        for (const Variant& variant : variants())
            for (const std::string rule : {"op=fsync,path=*.part*,errno=EIO",
                                           "op=write,phase=write,path=*.part,errno=EIO,rank=0"}) {
                const std::string folder = shared_folder();
                CAPTURE(variant.name);
                CAPTURE(rule);
                const Faults faults(rule);
                Run run = run_of(folder + "/f", variant);
                TAILRACE_CHECK_ALL_THROW(Code::io, run.publish());
                const auto report = run.sink->close(Outcome::discard);
                CHECK(report.writers_measured);
                CHECK_FALSE(report.reservation.empty());
                if (rank() != 0) continue;
                REQUIRE(report.writers.size() == static_cast<std::size_t>(size()));
                std::uint64_t bytes = 0, failed = 0;
                for (const auto& writer : report.writers) {
                    const auto found = writer.by_phase.find("write");
                    if (found == writer.by_phase.end()) continue;  // others wrote for it
                    bytes += found->second.write.bytes_done;
                    failed += found->second.write.failed_calls;
                }
                const bool in_sync = rule.starts_with("op=fsync");
                CHECK((failed == 0) == in_sync);
                CHECK((bytes == all * static_cast<std::uint64_t>(size())) == in_sync);
            }
    }

    TAILRACE_MPI_TEST("who wrote is counted, and how collective it was is said") {
        hooks::posix::install();
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            CAPTURE(variant.name);
            Run run = run_of(folder + "/f", variant);
            const auto report = run.publish();
            CAPTURE(report.data_mode);
            CHECK(report.writers_measured);
            if (rank() != 0) continue;
            CHECK(report.writers.size() == static_cast<std::size_t>(size()));
            std::uint64_t bytes = 0;
            for (const auto& writer : report.writers)
                if (writer.by_phase.contains("write"))
                    bytes += writer.by_phase.at("write").write.bytes_done;
            CHECK(bytes == per_rank * 8 * static_cast<std::uint64_t>(size()));
            const bool mpiio = variant.name.starts_with("mpiio");
            CHECK(report.mpi_io.empty() == !mpiio);
            if (variant.name != "mpiio-collective") CHECK(report.data_collective == false);
            if (mpiio) {
                const char* component = std::getenv("OMPI_MCA_io");
                const bool romio = comm::library_version().starts_with("MPICH") ||
                                   (component != nullptr && std::string(component) != "ompio");
                CAPTURE(report.mpi_io);
                CHECK(report.mpi_io.starts_with("ROMIO") == romio);
                CHECK(report.hints_in_force.contains("romio_ds_write") == romio);
            }
        }
    }
}
