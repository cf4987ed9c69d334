// SPDX-License-Identifier: Apache-2.0
// The counts of this process as JSON lines, written with raw system calls when it ends.
#include "hooks/posix/report.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/posix/tally.hpp"
#include "hooks/posix/uring.hpp"

namespace tailrace::hooks::posix {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Buffered output to a descriptor, past our own wrappers.
class Output {
public:
    explicit Output(int fd) : x_fd(fd) {}

    void text(const char* value) { bytes(value, strlen(value)); }
    void number(uint64_t value) {
        char digits[24];
        bytes(digits, static_cast<size_t>(snprintf(digits, sizeof digits, "%llu",
                                                   static_cast<unsigned long long>(value))));
    }
    void member(const char* name, uint64_t value) {
        text("\"");
        text(name);
        text("\":");
        number(value);
        text(",");
    }
    void quoted(const char* value);
    void replace_last(char with) { x_data[x_used - 1] = with; }
    void flush() {
        for (size_t done = 0; done < x_used;) {
            long written = syscall(SYS_write, x_fd, x_data + done, x_used - done);
            if (written <= 0) break;
            done += static_cast<size_t>(written);
        }
        x_used = 0;
    }

private:
    void bytes(const char* value, size_t length) {
        if (x_used + length > sizeof x_data) flush();
        if (length > sizeof x_data) return;
        memcpy(x_data + x_used, value, length);
        x_used += length;
    }

    int x_fd;
    size_t x_used = 0;
    char x_data[16384];
};

/// Length of the valid UTF-8 sequence at `value`, 0 where there is none.
unsigned utf8_length(const unsigned char* value) {
    if (value[0] < 0x80) return 1;
    unsigned length = value[0] >= 0xf0 ? 4 : value[0] >= 0xe0 ? 3 : value[0] >= 0xc2 ? 2 : 0;
    if (value[0] > 0xf4) return 0;
    for (unsigned at = 1; at < length; ++at)
        if ((value[at] & 0xc0) != 0x80) return 0;
    bool bad = (value[0] == 0xe0 && value[1] < 0xa0) || (value[0] == 0xed && value[1] > 0x9f) ||
               (value[0] == 0xf0 && value[1] < 0x90) || (value[0] == 0xf4 && value[1] > 0x8f);
    return bad ? 0 : length;
}

void Output::quoted(const char* value) {
    text("\"");
    const auto* at = reinterpret_cast<const unsigned char*>(value);
    while (*at != 0) {
        unsigned length = utf8_length(at);
        char escaped[8];
        if (length == 0) {
            text("\\ufffd");
            length = 1;
        } else if (*at < 0x20 || *at == '"' || *at == '\\') {
            snprintf(escaped, sizeof escaped, "\\u%04x", *at);
            text(escaped);
        } else {
            bytes(reinterpret_cast<const char*>(at), length);
        }
        at += length;
    }
    text("\"");
}

/// Sums over phases.
struct Sum {
    uint64_t calls = 0, asked = 0, done = 0, failed = 0, shorts = 0, smallest = 0, largest = 0;
    int first_errno = 0;
    uint64_t by_size[size_classes] = {};

    void add(const Direction& other) {
        uint64_t least = other.smallest_plus_1.load(relaxed);
        if (least != 0 && (calls == 0 || least - 1 < smallest)) smallest = least - 1;
        uint64_t most = other.largest.load(relaxed);
        if (most > largest) largest = most;
        calls += other.calls.load(relaxed);
        asked += other.bytes_asked.load(relaxed);
        done += other.bytes_done.load(relaxed);
        failed += other.failed_calls.load(relaxed);
        shorts += other.short_calls.load(relaxed);
        if (first_errno == 0) first_errno = other.first_errno.load(relaxed);
        for (unsigned index = 0; index < size_classes; ++index)
            by_size[index] += other.by_size[index].load(relaxed);
    }
};

void put(Output& out, const char* name, const Sum& sum) {
    out.text("\"");
    out.text(name);
    out.text("\":{");
    out.member("calls", sum.calls);
    out.member("asked_bytes", sum.asked);
    out.member("done_bytes", sum.done);
    out.member("failed_calls", sum.failed);
    out.member("short_calls", sum.shorts);
    out.member("smallest_bytes", sum.smallest);
    out.member("largest_bytes", sum.largest);
    out.member("first_errno", static_cast<uint64_t>(sum.first_errno));
    out.text("\"calls_by_log2_size\":{");
    bool any = false;
    for (unsigned index = 0; index < size_classes; ++index) {
        if (sum.by_size[index] == 0) continue;
        char class_name[8];
        snprintf(class_name, sizeof class_name, "%u", index);
        out.member(class_name, sum.by_size[index]);
        any = true;
    }
    if (any)
        out.replace_last('}');
    else
        out.text("}");
    out.text("},");
}

constexpr const char* family_names[families] = {"write", "pwrite", "writev", "aio", "uring"};

/// Write, read and families of `tallies`, as members.
void put_counts(Output& out, Tally* const* tallies, unsigned count) {
    Sum writes, reads;
    uint64_t by_family[families] = {};
    for (unsigned index = 0; index < count; ++index) {
        writes.add(tallies[index]->write);
        reads.add(tallies[index]->read);
        for (unsigned family = 0; family < families; ++family)
            by_family[family] += tallies[index]->by_family[family].load(relaxed);
    }
    put(out, "write", writes);
    put(out, "read", reads);
    out.text("\"writes_by_family\":{");
    for (unsigned family = 0; family < families; ++family)
        out.member(family_names[family], by_family[family]);
    out.replace_last('}');
}

void put_head(Output& out) {
    out.text("{\"schema\":\"tailrace-posix/1\",");
    out.member("pid", static_cast<uint64_t>(getpid()));
    out.text("\"program\":");
    out.quoted(program_invocation_name);
    out.text(",");
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* rank = getenv(name)) {
            out.member("rank", static_cast<uint64_t>(atoi(rank)));
            break;
        }
}

