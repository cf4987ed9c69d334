// SPDX-License-Identifier: Apache-2.0
#include "core/context.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

using namespace tailrace::core;

namespace {

constexpr const char* mounts =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
    "30 22 0:25 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=100k\n"
    "40 22 0:50 / /scratch rw,flock shared:7 master:2 - lustre 10.0.0.1@o2ib:/fs rw,lazystatfs\n"
    "41 40 0:51 / /scratch/my\\040files rw - gpfs gpfs0 rw\n"
    "50 22 0:60 / /home rw - nfs4 server:/home rw,vers=4.2\n"
    "51 22 0:61 / /home rw - tmpfs tmpfs rw\n"
    "60 22 0:70 / /bare rw - autofs systemd-1\n"
    "a damaged line\n";

}  // namespace

TEST_CASE("the deepest mount that holds a path is found") {
    CHECK(find_mount(mounts, "/tmp/x")->type == "ext4");
    CHECK(find_mount(mounts, "/dev/shm")->type == "tmpfs");
    CHECK(find_mount(mounts, "/dev/shmem")->type == "ext4");
    const auto lustre = find_mount(mounts, "/scratch/run/1");
    CHECK(lustre->type == "lustre");
    CHECK(lustre->mount_point == "/scratch");
    CHECK(lustre->source == "10.0.0.1@o2ib:/fs");
    CHECK(lustre->mount_options == "rw,flock,rw,lazystatfs");
    CHECK(find_mount(mounts, "/bare/x")->type == "autofs");
    CHECK_FALSE(find_mount("", "/tmp").has_value());
}

TEST_CASE("escaped names and mounts over mounts are understood") {
    CHECK(find_mount(mounts, "/scratch/my files/a")->type == "gpfs");
    CHECK(find_mount(mounts, "/home/me")->type == "tmpfs");
}

TEST_CASE("the file system of a folder that does not exist yet is its parent's") {
    const FileSystem here = file_system_of(std::filesystem::temp_directory_path());
    const FileSystem later =
        file_system_of(std::filesystem::temp_directory_path() / "not/yet/there");
    CHECK(here.type == later.type);
    CHECK(here.mount_point == later.mount_point);
    CHECK(here.type != "unknown");
    CHECK(here.total_bytes > 0);
    CHECK(here.free_bytes <= here.total_bytes);
}

TEST_CASE("a rank that is bound to one core is still on a machine of several") {
    cpu_set_t before, one;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(collect_context(".").cores == ::sysconf(_SC_NPROCESSORS_ONLN));
    REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("the context of this machine is complete") {
    ::setenv("TAILRACE_SEISM_TIME", "a=b", 1);
    ::setenv("SECRET_TOKEN", "x", 1);
    const Context context = collect_context(".");
    CHECK_FALSE(context.host.empty());
    CHECK(context.os_kernel.find("Linux ") == 0);
    CHECK(context.cores == ::sysconf(_SC_NPROCESSORS_ONLN));
    CHECK(context.memory.total_bytes > context.memory.available_bytes);
    CHECK(context.memory.available_bytes > 0);
    CHECK_FALSE(context.command.empty());
    CHECK(context.environment.at("TAILRACE_SEISM_TIME") == "a=b");
    CHECK(context.environment.count("SECRET_TOKEN") == 0);
    CHECK(context.environment.count("PATH") == 0);
    CHECK(std::regex_match(context.tailrace_version, std::regex(R"(\d+\.\d+\.\d+.*)")));
    CHECK(std::regex_match(context.commit, std::regex("unknown|[0-9a-f]+(-dirty)?")));
    CHECK(std::regex_match(context.compiler, std::regex(R"((GCC|Clang) \d+\.\d+.*)")));
}

TEST_CASE("nothing that may be a secret is recorded") {
    for (const char* name :
         {"SLURM_JWT", "SLURM_TOKEN", "SLURM_UNKNOWN", "PBS_PASSWORD", "HDF5_SECRET_KEY",
          "OMPI_MCA_orte_precondition_transports", "TAILRACE_API_TOKEN", "HDF5_aws_credentials",
          "TAILRACE_passwd", "TAILRACE_X", "TAILRACE_SEISM", "AWS_ACCESS_KEY_ID",
          "OMPI_MCA_orte_hnp_uri", "PATH", "HOME", ""}) {
        CAPTURE(name);
        CHECK_FALSE(is_recorded(name, "x"));
    }
    for (const char* value :
         {"rest url=https://me:word@host/", "https://word@host", "me:word@host", "me:wo,r=d@host",
          "a=1 me:word@host", "rest token=word", "a=1;api_key=word"}) {
        CAPTURE(value);
        CHECK_FALSE(is_recorded("HDF5_VOL_CONNECTOR", value));
        CHECK_FALSE(is_recorded("OMPI_MCA_x", value));
        CHECK_FALSE(is_recorded("TAILRACE_SEISM_FILENAME", value));
    }
    for (const char* value : {"self,tcp", "10.0.0.1@o2ib", "host:/path@1.0", "a@b", ":@", "me:@b",
                              "/opt/a.so:/opt/b@1.so", "/keys/x=3", "striping_factor=4"}) {
        CAPTURE(value);
        CHECK(is_recorded("OMPI_MCA_x", value));
        CHECK(is_recorded("TAILRACE_SLAB_N1", value));
        CHECK(is_recorded("TAILRACE_PARTICLE_DIM_1", value));
    }
    for (const char* name :
         {"SLURM_JOB_ID", "SLURM_NTASKS", "PBS_JOBID", "OMPI_MCA_io", "HDF5_USE_FILE_LOCKING",
          "ROMIO_HINTS", "H5FD_SUBFILING_IOC_PER_NODE", "TAILRACE_SEISM_TIME", "TAILRACE_FAULT",
          "LD_PRELOAD", "OMP_NUM_THREADS"}) {
        CAPTURE(name);
        CHECK(is_recorded(name, "x"));
    }
    ::setenv("SLURM_JWT", "eyJ", 1);
    CHECK(collect_context(".").environment.count("SLURM_JWT") == 0);
}

TEST_CASE("a command is recorded without what may be a secret") {
    using Words = std::vector<std::string>;
    const Words plain{"/opt/bin/tailrace-seism", "processor=2x2x2",     "--input", "run.in",
                      "hint=striping_factor=4",  "filename=/keys/a.h5", "verify"};
    CHECK(without_secrets(plain) == plain);
    CHECK(without_secrets({"p", "filename=me:word@host:/f", "me:word@host", "url=https://word@host",
                           "hint=auth_token=word", "me:w=ord@host", "--password=word", "--token",
                           "word", "time=1"}) == Words{"p", "filename=***", "***", "url=***",
                                                       "hint=***", "***", "--password=***",
                                                       "--token", "***", "time=1"});
    CHECK(without_secrets({}).empty());
}

TEST_CASE("memory of the process grows with what is touched") {
    const ProcessMemory before = process_memory();
    CHECK(before.peak_bytes >= before.resident_bytes);
    std::vector<char> block(32 << 20, 1);
    const ProcessMemory after = process_memory();
    CHECK(block[block.size() / 2] == 1);
    CHECK(after.resident_bytes >= before.resident_bytes + (30U << 20));
    CHECK(after.peak_bytes >= after.resident_bytes);
}

TEST_CASE("the time is written as ISO 8601 in UTC") {
    CHECK(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
}
