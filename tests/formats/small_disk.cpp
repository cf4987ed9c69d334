// SPDX-License-Identifier: Apache-2.0
// A file system of 8 MiB that fills up, and one that is read-only. Run by small_disk.sh, which
// makes them and names them in TAILRACE_TEST_SMALL_DISK and TAILRACE_TEST_READ_ONLY.
#include <cstdlib>

#include "formats_test.hpp"
#include "hooks/posix/observer.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Box;
using core::Code;
using core::Outcome;
using core::Scalar;

namespace {

std::string folder_of_test(const char* variable) {
    const char* folder = std::getenv(variable);
    if (folder == nullptr) {
        FAIL("run this through small_disk.sh: " << variable << " is not set");
        return ".";
    }
    return folder;
}

bool observed() {
    const char* text = std::getenv("TAILRACE_TEST_OBSERVE");
    return text == nullptr || std::string(text) != "0";
}
bool on_ompio() {
    const char* component = std::getenv("OMPI_MCA_io");
    return component == nullptr || std::string(component) == "ompio";
}

/// The raw formats, and PnetCDF in every way.
std::vector<Variant> disk_variants() {
    std::vector<Variant> all = variants();
#ifdef TAILRACE_HAVE_PNETCDF
    for (const bool collective : {true, false})
        for (const formats::pnetcdf::Put put :
             {formats::pnetcdf::Put::blocking, formats::pnetcdf::Put::aggregated}) {
            formats::pnetcdf::Options options;
            options.collective = collective;
            options.put = put;
            all.push_back({"pnetcdf", options});
        }
#endif
    return all;
}

/// Without an observer nobody can know: OMPIO reports full counts for what it did not write, and
/// PnetCDF does not look at counts.
bool loses_silently(const Variant& variant) {
    return !observed() && on_ompio() &&
           (variant.name == "mpiio-collective" || variant.name == "pnetcdf");
}

constexpr std::uint64_t per_rank = (4u << 20) / 8;

struct Steps {
    core::Phases phases;
    core::Extents dims{2, per_rank* static_cast<std::uint64_t>(size())};
    std::unique_ptr<core::Sink> sink;
    std::vector<std::uint64_t> data;

    Steps(const std::string& path, const Variant& variant, std::uint64_t reserve_bytes) {
        core::Target target;
        target.path = path;
        target.reserve_bytes = reserve_bytes;
        sink = formats::open_sink(world(), target, variant.options, phases);
        sink->define(schema_of(dense("/data", Scalar::u64, dims)));
    }
    void step(std::uint64_t number) {
        const Box mine{{number, per_rank * static_cast<std::uint64_t>(rank())}, {1, per_rank}};
        data = filled<std::uint64_t>(mine, dims, {}, 7);
        const std::vector<core::Write> pieces{piece(0, mine, data, Scalar::u64)};
        sink->write(pieces);
        sink->complete(number);
    }
};

}  // namespace

TEST_SUITE("small_disk") {
    TAILRACE_MPI_TEST("a disk that fills up ends the run on all ranks") {
        const std::string folder = folder_of_test("TAILRACE_TEST_SMALL_DISK");
        if (observed()) hooks::posix::install();
        for (const Variant& variant : disk_variants()) {
            if (loses_silently(variant)) continue;
            CAPTURE(variant.name);
            const std::string path = folder + "/f";
            bool thrown = false;
            {
                Steps run(path, variant, 0);
                try {
                    run.step(0);
                    run.step(1);
                    run.sink->close(Outcome::publish);
                } catch (const core::Error& error) {
                    thrown = true;
                    const std::string text = error.what();
                    CAPTURE(text);
                    // MPI-IO by itself knows of a failure, but often not which.
                    const bool told = error.code() == Code::no_space ||
                                      (!observed() && !variant.name.starts_with("posix") &&
                                       core::exit_code(error.code()) == 1);
                    CHECK(told);
                    CHECK(error.where().starts_with(path));  // or the part of a rank
                }
                CHECK(on_all_ranks(thrown));
                run.sink->close(Outcome::discard);
            }
            barrier();
            CHECK(names_in(folder).empty());
            barrier();
        }
    }

    TAILRACE_MPI_TEST("a reservation that cannot be leaves the disk as it was") {
        const std::string folder = folder_of_test("TAILRACE_TEST_SMALL_DISK");
        for (const Variant& variant : disk_variants()) {
            CAPTURE(variant.name);
            TAILRACE_CHECK_ALL_THROW(Code::no_space_reserved,
                                     Steps(folder + "/f", variant, 16 << 20));
            barrier();
            CHECK(names_in(folder).empty());
            CHECK(fs::space(folder).available >= 8u << 20);
            barrier();
        }
    }

    TAILRACE_MPI_TEST("a file system that cannot be written") {
        const std::string folder = folder_of_test("TAILRACE_TEST_READ_ONLY");
        for (const Variant& variant : disk_variants()) {
            CAPTURE(variant.name);
            TAILRACE_CHECK_ALL_THROW(Code::not_writable, Steps(folder + "/f", variant, 0));
        }
    }
}