void put_file(File& file, void* context) {
    Output& out = *static_cast<Output*>(context);
    Tally* tallies[max_phases];
    unsigned phases[max_phases], count = 0;
    for (unsigned phase = 0; phase < phase_count(); ++phase)
        if (Tally* tally = existing_tally(file, phase)) {
            tallies[count] = tally;
            phases[count++] = phase;
        }
    if (count == 0) return;
    put_head(out);
    out.text("\"path\":");
    out.quoted(file.path);
    out.text(",");
    out.member("device", file.device.load(relaxed));
    out.member("inode", file.inode.load(relaxed));
    put_counts(out, tallies, count);
    out.text(",\"by_phase\":{");
    for (unsigned index = 0; index < count; ++index) {
        if (index > 0) out.text(",");
        out.quoted(phase_name(phases[index]));
        out.text(":{");
        put_counts(out, &tallies[index], 1);
        out.text("}");
    }
    out.text("}}\n");
}

void put_unattributed(Output& out) {
    Tally* lost = &unattributed();
    if (lost->write.calls.load(relaxed) == 0 && lost->read.calls.load(relaxed) == 0) return;
    put_head(out);
    out.text("\"path\":null,");
    put_counts(out, &lost, 1);
    out.text("}\n");
}

/// %p: process number, %r: rank, %%: a per cent sign.
bool expand(const char* pattern, char* path, size_t size) {
    size_t used = 0;
    for (; *pattern != 0; ++pattern) {
        char piece[24] = {*pattern, 0};
        if (*pattern == '%' && pattern[1] != 0) {
            ++pattern;
            if (*pattern == 'p') {
                snprintf(piece, sizeof piece, "%d", getpid());
            } else if (*pattern == 'r') {
                const char* rank = getenv("OMPI_COMM_WORLD_RANK");
                for (const char* name : {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
                    if (rank == nullptr) rank = getenv(name);
                snprintf(piece, sizeof piece, "%d", rank != nullptr ? atoi(rank) : 0);
            } else {
                piece[0] = *pattern;
            }
        }
        size_t length = strlen(piece);
        if (used + length + 1 > size) return false;
        memcpy(path + used, piece, length);
        used += length;
    }
    path[used] = 0;
    return used > 0;
}

void complain(const char* path, int error) {
    char text[4400];
    int length = snprintf(text, sizeof text,
                          "tailrace: error: TAILRACE_POSIX_REPORT: cannot write %s (errno %d)\n",
                          path, error);
    (void)syscall(SYS_write, 2, text, static_cast<size_t>(length));
}

}  // namespace

void write_report() {
    const char* pattern = getenv("TAILRACE_POSIX_REPORT");
    if (pattern == nullptr || pattern[0] == 0) return;
    int before = errno;
    char path[4096];
    if (!expand(pattern, path, sizeof path)) return;
    read_all_results();
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        complain(path, errno);
        errno = before;
        return;
    }
    // Several processes may share the file: whole reports one after the other.
    (void)flock(static_cast<int>(fd), LOCK_EX);
    Output out(static_cast<int>(fd));
    for_each_file(put_file, &out);
    put_unattributed(out);
    out.flush();
    (void)syscall(SYS_close, fd);
    errno = before;
}

}  // namespace tailrace::hooks::posix
