// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace tailrace::intent::spool {
namespace {

constexpr uint64_t first_segment_bytes = uint64_t{64} << 10;
constexpr uint64_t most_segment_bytes = uint64_t{1} << 20;

int64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Of the first of these variables that is there; -1 where none is.
int32_t number_from(const char* const* variables) {
    for (; *variables != nullptr; ++variables) {
        const char* text = getenv(*variables);  // NOLINT(concurrency-mt-unsafe): read only
        if (text != nullptr && *text >= '0' && *text <= '9') return atoi(text);
    }
    return -1;
}

constexpr const char* rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
                                          "MPI_RANKID",           "SLURM_PROCID", nullptr};
constexpr const char* ranks_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_NRANKS",
                                           "SLURM_NTASKS", nullptr};

/// Creates a file that was not there, readable by its owner alone.
int create_spool(char* path, size_t path_bytes, const char* folder, const char* host) {
    for (unsigned number = 0; number < 10000; ++number) {
        const int length = snprintf(path, path_bytes, "%s/%.64s-%d-%u.spool", folder, host,
                                    static_cast<int>(getpid()), number);
        if (length < 0 || static_cast<size_t>(length) >= path_bytes) return -1;
        const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

bool allocate(int file, uint64_t from, uint64_t bytes) {
    // Beyond the limit on the size of files the system would end the program (SIGXFSZ).
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || from + bytes > limit.rlim_cur) return false;
    int error = EINTR;
    for (int tries = 0; tries < 100 && error == EINTR; ++tries) {
        error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
    }
    return error == 0;
}

}  // namespace

bool Writer::begin(const char* folder, uint64_t most_bytes, uint32_t hooks, bool inherited) {
    x_base = nullptr;
    x_full = false;
    x_most = most_bytes < 2 * first_segment_bytes ? 2 * first_segment_bytes : most_bytes;
    char host[256] = {};
    if (gethostname(host, sizeof host - 1) != 0) strcpy(host, "host");
    for (char& letter : host) letter = letter == '/' ? '_' : letter;
    const int file = create_spool(x_path, sizeof x_path, folder, host);
    if (file < 0) return false;
    struct stat status {};
    const bool good = fstat(file, &status) == 0 && allocate(file, 0, first_segment_bytes);
    // Behind what is allocated the mapping is never touched.
    void* base =
        good ? mmap(nullptr, x_most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (base == MAP_FAILED) {
        unlink(x_path);
        return false;
    }
    x_base = static_cast<char*>(base);
    x_allocated = first_segment_bytes;
    x_device = status.st_dev;
    x_inode = status.st_ino;
    x_end = header_bytes;
    memcpy(header().host, host, sizeof host);
    describe_process(hooks, inherited);
    return true;
}

void Writer::describe_process(uint32_t hooks, bool inherited) {
    Header& header = this->header();
    memcpy(header.magic, magic, sizeof magic);
    header.version = version;
    header.byte_order = byte_order;
    header.used_bytes = header_bytes;
    header.pid = static_cast<uint32_t>(getpid());
    header.parent_pid = static_cast<uint32_t>(getppid());
    header.rank = number_from(rank_variables);
    header.ranks = number_from(ranks_variables);
    header.start_wall_ns = clock_ns(CLOCK_REALTIME);
    header.start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    header.hooks = hooks;
    header.inherited = inherited ? 1 : 0;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) {
        header.node_memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
    }
    strncpy(header.tailrace_version, TAILRACE_VERSION, sizeof header.tailrace_version - 1);
}

bool Writer::grow(uint64_t bytes) {
    if (x_full) return false;
    x_full = true;  // once there was no room there is none: a program is not slowed by trying again
    uint64_t segment = x_allocated < most_segment_bytes ? x_allocated : most_segment_bytes;
    while (x_allocated + segment < x_end + bytes) segment += first_segment_bytes;
    if (x_allocated + segment > x_most) segment = x_most - x_allocated;
    if (x_allocated + segment < x_end + bytes) return false;
    // No descriptor is kept: a program that closes all of them would give its number to a file of
    // its own.
    const int file = ::open(x_path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    struct stat status {};
    const bool good = fstat(file, &status) == 0 && status.st_dev == x_device &&
                      status.st_ino == x_inode && allocate(file, x_allocated, segment);
    close(file);
    if (!good) return false;
    x_allocated += segment;
    x_full = false;
    return true;
}

uint64_t Writer::add(Kind kind, uint64_t bytes) {
    if (x_base == nullptr) return 0;
    bytes = (bytes + 7) / 8 * 8;
    if (x_end + bytes > x_allocated && !grow(bytes)) {
        dropped(kind);
        return 0;
    }
    const uint64_t offset = x_end;
    Head& head = at<Head>(offset);
    head.kind = kind;
    head.bytes = static_cast<uint32_t>(bytes);
    x_end += bytes;
    return offset;
}

void Writer::publish() {
    if (x_base == nullptr) return;
    __atomic_store_n(&header().used_bytes, x_end, __ATOMIC_RELEASE);
}

}  // namespace tailrace::intent::spool
