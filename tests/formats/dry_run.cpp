// SPDX-License-Identifier: Apache-2.0
// A dry run refuses what the run would refuse, in the same words, and makes and changes nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>

#include "formats/file/part_file.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;

namespace {

std::vector<Variant> all_variants() {
    std::vector<Variant> all = variants();
    all.push_back({"hdf5", formats::hdf5::Options{}});
    all.push_back({"pnetcdf", formats::pnetcdf::Options{}});
    formats::hdf5::Options subfiling;
    subfiling.subfiles = 1;
    all.push_back({"hdf5 with subfiles", subfiling});
    return all;
}

/// The text of the Error; empty where there is none.
template <class Work>
std::string refusal(Work&& work) {
    try {
        work();
    } catch (const core::Error& error) {
        return error.message() + ": " + error.where() + ": " + error.remedy();
    }
    return "";
}

std::string of_dry_run(const core::Target& target, const Variant& variant) {
    return refusal([&] { formats::check_sink(world(), target, variant.options, size()); });
}
std::string of_run(const core::Target& target, const Variant& variant) {
    core::Phases phases;
    return refusal([&] { (void)formats::open_sink(world(), target, variant.options, phases); });
}

/// Both say the same; and the dry run changes nothing, also where nothing is in the way.
void check_both(const std::string& folder, const Variant& variant) {
    CAPTURE(variant.name);
    const core::Target target{folder + "/f"};
    const Names before = left_in(folder);
    const std::string dry = of_dry_run(target, variant);
    CHECK(left_in(folder) == before);
    CHECK(dry == of_run(target, variant));
    CHECK(left_in(folder) == before);
}

}  // namespace

TEST_SUITE("dry_run") {
    TAILRACE_MPI_TEST("names of somebody else") {
        const std::string last = "f.0000" + std::to_string(size() - 1);
        std::size_t refused = 0;
        for (const std::string& name :
             {std::string("f.part"), std::string("f.part.lock"), std::string("f.manifest"),
              std::string("f.manifest.part"), last, last + ".part", last + ".b"})
            for (const std::string kind : {"file", "folder", "dangling link"})
                for (const Variant& variant : all_variants()) {
                    const std::string folder = shared_folder(), path = folder + "/" + name;
                    CAPTURE(name);
                    CAPTURE(kind);
                    if (kind == "file") put(path, "precious");
                    if (rank() == 0 && kind == "folder") fs::create_directory(path);
                    if (rank() == 0 && kind == "dangling link") fs::create_symlink("none", path);
                    barrier();
                    check_both(folder, variant);
                    if (!of_dry_run({folder + "/f"}, variant).empty()) ++refused;
                    barrier();
                }
        CHECK(refused >= 3 * (2 * 4 + 2));  // part and lock for all raw formats, two of the parts
    }

    TAILRACE_MPI_TEST("a manifest of a set that was renamed, or copied") {
        for (const bool copied : {false, true})
            for (const Variant& variant : variants()) {
                const std::string folder = shared_folder();
                CAPTURE(copied);
                Run(core::Target{folder + "/f"}, variants()[1].options, 16, 1).publish();
                if (rank() == 0) fs::copy(folder + "/f", folder + "/g");
                if (rank() == 0 && !copied) fs::remove(folder + "/f");
                barrier();
                check_both(folder, variant);
                const bool refused = !of_dry_run({folder + "/f"}, variant).empty();
                CHECK(refused == (copied || variant.name == "posix-per-rank"));
            }
    }

    TAILRACE_MPI_TEST("a run that writes it now, and what a killed one has left") {
        for (const Variant& variant : variants()) {
            const std::string folder = shared_folder();
            put(folder + "/f.part", "left");
            put(folder + "/f.part.lock", "process 1 on a host\n");
            CHECK(of_dry_run({folder + "/f"}, variant).empty());
            {
                const formats::Descriptor lock(formats::open_file(folder + "/f.part.lock", O_RDWR));
                if (rank() == 0) REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
                barrier();
                check_both(folder, variant);
                CHECK(of_dry_run({folder + "/f"}, variant).find("process 1 on a host") !=
                      std::string::npos);
                barrier();
            }
        }
    }

    TAILRACE_MPI_TEST("options, folders and space") {
        const std::string folder = shared_folder();
        core::Target nowhere{folder + "/none/f"}, huge{folder + "/f"};
        huge.reserve_bytes = std::uint64_t{1} << 62;
        for (const Variant& variant : all_variants()) {
            CAPTURE(variant.name);
            CHECK(!of_dry_run(nowhere, variant).empty());
            CHECK(of_dry_run(nowhere, variant) == of_run(nowhere, variant));
            CHECK(!of_dry_run(huge, variant).empty());
            check_both(folder, variant);
        }
        Variant per_rank = variants()[1];
        set_chunk(per_rank, "/data", {1});
        CHECK(!of_dry_run({folder + "/f"}, per_rank).empty());
        check_both(folder, per_rank);
    }
}
