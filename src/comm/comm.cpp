// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

#include <algorithm>
#include <limits>

namespace tailrace::comm {

namespace {

template <class Number>
Number reduced(const Comm& comm, Number value, Reduce how) {
    comm.reduce(std::span(&value, 1), how);
    return value;
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

}  // namespace tailrace::comm
