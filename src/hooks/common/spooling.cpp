// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/spooling.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "hooks/common/mpi_library.hpp"

namespace tailrace::hooks::spooling {
namespace {

constexpr uint64_t default_mib = 64;  // it takes what it needs: about 1 KiB per dataset
constexpr uint64_t greatest_mib = 4096;

/// A file of this name in its folder, without links.
char* in_folder(const char* name) {
    const char* slash = strrchr(name, '/');
    char* folder = slash != nullptr ? strndup(name, slash - name + 1) : strdup(".");
    char* there = folder != nullptr ? realpath(folder, nullptr) : nullptr;
    free(folder);
    if (there == nullptr) return strdup(name);
    const char* last = slash != nullptr ? slash + 1 : name;
    char* path = static_cast<char*>(malloc(strlen(there) + strlen(last) + 2));
    if (path != nullptr) {
        strcpy(path, strcmp(there, "/") == 0 ? "" : there);
        strcat(path, "/");
        strcat(path, last);
    }
    free(there);
    return path;
}

void add_text(spool::Writer& writer, spool::TextOf of, const char* characters, size_t bytes) {
    const uint64_t offset =
        writer.add(spool::kind_text, sizeof(spool::TextRecord) + static_cast<uint64_t>(bytes));
    if (offset == 0) return;
    auto& record = writer.at<spool::TextRecord>(offset);
    record.of = of;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, characters, bytes);
}

void add_declared(spool::Writer& writer, spool::DeclaredBy by, const char* text, size_t bytes) {
    const uint64_t offset = writer.add(spool::kind_declared, sizeof(spool::DeclaredRecord) + bytes);
    if (offset == 0) return;
    auto& record = writer.at<spool::DeclaredRecord>(offset);
    record.by = by;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, text, bytes);
}

/// The name of a file, a zero byte, and what the file holds.
void add_declared_file(spool::Writer& writer, const char* name) {
    constexpr size_t most = spool::most_declared_in_environment;
    const size_t front = strlen(name) + 1;
    char* text = static_cast<char*>(malloc(front + most + 1));
    if (text == nullptr) return;
    memcpy(text, name, front);
    size_t used = 0;
    // Past the C library, where the hook of system calls would take the file for the program's.
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const long file = syscall(SYS_openat, AT_FDCWD, name, flags);
    while (file >= 0 && used <= most) {
        const long got = syscall(SYS_read, file, text + front + used, most + 1 - used);
        if (got <= 0) break;
        used += static_cast<size_t>(got);
    }
    if (file >= 0) syscall(SYS_close, file);
    if (used > most) {
        writer.dropped(spool::kind_declared);
    } else {
        add_declared(writer, spool::declared_in_file, text, front + used);
    }
    free(text);
}

/// What the environment declares of files by pattern: as it is, or the name of a file with it.
void describe_declared(spool::Writer& writer) {
    const char* given = getenv("TAILRACE_INTENTS");  // NOLINT(concurrency-mt-unsafe): only read
    if (given == nullptr || *given == '\0') return;
    const size_t bytes = strlen(given);
    if (given[strspn(given, " \t\r\n")] != '{') {
        add_declared_file(writer, given);
    } else if (bytes > spool::most_declared_in_environment) {
        writer.dropped(spool::kind_declared);
    } else {
        add_declared(writer, spool::declared_in_environment, given, bytes);
    }
}

void ask_system(spool::FileRecord& record, const char* path) {
    struct stat status {};
    struct statfs system {};
    if (stat(path, &status) == 0) {
        record.device = status.st_dev;
        record.inode = status.st_ino;
    }
    if (statfs(path, &system) == 0) {
        record.block_bytes = static_cast<uint64_t>(system.f_bsize);
        record.system_magic = system.f_type;
    }
}

/// What was open as standard error when the hook was loaded.
struct ErrorStream {
    dev_t device;
    ino_t inode;
    bool known;
};
ErrorStream first_error;

__attribute__((constructor)) void note_standard_error() {
    struct stat status {};
    first_error.known = fstat(STDERR_FILENO, &status) == 0;
    first_error.device = status.st_dev;
    first_error.inode = status.st_ino;
}

/// Where the program has closed it, the next file that is opened gets its number: one of data is
/// open for reading and writing, which logs are not.
bool is_standard_error() {
    struct stat status {};
    if (fstat(STDERR_FILENO, &status) != 0) return false;
    const bool same = first_error.known && status.st_dev == first_error.device &&
                      status.st_ino == first_error.inode;
    if (same || !S_ISREG(status.st_mode)) return true;
    const int flags = fcntl(STDERR_FILENO, F_GETFL);
    return flags >= 0 && ((flags & O_ACCMODE) != O_RDWR || (flags & O_APPEND) != 0);
}

}  // namespace

int64_t now() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return static_cast<int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
}

