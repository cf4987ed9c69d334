// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/contents.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "formats/file/part_file.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::raw {

using core::Code;
using core::Error;

namespace {

/// "<part> <bytes of data> <length>\n" and the text, part after part.
std::string frame(std::size_t part, const Described& described) {
    return std::to_string(part) + " " + std::to_string(described.data_bytes) + " " +
           std::to_string(described.text.size()) + "\n" + described.text;
}

/// Calls `visit(part, described)` for each framed text.
template <class Visit>
void unframe(const std::string& all, Visit&& visit) {
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t line = all.find('\n', at);
        std::istringstream head(all.substr(at, line - at));
        std::size_t part = 0, length = 0;
        std::uint64_t data_bytes = 0;
        head >> part >> data_bytes >> length;
        visit(part, Described{all.substr(line + 1, length), data_bytes});
        at = line + 1 + length;
    }
}

}  // namespace

Contents load_contents(const comm::Comm& comm, const std::filesystem::path& path) {
    Described described;
    std::optional<Error> mine;
    if (comm.rank() == 0)
        mine = comm::Comm::caught([&] { described = read_description_or_manifest(path); });
    comm.agree(mine);
    described.text = comm.broadcast(std::move(described.text));
    described.data_bytes = comm.broadcast_value(described.data_bytes);
    return parse_contents(described.text, path.string(), described.data_bytes);
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
    unframe(all, [&](std::size_t part, const Described& described) {
        parts[part] =
            parse_part(described.text, contents.objects,
                       part_path(path, contents.parts[part]).string(), described.data_bytes);
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
