// SPDX-License-Identifier: Apache-2.0
#include "core/group_memory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/memory_groups.hpp"

using tailrace::core::group_memory_free;
using tailrace::core::group_memory_limit;
namespace fs = std::filesystem;

namespace {

/// A machine's /proc and /sys as a test wants them.
struct Machine {
    fs::path root = fs::temp_directory_path() / ("tailrace-groups-" + std::to_string(::getpid()));
    explicit Machine(const std::string& groups) { put("proc/self/cgroup", groups); }
    ~Machine() { fs::remove_all(root); }

    void put(const fs::path& file, const std::string& text) const {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text << "\n";
    }
    void second(const fs::path& group, const std::string& limit, const std::string& used) const {
        put("sys/fs/cgroup" / group / "memory.max", limit);
        put("sys/fs/cgroup" / group / "memory.current", used);
    }
    void first(const fs::path& group, const std::string& limit, const std::string& used) const {
        put("sys/fs/cgroup/memory" / group / "memory.limit_in_bytes", limit);
        put("sys/fs/cgroup/memory" / group / "memory.usage_in_bytes", used);
    }
};

}  // namespace

TEST_CASE("without groups, or without limits, there is no limit") {
    CHECK(group_memory_free("/nowhere") == UINT64_MAX);
    CHECK(group_memory_free(Machine("0::/job").root) == UINT64_MAX);
    const Machine machine("0::/job");
    machine.second("job", "max", "1000");
    CHECK(group_memory_free(machine.root) == UINT64_MAX);
}

TEST_CASE("version 2: the tightest on the way up, and what is only cached is free") {
    const Machine machine("0::/slice/job/step");
    machine.second("slice", "5000", "4000");
    machine.second("slice/job", "3000", "1000");
    machine.second("slice/job/step", "max", "900");
    CHECK(group_memory_free(machine.root) == 1000);
    machine.put("sys/fs/cgroup/slice/memory.stat",
                "anon 10\nfile 9000\nactive_file 300\ninactive_file 200\nshmem 8000");
    CHECK(group_memory_free(machine.root) == 1500);
    machine.second("slice/job", "3000", "2900");
    CHECK(group_memory_free(machine.root) == 100);
    machine.second("slice/job", "3000", "3001");
    CHECK(group_memory_free(machine.root) == 0);
}

TEST_CASE("version 1, beside version 2, and in a container") {
    const Machine machine("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/");
    machine.first("", "800", "500");  // the path is the host's: only the root is there
    CHECK(group_memory_free(machine.root) == 300);
    machine.put("sys/fs/cgroup/memory/memory.stat",
                "total_cache 400\ntotal_active_file 30\ntotal_inactive_file 20\nactive_file 1");
    CHECK(group_memory_free(machine.root) == 350);
    machine.first("x", "10", "9");  // not the group of memory
    CHECK(group_memory_free(machine.root) == 350);
    machine.second("", "100", "40");
    CHECK(group_memory_free(machine.root) == 60);
}

TEST_CASE("the limit alone, whatever is taken: the tightest on the way up, of both versions") {
    CHECK(group_memory_limit("/nowhere") == UINT64_MAX);
    const Machine machine("5:cpu,cpuacct:/x\n4:hugetlb,memory:/batch/job\n0::/slice/job/");
    CHECK(group_memory_limit(machine.root.c_str()) == UINT64_MAX);
    machine.second("slice/job", "max", "900");
    CHECK(group_memory_limit(machine.root.c_str()) == UINT64_MAX);
    machine.second("slice", "5000", "4999");
    CHECK(group_memory_limit(machine.root.c_str()) == 5000);
    machine.first("batch", "9223372036854771712", "1");  // as version 1 says that there is none
    CHECK(group_memory_limit(machine.root.c_str()) == 5000);
    machine.first("batch/job", "3000", "1");
    machine.first("x", "10", "9");  // not the group of memory
    CHECK(group_memory_limit(machine.root.c_str()) == 3000);
}
