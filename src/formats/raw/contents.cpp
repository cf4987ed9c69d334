// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/contents.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "formats/part_file.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::raw {

using core::Code;
using core::Error;

namespace {

/// "<part> <length>\n" and the text, part after part.
std::string frame(std::size_t part, const std::string& text) {
    return std::to_string(part) + " " + std::to_string(text.size()) + "\n" + text;
}

/// Calls `visit(part, text)` for each framed text.
template <class Visit>
void unframe(const std::string& all, Visit&& visit) {
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t blank = all.find(' ', at);
        const std::size_t line = all.find('\n', at);
        const std::size_t part = std::stoull(all.substr(at, blank - at));
        const std::size_t length = std::stoull(all.substr(blank + 1, line - blank - 1));
        visit(part, all.substr(line + 1, length));
        at = line + 1 + length;
    }
}

}  // namespace

Contents load_contents(const comm::Comm& comm, const std::filesystem::path& path) {
    std::string text;
    std::optional<Error> mine;
    if (comm.rank() == 0)
        mine = comm::Comm::caught([&] { text = read_description_or_manifest(path); });
    comm.agree(mine);
    text = comm.broadcast(std::move(text));
    return parse_contents(text, path.string());
}

std::vector<std::vector<StoredPiece>> load_parts(const comm::Comm& comm,
                                                 const std::filesystem::path& path,
                                                 const Contents& contents) {
    std::string mine;
    const std::size_t step = static_cast<std::size_t>(comm.size());
    comm.agree_on([&] {
        for (std::size_t p = static_cast<std::size_t>(comm.rank()); p < contents.parts.size();
             p += step)
            mine += frame(p, read_description(part_path(path, contents.parts[p])));
    });
    std::string all;
    for (const std::string& text : comm.gather_text(mine)) all += text;
    all = comm.broadcast(std::move(all));
    std::vector<std::vector<StoredPiece>> parts(contents.parts.size());
    unframe(all, [&](std::size_t part, const std::string& text) {
        parts[part] =
            parse_part(text, contents.objects, part_path(path, contents.parts[part]).string());
    });
    return parts;
}

core::Schema schema_of(const Contents& contents) {
    core::Schema schema;
    for (const Placed& placed : contents.objects) schema.objects.push_back(placed.object);
    return schema;
}

std::filesystem::path part_path(const std::filesystem::path& manifest, const std::string& part) {
    // A part lies beside its manifest: a name that leads elsewhere is damage, or worse.
    if (part.empty() || part.find('/') != std::string::npos || part == "." || part == "..")
        throw Error(Code::io, "\"" + part + "\" is not the name of a part", manifest.string(),
                    "the manifest is damaged; write the files again");
    return folder_of(manifest) / part;
}

}  // namespace tailrace::formats::raw
