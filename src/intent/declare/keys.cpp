// SPDX-License-Identifier: Apache-2.0
#include "intent/declare/keys.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent::declare {

namespace {

constexpr KeyInfo table[] = {
    {"type", Of::both, Kind::word,
     "write_only read_only read_after_write write_once_read_many read_before_write read_write "
     "no_data",
     "What is done with the data."},
    {"append", Of::both, Kind::word, "yes no", "Whether it grows at its end."},
    {"reuse", Of::both, Kind::word, "once re_read rewritten re_read_and_rewritten",
     "Whether the same places are read or written again."},
    {"order", Of::both, Kind::word, "one_transfer sequential strided random repeated mixed",
     "Order of the places within a process."},
    {"sharing_pattern", Of::both, Kind::word, "independent shared file_per_process one_writer",
     "How processes share it; the last two are of files."},
    {"how_shared", Of::both, Kind::word,
     "private disjoint_blocks interleaved overlapping same_region",
     "Which parts of it the processes have."},
    {"collective", Of::both, Kind::word, "requested not_requested",
     "Whether the program asks for collective transfers."},
    {"producer_consumer", Of::both, Kind::word, "producer consumer both no",
     "Whether it goes from one program to another."},
    {"reliability", Of::both, Kind::word, "durable recomputable scratch",
     "How bad it would be to lose it."},
    {"metadata_dominated", Of::file, Kind::word, "yes no",
     "Whether opening, creating and describing outweigh moving data."},
    {"full_coverage", Of::dataset, Kind::word, "yes no", "Whether every element is written."},
    {"sequence", Of::dataset, Kind::number, "",
     "Its place in the order in which datasets are first transferred, from 0."},
    {"size_bytes", Of::both, Kind::number, "", "Its size, without filters."},
    {"transfer_bytes", Of::both, Kind::number, "", "The size of most transfers."},
};

}  // namespace

std::span<const KeyInfo> keys() noexcept { return table; }

const KeyInfo* find_key(std::string_view name) noexcept {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const KeyInfo& one) { return one.name == name; });
    return found != std::end(table) ? found : nullptr;
}

std::vector<std::string> words_of(const KeyInfo& info) {
    std::vector<std::string> words;
    std::string_view rest = info.words;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
}

}  // namespace tailrace::intent::declare
