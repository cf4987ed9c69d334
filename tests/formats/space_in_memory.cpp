// SPDX-License-Identifier: Apache-2.0
// Space that is set aside on tmpfs is memory of the machine.
#include <sys/stat.h>

#include "formats/target_file.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using formats::TargetFile;

namespace {

std::uint64_t allocated(const fs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

core::Target target(const std::string& path, std::uint64_t reserve_bytes) {
    core::Target target;
    target.path = path;
    target.reserve_bytes = reserve_bytes;
    return target;
}

}  // namespace

TAILRACE_MPI_TEST("in memory every rank sets its share aside") {
    const std::string folder = shared_folder("/dev/shm");
    core::Phases phases;
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{(5 << 20) + 3},
                                      std::uint64_t{8 << 20}, std::uint64_t{33 << 20}})
        for (const auto when : {formats::Reserve::at_once, formats::Reserve::after_create}) {
            CAPTURE(bytes);
            TargetFile file(world(), target(folder + "/f", bytes), phases, when);
            if (when == formats::Reserve::after_create) file.reserve_after_create();
            CHECK(file.reserved());
            CHECK(file.reservation().find(std::to_string(bytes)) != std::string::npos);
            CHECK((file.reservation().find("by all ranks") != std::string::npos) == (size() > 1));
            CHECK(allocated(file.part()) >= bytes);
            CHECK(fs::file_size(file.part()) == 0);
            barrier();
            file.discard();
        }
    const std::uint64_t too_much = fs::space(folder).available + (64 << 20);
    TAILRACE_CHECK_ALL_THROW(Code::no_space_reserved,
                             TargetFile(world(), target(folder + "/f", too_much), phases));
    barrier();
    CHECK(names_in(folder).empty());
    barrier();
}
