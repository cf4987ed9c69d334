// SPDX-License-Identifier: Apache-2.0
// A set of files, a file per rank, that takes the place of another one or of one file, and the
// reverse: the older data stays until the newer is complete, and then it is gone.
#include <doctest/doctest.h>

#include <fstream>

#include "formats_test.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Box;
using core::Code;
using core::Outcome;
using core::Scalar;

namespace {

constexpr std::uint64_t per_rank = 1 << 10;

Variant variant(const std::string& name) {
    for (const Variant& one : variants())
        if (one.name == name) return one;
    FAIL("no format " << name);
    return {};
}

/// A file or a set in one step, with values of `seed`.
Run run_of(const std::string& path, const std::string& format, std::uint64_t seed) {
    return {core::Target{path}, variant(format).options, per_rank, seed};
}

void write_set(const std::string& path, const std::string& format, std::uint64_t seed) {
    run_of(path, format, seed).publish();
}

/// Fails with `rules`, and says how.
std::string failed_run(const std::string& path, const std::string& format,
                       const std::string& rules) {
    hooks::posix::install();
    std::string text;
    {
        Run run = run_of(path, format, 9);
        hooks::posix::inject_faults(rules);
        try {
            run.publish();
        } catch (const core::Error& error) {
            text = error.what();
        }
        CHECK(on_all_ranks(!text.empty()));
        const auto report = run.sink->close(Outcome::discard);
        CHECK(report.parts.empty());
        CHECK(report.bytes_stored == 0);
        CHECK(report.bytes_logical == 0);
        CHECK_FALSE(report.durable);
    }
    hooks::posix::inject_faults("");
    barrier();
    return text;
}

Names set_names(const std::string& manifest, const std::string& suffix) {
    Names names{manifest};
    for (int r = 0; r < size(); ++r)
        names.push_back(manifest + ".0000" + std::to_string(r) + suffix);
    return names;
}

std::uint64_t wrong(const std::string& path, std::uint64_t seed) {
    return rank() == 0 ? wrong_elements<std::uint64_t>(path, 0, seed) : 0;
}

}  // namespace

