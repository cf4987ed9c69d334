// SPDX-License-Identifier: Apache-2.0
#include "formats/raw/description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/checked.hpp"
#include "core/error.hpp"

namespace tailrace::formats::raw {

using core::Code;
using core::Error;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* format_name = "tailrace-raw/1";

// JSON has no NaN and no infinity: they are written as texts.
Json to_json(double value) {
    if (std::isfinite(value)) return value;
    if (std::isnan(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
}
template <class T>
Json to_json(const T& value) {
    if constexpr (std::is_same_v<T, float>)
        return to_json(double{value});
    else
        return value;
}
template <class T>
Json to_json(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(to_json(value));
    return array;
}
Json to_json(const core::AttributeScalar& value) {
    return std::visit([](const auto& v) { return to_json(v); }, value);
}
Json to_json(const core::AttributeArray& value) {
    return std::visit([](const auto& v) { return to_json(v); }, value);
}
Json to_json(const core::Compound& compound) {
    Json object = Json::object();
    for (const core::CompoundMember& member : compound.members)
        object[member.name] = std::visit([](const auto& v) { return to_json(v); }, member.value);
    return object;
}

Json attributes_json(const std::vector<core::Attribute>& attributes) {
    Json array = Json::array();
    for (const core::Attribute& attribute : attributes)
        array.push_back(
            {{"object", attribute.object},
             {"name", attribute.name},
             {"value", std::visit([](const auto& v) { return to_json(v); }, attribute.value)}});
    return array;
}

Json object_json(const Placed& placed) {
    return {{"path", placed.object.path},
            {"type", std::string(core::name(placed.object.type))},
            {"dims", placed.dims}};
}

// Attribute texts may be file names, which are any bytes: what is not UTF-8 is replaced.
std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
    throw Error(Code::io, "its description cannot be read: " + what, where,
                "it is damaged, or written by a newer version; write it again");
}

/// Runs `work` and turns every complaint of the JSON library into an Error about the file.
template <class Work>
auto reading(const std::string& where, Work&& work) {
    try {
        return work();
    } catch (const Json::exception& error) {
        damaged(where, error.what());
    } catch (const Error& error) {
        // Extents and types that no Layout takes: not the caller's mistake here.
        if (error.code() == Code::io) throw;
        damaged(where, error.message());
    }
}

void check_inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t data_bytes,
                  const std::string& what, const std::string& where) {
    if (offset <= data_bytes && bytes <= data_bytes - offset) return;
    damaged(where, what + " at byte " + std::to_string(offset) + " reaches beyond the data, " +
                       std::to_string(data_bytes) + " bytes");
}

Json parse_format(const std::string& text, const std::string& where) {
    Json json = Json::parse(text);
    const std::string format = json.at("format");
    if (format != format_name) damaged(where, "it says \"" + format + "\"");
    return json;
}

Placed placed_from(const Json& json) {
    Placed placed;
    placed.object.path = json.at("path");
    placed.object.type = core::scalar_of(json.at("type").get<std::string>());
    placed.dims = json.at("dims").get<core::Extents>();
    for (std::uint64_t size : placed.dims) placed.object.dims.push_back({size, false});
    if (json.contains("chunk") && !json["chunk"].is_null())
        placed.chunk = json["chunk"].get<core::Extents>();
    placed.offset = json.value("offset", std::uint64_t{0});
    placed.bytes = json.value("bytes", std::uint64_t{0});
    return placed;
}

/// What a reader relies on: the chunk fits, and the sizes are what the layout rules give.
void check_placed(const Placed& placed, const std::string& where) {
    Chunks chunks;
    if (!placed.chunk.empty()) chunks[placed.object.path] = placed.chunk;
    Layout layout(chunks, 1);
    (void)layout.add(std::span(&placed.object, 1));
    if (layout.data_end() != placed.bytes)
        damaged(where, placed.object.path + " takes " + std::to_string(layout.data_end()) +
                           " bytes, not " + std::to_string(placed.bytes));
}

}  // namespace

