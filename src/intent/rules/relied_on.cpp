// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/relied_on.hpp"

#include <algorithm>
#include <array>

#include "intent/plan/keys.hpp"

namespace tailrace::intent::rules {

namespace {

/// What decides on how the bytes of a chunk look.
constexpr std::array<std::string_view, 4> in_a_chunk{"chunk", "layout", "shuffle", "deflate"};

bool is_temporary_of_pytables(const std::string& path) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    return name.starts_with("pytables-") && name.ends_with(".tmp");
}

}  // namespace

std::optional<Held> held_by_direct_chunks(const Subject& s) {
    if (s.dataset->direct_chunk_writes)
        return Held{Guard::direct_chunks, "the program writes whole chunks itself"};
    return std::nullopt;
}

std::optional<Held> held_by_reliance(const Subject& s) {
    // PyTables asserts the chunks of its indexes, and the table cannot be used where they differ.
    if (s.dataset->path.find("/_i_") != std::string::npos)
        return Held{Guard::library,
                    "it belongs to an index of PyTables, which wants its own chunks"};
    if (is_temporary_of_pytables(s.file.path))
        return Held{Guard::library,
                    "PyTables makes an index in this file, and removes it: its name "
                    "does not come back"};
    const auto& seen = s.dataset->settings_of_program;
    if (!contiguous(*s.dataset) || !seen.contains("address_asked")) return std::nullopt;
    return Held{Guard::address, "the program asks where in the file its elements lie"};
}

std::optional<Held> held_by_use(const std::string& key, const Subject& s) {
    if (plan::find_key(key)->level != plan::Level::dataset_create) return std::nullopt;
    if (std::ranges::find(in_a_chunk, key) != in_a_chunk.end())
        if (auto direct = held_by_direct_chunks(s)) return direct;
    return held_by_reliance(s);
}

}  // namespace tailrace::intent::rules
