// SPDX-License-Identifier: Apache-2.0
// On tmpfs space is memory of the machine: set aside for libraries that do not stand a full disk,
// and only looked at for plain system calls.
#include "formats/file/target_file.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Code;
using formats::TargetFile;

namespace {

core::Target wanted(const std::string& folder, std::uint64_t bytes) {
    return target_of(folder + "/f", core::Publish::atomic_rename, bytes);
}

}  // namespace

TAILRACE_MPI_TEST("in memory: set aside, or looked at where that is enough") {
    const std::string folder = shared_folder("/dev/shm");
    core::Phases phases;
    for (const std::uint64_t bytes : {1, (5 << 20) + 3, 8 << 20})
        for (const auto when : {formats::Reserve::at_once, formats::Reserve::after_create,
                                formats::Reserve::on_disk}) {
            CAPTURE(bytes);
            TargetFile file(world(), wanted(folder, bytes), phases, when);
            if (when == formats::Reserve::after_create) file.reserve_after_create();
            const bool set_aside = when != formats::Reserve::on_disk;
            CHECK(file.reserved() == set_aside);
            CAPTURE(file.reservation());
            CHECK(file.reservation().find(std::to_string(bytes)) != std::string::npos);
            CHECK((file.reservation().find("(in memory)") != std::string::npos) == !set_aside);
            CHECK((allocated(file.part()) >= bytes) == set_aside);
            CHECK(fs::file_size(file.part()) == 0);
            barrier();
            file.discard();
        }
}

TAILRACE_MPI_TEST("in memory: what is not there is refused at the start") {
    const std::string folder = shared_folder("/dev/shm");
    core::Phases phases;
    const std::uint64_t too_much = fs::space(folder).available + (64 << 20);
    for (const auto when : {formats::Reserve::at_once, formats::Reserve::after_create,
                            formats::Reserve::on_disk, formats::Reserve::check_only})
        TAILRACE_CHECK_ALL_THROW(Code::no_space_reserved,
                                 TargetFile(world(), wanted(folder, too_much), phases, when));
    CHECK(left_in(folder).empty());
}