std::string describe_shared(const std::vector<Placed>& objects,
                            const std::vector<core::Attribute>& attributes) {
    Json array = Json::array();
    for (const Placed& placed : objects) {
        Json one = object_json(placed);
        one["chunk"] = placed.chunk.empty() ? Json(nullptr) : Json(placed.chunk);
        one["offset"] = placed.offset;
        one["bytes"] = placed.bytes;
        array.push_back(one);
    }
    return dump({{"format", format_name},
                 {"kind", "shared"},
                 {"objects", array},
                 {"attributes", attributes_json(attributes)}});
}

std::string describe_manifest(const std::vector<Placed>& objects,
                              const std::vector<core::Attribute>& attributes,
                              const std::vector<std::string>& parts) {
    Json array = Json::array();
    for (const Placed& placed : objects) array.push_back(object_json(placed));
    return dump({{"format", format_name},
                 {"kind", "per-rank"},
                 {"objects", array},
                 {"attributes", attributes_json(attributes)},
                 {"parts", parts}});
}

std::string describe_part(int rank, const std::vector<StoredPiece>& pieces) {
    Json array = Json::array();
    for (const StoredPiece& piece : pieces)
        array.push_back({{"object", piece.object},
                         {"offset", piece.place.offset},
                         {"count", piece.place.count},
                         {"at", piece.at}});
    return dump({{"format", format_name}, {"kind", "part"}, {"rank", rank}, {"pieces", array}});
}

Contents parse_contents(const std::string& text, const std::string& where,
                        std::uint64_t data_bytes) {
    return reading(where, [&] {
        const Json json = parse_format(text, where);
        const std::string kind = json.at("kind");
        if (kind != "shared" && kind != "per-rank") damaged(where, "it is a \"" + kind + "\"");
        Contents contents;
        contents.per_rank = kind == "per-rank";
        for (const Json& one : json.at("objects")) {
            contents.objects.push_back(placed_from(one));
            const Placed& placed = contents.objects.back();
            if (contents.per_rank) continue;
            check_placed(placed, where);
            check_inside(placed.offset, placed.bytes, data_bytes, placed.object.path, where);
        }
        if (contents.per_rank) contents.parts = json.at("parts").get<std::vector<std::string>>();
        return contents;
    });
}

std::vector<StoredPiece> parse_part(const std::string& text, const std::vector<Placed>& objects,
                                    const std::string& where, std::uint64_t data_bytes) {
    return reading(where, [&] {
        const Json json = parse_format(text, where);
        if (json.at("kind") != "part") damaged(where, "it is no part of a file per rank");
        std::vector<StoredPiece> pieces;
        for (const Json& one : json.at("pieces")) {
            StoredPiece piece{
                one.at("object"),
                {one.at("offset").get<core::Extents>(), one.at("count").get<core::Extents>()},
                one.at("at")};
            if (piece.object >= objects.size() || !piece.place.inside(objects[piece.object].dims))
                damaged(where, "piece " + piece.place.text() + " is in no object");
            const std::uint64_t bytes = core::checked_mul(
                piece.place.volume(), core::size_of(objects[piece.object].object.type), where);
            check_inside(piece.at, bytes, data_bytes, "piece " + piece.place.text(), where);
            pieces.push_back(std::move(piece));
        }
        return pieces;
    });
}

bool describes_part(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    return json.is_object() && json.value("format", Json()) == format_name &&
           json.value("kind", Json()) == "part";
}

std::string part_name(const std::string& manifest, int rank) {
    char number[16];
    std::snprintf(number, sizeof number, ".%05d", rank);
    return manifest + number;
}

void merge_attributes(std::vector<core::Attribute>& attributes,
                      const std::vector<core::Attribute>& more) {
    for (const core::Attribute& attribute : more) {
        const auto same = std::find_if(attributes.begin(), attributes.end(), [&](const auto& old) {
            return old.object == attribute.object && old.name == attribute.name;
        });
        if (same == attributes.end())
            attributes.push_back(attribute);
        else
            *same = attribute;
    }
}

}  // namespace tailrace::formats::raw