char* absolute(const char* name) {
    char* path = realpath(name, nullptr);
    if (path != nullptr) return path;
    const char* colon = strchr(name, ':');
    if (colon != nullptr && colon - name > 1 && memchr(name, '/', colon - name) == nullptr) {
        path = realpath(colon + 1, nullptr);
        if (path != nullptr) return path;
    }
    return in_folder(name);
}

char* as_named(const char* name) {
    char* folder = name[0] != '/' ? getcwd(nullptr, 0) : strdup("");
    if (folder == nullptr) return nullptr;
    char* path = static_cast<char*>(malloc(strlen(folder) + strlen(name) + 2));
    if (path != nullptr) {
        strcpy(path, strcmp(folder, "/") == 0 ? "" : folder);
        size_t used = strlen(path);
        // Part by part, without those that are empty or the folder itself.
        for (const char* at = name; *at != '\0';) {
            const size_t part = strcspn(at, "/");
            if (part > 0 && !(part == 1 && at[0] == '.')) {
                path[used++] = '/';
                memcpy(path + used, at, part);
                used += part;
            }
            at += at[part] == '/' ? part + 1 : part;
        }
        path[used] = '\0';
    }
    free(folder);
    return path;
}

char* absolute_in(int folder, const char* name) {
    if (name[0] == '/') return absolute(name);
    char link[32] = "/proc/self/cwd";
    if (folder != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    char path[PATH_MAX];
    const ssize_t got = readlink(link, path, sizeof path - 1);
    const size_t bytes = got > 0 ? static_cast<size_t>(got) : 0;
    if (bytes == 0 || bytes + strlen(name) + 2 > sizeof path) return nullptr;
    path[bytes] = '/';
    memcpy(path + bytes + 1, name, strlen(name) + 1);
    return absolute(path);
}

uint64_t hash_of(const char* text) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (; text != nullptr && *text != '\0'; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3U;
    }
    return hash;
}

uint64_t mixed(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdU;
    return hash ^ (hash >> 32);
}

void say(const char* text) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        const char* rank = getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
        if (rank != nullptr && strcmp(rank, "0") != 0) return;
    }
    char line[1024];
    const int bytes = snprintf(line, sizeof line, "tailrace: %.1000s\n", text);
    if (bytes > 0) to_standard_error(line, strnlen(line, sizeof line));
}

void to_standard_error(const char* line, size_t bytes) {
    if (is_standard_error() && write(STDERR_FILENO, line, bytes) < 0) return;
}

uint64_t most_bytes() {
    const char* size = getenv("TAILRACE_PROFILE_MIB");  // NOLINT(concurrency-mt-unsafe): only read
    const long long asked = size != nullptr ? atoll(size) : 0;
    const uint64_t mib = asked > 0 ? static_cast<uint64_t>(asked) : default_mib;
    return (mib < greatest_mib ? mib : greatest_mib) << 20;
}

void describe_program(spool::Writer& writer) {
    static char buffer[16384];  // stacks may be small
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t bytes = read(file, buffer, sizeof buffer);
        if (bytes > 0) add_text(writer, spool::text_command, buffer, static_cast<size_t>(bytes));
        close(file);
    }
    const ssize_t bytes = readlink("/proc/self/exe", buffer, sizeof buffer);
    if (bytes > 0) add_text(writer, spool::text_program, buffer, static_cast<size_t>(bytes));
    if (getcwd(buffer, sizeof buffer) != nullptr) {
        add_text(writer, spool::text_folder, buffer, strlen(buffer));
    }
    describe_declared(writer);
    static MpiVersion mpi;
    if (mpi.ask()) add_text(writer, spool::text_mpi, mpi.text, strlen(mpi.text));
}

uint64_t add_file(spool::Writer& writer, const char* path) {
    const size_t bytes = strlen(path);
    const uint64_t offset = writer.add(spool::kind_file, sizeof(spool::FileRecord) + bytes);
    if (offset == 0) return 0;
    auto& record = writer.at<spool::FileRecord>(offset);
    record.path_bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, path, bytes);
    ask_system(record, path);
    return offset;
}

void add_name(spool::Writer& writer, spool::Kind kind, uint64_t of, const char* name) {
    const size_t bytes = strlen(name);
    const uint64_t offset = writer.add(kind, sizeof(spool::NameRecord) + bytes);
    if (offset == 0) return;
    auto& record = writer.at<spool::NameRecord>(offset);
    record.of = of;
    record.bytes = static_cast<uint32_t>(bytes);
    memcpy(&record + 1, name, bytes);
}

int64_t relative(spool::Writer& writer, int64_t at) {
    const int64_t since = at - writer.header().start_monotonic_ns;
    return since > 0 ? since : 0;
}

void widen(spool::Writer& writer, spool::Period& span, Took took) {
    const int64_t start = relative(writer, took.start_ns);
    const int64_t end = relative(writer, took.end_ns);
    if (span.end_ns == 0 || start < span.start_ns) span.start_ns = start;
    if (end > span.end_ns) span.end_ns = end;
}

}  // namespace tailrace::hooks::spooling
