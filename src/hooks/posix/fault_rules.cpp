// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix/fault_rules.hpp"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tailrace::hooks::posix {
namespace {

char problem[1024];

/// A part of the text being parsed.
struct Slice {
    const char* begin;
    size_t length;

    bool operator==(const char* word) const {
        return strlen(word) == length && memcmp(begin, word, length) == 0;
    }
    [[nodiscard]] int width() const { return static_cast<int>(length < 200 ? length : 200); }
};

/// The part of `rest` up to `separator`, which is taken off it.
Slice cut(Slice& rest, char separator) {
    const auto* found = static_cast<const char*>(memchr(rest.begin, separator, rest.length));
    Slice head{rest.begin, found ? static_cast<size_t>(found - rest.begin) : rest.length};
    size_t used = head.length + (found ? 1 : 0);
    rest = {rest.begin + used, rest.length - used};
    return head;
}

Slice trimmed(Slice slice) {
    while (slice.length > 0 && strchr(" \t\n", slice.begin[0]) != nullptr) {
        ++slice.begin;
        --slice.length;
    }
    while (slice.length > 0 && strchr(" \t\n", slice.begin[slice.length - 1]) != nullptr)
        --slice.length;
    return slice;
}

constexpr const char* op_names[] = {"open",      "write",  "read",  "fsync", "ftruncate",
                                    "fallocate", "rename", "close", "unlink"};
constexpr struct {
    const char* name;
    int value;
} error_names[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EDQUOT", EDQUOT}, {"EFBIG", EFBIG},
    {"EACCES", EACCES}, {"EPERM", EPERM},   {"EROFS", EROFS},   {"ENOENT", ENOENT},
    {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EBADF", EBADF},
    {"EINVAL", EINVAL}, {"ENODEV", ENODEV}, {"ESTALE", ESTALE}, {"ENOMEM", ENOMEM},
    {"EEXIST", EEXIST}, {"EXDEV", EXDEV},   {"EBUSY", EBUSY},   {"ETIMEDOUT", ETIMEDOUT}};

bool number(Slice slice, uint64_t& value) {
    if (slice.length == 0 || slice.length > 20) return false;
    value = 0;
    for (size_t at = 0; at < slice.length; ++at) {
        if (slice.begin[at] < '0' || slice.begin[at] > '9') return false;
        if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
            __builtin_add_overflow(value, static_cast<uint64_t>(slice.begin[at] - '0'), &value))
            return false;
    }
    return true;
}

bool parse_op(Slice value, FaultRule& rule) {
    for (unsigned op = 0; op < sizeof op_names / sizeof *op_names; ++op)
        if (value == op_names[op]) {
            rule.op = static_cast<Op>(op);
            return true;
        }
    return false;
}

bool parse_error(Slice value, FaultRule& rule) {
    for (const auto& candidate : error_names)
        if (value == candidate.name) {
            rule.error = candidate.value;
            return true;
        }
    uint64_t code = 0;
    if (!number(value, code) || code == 0 || code > 4095) return false;
    rule.error = static_cast<int>(code);
    return true;
}

bool parse_pattern(Slice value, char (&pattern)[pattern_size]) {
    if (value.length == 0 || value.length >= pattern_size) return false;
    memcpy(pattern, value.begin, value.length);
    pattern[value.length] = 0;
    return true;
}

bool bounded(Slice value, uint64_t least, uint64_t most, uint64_t& result) {
    return number(value, result) && result >= least && result <= most;
}

/// One key of a rule: what it accepts, in words, and how it is read.
struct RuleKey {
    const char* name;
    const char* accepts;
    bool (*read)(Slice value, FaultRule& rule);
};
constexpr RuleKey keys[] = {
    {"op", "one of open, write, read, fsync, ftruncate, fallocate, rename, close, unlink",
     parse_op},
    {"rank", "a rank, 0 or more",
     [](Slice value, FaultRule& rule) {
         uint64_t rank = 0;
         if (!bounded(value, 0, INT32_MAX, rank)) return false;
         rule.rank = static_cast<int>(rank);
         return true;
     }},
    {"path", "a shell pattern of 1 to 511 characters",
     [](Slice value, FaultRule& rule) { return parse_pattern(value, rule.path); }},
    {"phase", "a phase name or pattern",
     [](Slice value, FaultRule& rule) { return parse_pattern(value, rule.phase); }},
    {"after", "a number of calls",
     [](Slice value, FaultRule& rule) { return number(value, rule.after); }},
    {"times", "a number of calls, 1 or more",
     [](Slice value, FaultRule& rule) { return bounded(value, 1, UINT64_MAX, rule.times); }},
    {"errno", "a name such as ENOSPC or EIO, or a number from 1 to 4095", parse_error},
    {"short", "a number of bytes, 1 or more",
     [](Slice value, FaultRule& rule) { return bounded(value, 1, UINT64_MAX, rule.short_bytes); }},
    {"delay_ms", "milliseconds, 1 to 600000",
     [](Slice value, FaultRule& rule) {
         uint64_t delay = 0;
         if (!bounded(value, 1, 600000, delay)) return false;
         rule.delay_ms = static_cast<unsigned>(delay);
         return true;
     }},
    {"limit_bytes", "a number of bytes",
     [](Slice value, FaultRule& rule) {
         rule.has_limit = true;
         return number(value, rule.limit_bytes);
     }},
};
constexpr unsigned key_count = sizeof keys / sizeof *keys;

const char* complain(unsigned rule, Slice text, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
const char* complain(unsigned rule, Slice text, const char* format, ...) {
    int used =
        snprintf(problem, sizeof problem, "rule %u \"%.*s\": ", rule, text.width(), text.begin);
    va_list values;
    va_start(values, format);
    vsnprintf(problem + used, sizeof problem - static_cast<size_t>(used), format, values);
    va_end(values);
    return problem;
}

const char* check(unsigned index, Slice text, bool has_op, FaultRule& rule) {
    if (!has_op) return complain(index, text, "op is missing; it must be %s", keys[0].accepts);
    if (rule.has_limit && rule.op != Op::write)
        return complain(index, text, "limit_bytes goes with op=write only");
    if (rule.has_limit && rule.short_bytes != 0)
        return complain(index, text, "limit_bytes and short exclude each other");
    if (rule.short_bytes != 0 && rule.op != Op::write && rule.op != Op::read)
        return complain(index, text, "short goes with op=write and op=read only");
    if (rule.has_limit && rule.error == 0) rule.error = ENOSPC;
    if (rule.error == 0 && rule.short_bytes == 0 && rule.delay_ms == 0)
        return complain(index, text,
                        "nothing would happen; give one of errno, short, delay_ms, limit_bytes");
    return nullptr;
}

const char* parse_rule(unsigned index, Slice text, FaultRule& rule) {
    bool seen[key_count] = {};
    for (Slice rest = text; rest.length > 0;) {
        Slice value = trimmed(cut(rest, ','));
        Slice name = trimmed(cut(value, '='));
        value = trimmed(value);
        unsigned key = 0;
        while (key < key_count && !(name == keys[key].name)) ++key;
        if (key == key_count)
            return complain(index, text,
                            "unknown key \"%.*s\"; keys are op, rank, path, phase, after, times, "
                            "errno, short, delay_ms, limit_bytes",
                            name.width(), name.begin);
        if (seen[key]) return complain(index, text, "%s is given twice", keys[key].name);
        seen[key] = true;
        if (!keys[key].read(value, rule))
            return complain(index, text, "%s is \"%.*s\"; it must be %s", keys[key].name,
                            value.width(), value.begin, keys[key].accepts);
    }
    return check(index, text, seen[0], rule);
}

}  // namespace

const char* parse_fault_rules(const char* text, FaultRule (&rules)[max_rules], unsigned& count) {
    count = 0;
    if (text == nullptr) return nullptr;
    for (Slice rest = {text, strlen(text)}; rest.length > 0;) {
        Slice rule = trimmed(cut(rest, ';'));
        if (rule.length == 0) continue;
        if (count == max_rules) return "more than 32 rules";
        rules[count] = FaultRule{};
        if (const char* wrong = parse_rule(count + 1, rule, rules[count])) return wrong;
        ++count;
    }
    return nullptr;
}

}  // namespace tailrace::hooks::posix
