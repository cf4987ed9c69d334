// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "comm/channel.hpp"

namespace tailrace::comm {

namespace {

template <class Number>
Number reduced(const Comm& comm, Number value, Reduce how) {
    comm.reduce(std::span(&value, 1), how);
    return value;
}

/// TAILRACE_RANKS_PER_NODE; 0 where it is not set.
int imitated_ranks_per_node() {
    const char* text = std::getenv("TAILRACE_RANKS_PER_NODE");
    if (text == nullptr || *text == '\0') return 0;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > std::numeric_limits<int>::max())
        throw core::Error(
            core::Code::bad_input, std::string("\"") + text + "\" is no positive number",
            "TAILRACE_RANKS_PER_NODE", "set it to the ranks of one node, or unset it");
    return static_cast<int>(value);
}

}  // namespace

std::string Comm::broadcast(std::string text, int root) const {
    text.resize(broadcast_value<std::uint64_t>(text.size(), root));
    broadcast(std::as_writable_bytes(std::span(text.data(), text.size())), root);
    return text;
}

std::uint64_t Comm::sum(std::uint64_t value) const { return reduced(*this, value, Reduce::sum); }
std::uint64_t Comm::min(std::uint64_t value) const { return reduced(*this, value, Reduce::min); }
std::uint64_t Comm::max(std::uint64_t value) const { return reduced(*this, value, Reduce::max); }
double Comm::sum(double value) const { return reduced(*this, value, Reduce::sum); }
double Comm::min(double value) const { return reduced(*this, value, Reduce::min); }
double Comm::max(double value) const { return reduced(*this, value, Reduce::max); }

std::vector<std::string> Comm::gather_text(const std::string& mine, int root) const {
    std::vector<std::string> all;
    for (const auto& bytes : gather(std::as_bytes(std::span(mine.data(), mine.size())), root))
        all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all;
}

void Comm::agree(const std::optional<core::Error>& mine) const {
    // One reduction where all is well. ~rank under max gives the lowest failing rank; the number
    // of failed ranks is fetched only after a failure.
    const std::uint64_t first =
        max(mine ? std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(rank())
                 : std::uint64_t{0});
    if (first == 0) return;
    const int root = static_cast<int>(std::numeric_limits<std::uint64_t>::max() - first);
    const std::uint64_t failed = sum(std::uint64_t{mine ? 1U : 0U});
    std::string packed;
    if (rank() == root) {
        const auto bytes = mine->to_bytes();
        packed.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    packed = broadcast(std::move(packed), root);
    const auto* begin = reinterpret_cast<const std::byte*>(packed.data());
    throw core::Error::from_bytes({begin, begin + packed.size()})
        .seen_by(root, static_cast<int>(failed), size());
}

bool Comm::same(std::uint64_t value) const {
    // max(~v) == ~min(v): both bounds in one reduction.
    std::uint64_t bounds[2] = {value, ~value};
    reduce(bounds, Reduce::max);
    return bounds[0] == ~bounds[1];
}

Comm Comm::split_node() const {
    if (const int per_node = imitated_ranks_per_node(); per_node > 0)
        return split(rank() / per_node, rank());
    return Comm(x_group->split_node());
}

Channel Comm::channel() const { return Channel(x_group->open_wire()); }

}  // namespace tailrace::comm
