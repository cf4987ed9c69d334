// SPDX-License-Identifier: Apache-2.0
#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

namespace tailrace::core {

namespace {

constexpr std::array<std::pair<Code, std::string_view>, 20> code_names{{
    {Code::bad_input, "bad_input"},
    {Code::unknown_key, "unknown_key"},
    {Code::missing_key, "missing_key"},
    {Code::rank_mismatch, "rank_mismatch"},
    {Code::no_such_file, "no_such_file"},
    {Code::no_such_directory, "no_such_directory"},
    {Code::not_writable, "not_writable"},
    {Code::already_exists, "already_exists"},
    {Code::no_space_reserved, "no_space_reserved"},
    {Code::bad_plugin, "bad_plugin"},
    {Code::no_space, "no_space"},
    {Code::io, "io"},
    {Code::data_lost, "data_lost"},
    {Code::interrupted, "interrupted"},
    {Code::timed_out, "timed_out"},
    {Code::wrong_call, "wrong_call"},
    {Code::poisoned, "poisoned"},
    {Code::internal, "internal"},
    {Code::verification, "verification"},
    {Code::unsupported, "unsupported"},
}};

std::string ranks_text(int rank, int failed, int total) {
    if (rank < 0 || total <= 0) return {};
    std::string text = " (rank " + std::to_string(rank) + " of " + std::to_string(total);
    if (failed == 2) text += "; also on 1 other rank";
    if (failed > 2) text += "; also on " + std::to_string(failed - 1) + " other ranks";
    return text + ")";
}

std::string full_text(const std::string& message, const std::string& where,
                      const std::string& remedy, const std::string& ranks) {
    std::string text;
    if (!where.empty()) text += where + ": ";
    text += message + ranks;
    if (!remedy.empty()) text += "\n       hint: " + remedy;
    return text;
}

void append(std::vector<std::byte>& bytes, const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.c_str());
    bytes.insert(bytes.end(), begin, begin + text.size() + 1);
}

}  // namespace

std::string_view name(Code code) noexcept {
    for (const auto& [value, text] : code_names)
        if (value == code) return text;
    return "internal";
}

std::optional<Code> code_of(std::string_view wanted) noexcept {
    for (const auto& [value, text] : code_names)
        if (text == wanted) return value;
    return std::nullopt;
}

int exit_code(Code code) noexcept {
    if (code <= Code::bad_plugin) return 2;
    if (code == Code::verification) return 3;
    if (code == Code::unsupported) return 4;
    return 1;
}

Error::Error(Code code, std::string message, std::string where, std::string remedy)
    : std::runtime_error(full_text(message, where, remedy, {})),
      x_code(code),
      x_message(std::move(message)),
      x_where(std::move(where)),
      x_remedy(std::move(remedy)) {}

Error Error::seen_by(int rank, int failed, int total) const {
    Error copy = *this;
    static_cast<std::runtime_error&>(copy) = std::runtime_error(
        full_text(x_message, x_where, x_remedy, ranks_text(rank, failed, total)));
    copy.x_rank = rank;
    copy.x_failed_ranks = failed;
    copy.x_total_ranks = total;
    return copy;
}

Error Error::with_code(Code code) const {
    Error copy = *this;
    copy.x_code = code;
    return copy;
}

Error Error::with_where(std::string where) const {
    const Error moved(x_code, x_message, std::move(where), x_remedy);
    return x_total_ranks > 0 ? moved.seen_by(x_rank, x_failed_ranks, x_total_ranks) : moved;
}

std::vector<std::byte> Error::to_bytes() const {
    std::vector<std::byte> bytes;
    append(bytes, std::string(name(x_code)));
    append(bytes, x_message);
    append(bytes, x_where);
    append(bytes, x_remedy);
    return bytes;
}

Error Error::from_bytes(const std::vector<std::byte>& bytes) {
    std::vector<std::string> fields(1);
    for (std::byte byte : bytes) {
        if (byte == std::byte{0})
            fields.emplace_back();
        else
            fields.back().push_back(static_cast<char>(byte));
    }
    const auto code = code_of(fields.front());
    if (fields.size() != 5 || !code)
        return {Code::internal, "an error message of another rank arrived damaged", "", ""};
    return {*code, fields[1], fields[2], fields[3]};
}

std::string describe_errno(int error_number) {
    std::array<char, 256> buffer{};
    std::string text = ::strerror_r(error_number, buffer.data(), buffer.size());
    const char* symbol = ::strerrorname_np(error_number);
    return text + " (" + (symbol ? symbol : std::to_string(error_number).c_str()) + ")";
}

Error no_memory(const std::string& message, std::string where) {
    return {Code::no_space, message, std::move(where),
            "give the rank more memory: fewer ranks per node, or a higher limit (ulimit -v)"};
}

bool tells_of_no_memory(std::string_view words) {
    for (const std::string_view sign :
         {"memory allocation failed", "Cannot allocate memory", "out of memory"})
        if (words.find(sign) != std::string_view::npos) return true;
    return false;
}

Error failed_in_run(const Error& error) {
    switch (error.code()) {
        case Code::no_such_file:
        case Code::no_such_directory:
        case Code::not_writable:
        case Code::already_exists:
            return error.with_code(Code::io);
        default:
            return error;
    }
}

Code code_of_errno(int error_number) noexcept {
    switch (error_number) {
        case ENOSPC:
        case EDQUOT:
            return Code::no_space;
        case EACCES:
        case EROFS:
        case EPERM:
            return Code::not_writable;
        case ENOENT:
        case ENOTDIR:
            return Code::no_such_directory;
        default:
            return Code::io;
    }
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    const auto distance = [&word](const std::string& other) {
        std::vector<std::size_t> row(other.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        std::vector<std::size_t> two_above = row;  // swapped neighbours count as one edit
        for (std::size_t i = 1; i <= word.size(); ++i) {
            const std::vector<std::size_t> above = row;
            row[0] = i;
            for (std::size_t j = 1; j <= other.size(); ++j) {
                const std::size_t change = above[j - 1] + (word[i - 1] == other[j - 1] ? 0 : 1);
                row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
                const bool swapped =
                    i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1];
                if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
            }
            two_above = above;
        }
        return row.back();
    };
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t d = distance(candidate);
        if (d < best_distance) {
            best_distance = d;
            best = candidate;
        }
    }
    return best;
}

}  // namespace tailrace::core
