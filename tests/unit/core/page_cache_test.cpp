// SPDX-License-Identifier: Apache-2.0
#include "core/page_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"

using namespace tailrace;

namespace {

constexpr long tmpfs_magic = 0x01021994;

std::filesystem::path synced_file(std::size_t bytes) {
    const std::filesystem::path file = std::filesystem::current_path() / "page_cache_test.bin";
    std::ofstream(file, std::ios::binary) << std::string(bytes, 'x');
    const int fd = ::open(file.c_str(), O_RDWR);
    CHECK(::fsync(fd) == 0);
    ::close(fd);
    return file;
}

}  // namespace

TEST_CASE("pages are counted; dropped ones are gone where the file lies on a disk") {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto file = synced_file(static_cast<std::size_t>(10 * page + 1));
    const core::Residency before = core::residency(file);
    CHECK(before.pages == 11);
    CHECK(before.resident == 11);  // written just now
    core::drop_pages(file);
    struct statfs info {};
    CHECK(::statfs(file.c_str(), &info) == 0);
    const core::Residency after = core::residency(file);
    CHECK(after.pages == 11);
    if (info.f_type == tmpfs_magic)
        CHECK(after.resident == 11);
    else
        CHECK(after.resident < 11);  // others may read it meanwhile
    std::filesystem::remove(file);
}

TEST_CASE("an empty file has no pages; a missing one is an error that names it") {
    const auto file = synced_file(0);
    CHECK(core::residency(file).pages == 0);
    std::filesystem::remove(file);
    try {
        (void)core::residency(file);
        FAIL("it is not there");
    } catch (const core::Error& error) {
        CHECK(error.where() == file.string());
    }
    CHECK_THROWS_AS(core::drop_pages(file), core::Error);
}