TEST_SUITE("per_rank_sets") {
    TAILRACE_MPI_TEST("a set in the place of a set: other names, and back again") {
        const std::string folder = shared_folder(), path = folder + "/f";
        for (const std::uint64_t round : {1, 2, 3}) {
            write_set(path, "posix-per-rank", round);
            CHECK(left_in(folder) == set_names("f", round == 2 ? ".b" : ""));
            CHECK(wrong(path, round) == 0);
        }
    }

    TAILRACE_MPI_TEST("another format in the place of a set, and a set in the place of a file") {
        const std::string folder = shared_folder(), path = folder + "/f";
        for (const std::string format : {"posix", "mpiio"}) {
            write_set(path, "posix-per-rank", 1);
            write_set(path, format, 2);
            CHECK(left_in(folder) == Names{"f"});
            CHECK(wrong(path, 2) == 0);
            write_set(path, "posix-per-rank", 3);
            CHECK(left_in(folder) == set_names("f", ""));
            CHECK(wrong(path, 3) == 0);
        }
    }

    TAILRACE_MPI_TEST("a failure at any late moment leaves the older set as it was") {
        for (const std::string older : {"posix-per-rank", "posix"})
            for (const std::string newer : {"posix-per-rank", "posix", "mpiio"})
                for (const std::string rules :
                     {"op=rename,errno=EIO,after=0", "op=rename,path=*/f.part,errno=EIO",
                      "op=fsync,path=*.part,errno=EIO"}) {
                    const std::string folder = shared_folder(), path = folder + "/f";
                    CAPTURE(older);
                    CAPTURE(newer);
                    CAPTURE(rules);
                    write_set(path, older, 1);
                    const Names before = left_in(folder);
                    CHECK(!failed_run(path, newer, rules).empty());
                    CHECK(left_in(folder) == before);
                    CHECK(wrong(path, 1) == 0);
                }
    }

    TAILRACE_MPI_TEST(
        "a folder that cannot be synced: the older file is back, or nothing is there") {
        for (const std::string newer : {"posix-per-rank", "posix", "mpiio"})
            for (const bool replaces : {true, false}) {
                const std::string folder = shared_folder(), path = folder + "/f";
                CAPTURE(newer);
                CAPTURE(replaces);
                if (replaces) write_set(path, "posix-per-rank", 1);
                const Names before = left_in(folder);
                const std::string rules = "op=fsync,path=" + folder + ",errno=EIO";
                // Also where names cannot be exchanged, as on NFS: the first rename of rank 0.
                for (const std::string more :
                     {"", ";op=rename,path=*/f.part,errno=EINVAL,times=1"}) {
                    if (!more.empty() && !replaces) continue;
                    const std::string text = failed_run(path, newer, rules + more);
                    CAPTURE(text);
                    CHECK(text.find("cannot sync the folder") != std::string::npos);
                    CHECK(text.find("is left under its name") == std::string::npos);
                    CHECK(left_in(folder) == before);
                    if (replaces) CHECK(wrong(path, 1) == 0);
                }
            }
    }

    TAILRACE_MPI_TEST("what cannot be taken back stays complete, and the text says so") {
        for (const std::string newer : {"posix-per-rank", "posix"}) {
            const std::string folder = shared_folder(), path = folder + "/f";
            CAPTURE(newer);
            write_set(path, "posix", 1);
            const std::string text = failed_run(
                path, newer,
                "op=fsync,path=" + folder + ",errno=EIO;op=rename,path=*/f.part,after=1,errno=EIO");
            CAPTURE(text);
            CHECK(text.find("is left under its name") != std::string::npos);
            CHECK(text.find("the older one is " + path + ".part") != std::string::npos);
            CHECK(wrong(path, 9) == 0);
            CHECK(wrong(path + ".part", 1) == 0);
            barrier();
        }
    }

    TAILRACE_MPI_TEST("parts that a killed run has left go, those of others stay") {
        const std::string folder = shared_folder(), path = folder + "/f";
        write_set(path, "posix-per-rank", 1);
        if (rank() == 0) {  // killed before the manifest, on more ranks
            fs::remove(path);
            fs::copy(path + ".00000", path + ".00011");
            fs::copy(path + ".00000", path + ".00012.b");
        }
        put(path + ".00007.part", "unfinished");
        put(path + ".part.lock", "process 1 on a host\n");
        put(path + ".00013", "of somebody else");
        put(path + ".00014.part.bak", "of somebody else");
        write_set(path, "posix-per-rank", 2);
        Names expected = set_names("f", "");
        expected.push_back("f.00013");
        expected.push_back("f.00014.part.bak");
        CHECK(left_in(folder) == expected);
        CHECK(wrong(path, 2) == 0);
    }

    TAILRACE_MPI_TEST("a set whose manifest was renamed is not written over") {
        const std::string folder = shared_folder(), path = folder + "/f", renamed = folder + "/g";
        for (const std::uint64_t round : {1, 2}) {  // with the first names, and with the second
            for (std::uint64_t k = 0; k < round; ++k) write_set(path, "posix-per-rank", round);
            if (rank() == 0) fs::rename(path, renamed);
            const Names before = left_in(folder);
            std::string text;
            try {
                write_set(path, "posix-per-rank", 7);
            } catch (const core::Error& error) {
                text = error.what();
                CHECK(error.code() == Code::already_exists);
            }
            CAPTURE(text);
            CHECK(text.find(renamed) != std::string::npos);
            CHECK(text.find("choose another file name") != std::string::npos);
            CHECK(left_in(folder) == before);
            CHECK(wrong(renamed, round) == 0);
            barrier();
            if (rank() == 0) fs::remove(renamed);
            barrier();
        }
        write_set(path, "posix-per-rank", 3);  // parts that nobody names are left-overs
        CHECK(left_in(folder) == set_names("f", ""));
        CHECK(wrong(path, 3) == 0);
    }

    TAILRACE_MPI_TEST("a set whose manifest was copied is not taken away") {
        const std::string folder = shared_folder(), path = folder + "/f", copy = folder + "/g";
        write_set(path, "posix-per-rank", 1);
        if (rank() == 0) fs::copy(path, copy);
        const Names before = left_in(folder);
        for (const std::string newer : {"posix-per-rank", "posix", "mpiio"}) {
            CAPTURE(newer);
            TAILRACE_CHECK_ALL_THROW(Code::already_exists, write_set(path, newer, 2));
            CHECK(left_in(folder) == before);
            CHECK(wrong(copy, 1) == 0);
        }
    }

    TAILRACE_MPI_TEST("names of parts that somebody else has are refused") {
        const std::string last = ".0000" + std::to_string(size() - 1);
        for (const std::string& name : {last, last + ".part"}) {
            const std::string folder = shared_folder(), path = folder + "/f";
            CAPTURE(name);
            put(path + name, "precious");
            TAILRACE_CHECK_ALL_THROW(Code::already_exists, write_set(path, "posix-per-rank", 1));
            CHECK(left_in(folder) == Names{"f" + name});
            CHECK(slurp(path + name) == "precious");
            barrier();
            if (rank() == 0) {
                fs::rename(path + name, path + ".precious");
                fs::create_symlink("f.precious", path + name);
            }
            barrier();
            bool refused = false;
            try {
                write_set(path, "posix-per-rank", 1);
            } catch (const core::Error& error) {
                refused = core::exit_code(error.code()) == 2;
            }
            CHECK(on_all_ranks(refused));
            CHECK(slurp(path + ".precious") == "precious");
            CHECK(left_in(folder).size() == 2);
        }
    }

    TAILRACE_MPI_TEST("through a symbolic link a set is written and read") {
        const std::string folder = shared_folder(), path = folder + "/link";
        if (rank() == 0) {
            fs::create_directory(folder + "/elsewhere");
            fs::create_symlink("elsewhere/data", path);
        }
        barrier();
        write_set(path, "posix-per-rank", 1);
        CHECK(left_in(folder) == Names{"elsewhere", "link"});
        CHECK(left_in(folder + "/elsewhere") == set_names("data", ""));
        core::Phases phases;
        const auto source =
            formats::open_source(world(), path, variant("posix-per-rank").options, phases);
        const core::Extents dims{per_rank * static_cast<std::uint64_t>(size())};
        const Box all{{0}, dims};
        std::vector<std::uint64_t> data(dims[0]);
        core::Read read{0, all, reinterpret_cast<std::byte*>(data.data()), Scalar::u64};
        source->read(std::span(&read, 1));
        CHECK(data == filled<std::uint64_t>(all, dims, {}, 1));
    }
}
