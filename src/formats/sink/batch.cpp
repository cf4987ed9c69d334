// SPDX-License-Identifier: Apache-2.0
#include "formats/sink/batch.hpp"

#include <algorithm>
#include <set>

#include "formats/sink/pieces.hpp"

namespace tailrace::formats {

using core::Code;
using core::Error;
using core::Write;

namespace {

void check_pieces(const DefinedList& objects, std::span<const Write> pieces,
                  const std::string& file) {
    for (const Write& piece : pieces) {
        if (piece.object >= objects.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not defined; there are " +
                            std::to_string(objects.size()),
                        file, "use an id that define() returned");
        check_write(piece, objects[piece.object]->object, UINT64_MAX - 1);
    }
}

/// Where the writes of this rank end, at least where the object ends now.
core::Extents reach(const Defined& defined, const std::vector<const Write*>& pieces) {
    core::Extents extents = defined.dims;
    for (const Write* piece : pieces)
        for (std::size_t d = 0; d < extents.size(); ++d)
            extents[d] = std::max(extents[d], piece->place.offset[d] + piece->place.count[d]);
    return extents;
}

/// Empty ones are left out.
std::vector<std::vector<const Write*>> by_object(std::size_t objects,
                                                 std::span<const Write> pieces) {
    std::vector<std::vector<const Write*>> mine(objects);
    for (const Write& piece : pieces)
        if (!piece.place.empty()) mine[piece.object].push_back(&piece);
    return mine;
}

}  // namespace

bool grows(const core::Object& object) {
    return std::any_of(object.dims.begin(), object.dims.end(),
                       [](const core::Extent& dim) { return dim.unlimited; });
}

Needs batch_needs(const DefinedList& objects, std::span<const Write> pieces,
                  const std::string& file) {
    Needs needs;
    needs.bad = comm::Comm::caught([&] { check_pieces(objects, pieces, file); });
    std::vector<std::vector<const Write*>> mine(objects.size());
    if (!needs.bad) mine = by_object(objects.size(), pieces);
    for (const auto& of_object : mine) needs.most.push_back(of_object.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (!grows(objects[i]->object)) continue;
        const core::Extents extents = reach(*objects[i], mine[i]);
        needs.most.insert(needs.most.end(), extents.begin(), extents.end());
    }
    return needs;
}

Batch batch_of(const DefinedList& objects, std::span<const Write> pieces,
               std::span<const std::uint64_t> agreed) {
    Batch batch;
    batch.mine = by_object(objects.size(), pieces);
    auto next = agreed.begin() + static_cast<std::ptrdiff_t>(objects.size());
    batch.rounds.assign(agreed.begin(), next);
    for (const Defined* defined : objects) {
        batch.extents.push_back(defined->dims);
        if (!grows(defined->object)) continue;
        std::copy_n(next, defined->dims.size(), batch.extents.back().begin());
        next += static_cast<std::ptrdiff_t>(defined->dims.size());
    }
    return batch;
}

void check_objects(const DefinedList& objects, const core::Schema& schema,
                   const std::function<void(const core::Object&)>& check_object,
                   const std::function<void(const core::Attribute&, bool)>& check_attribute) {
    std::set<std::string> names, groups{"/"};
    const auto take = [&](const core::Object& object) {
        if (!names.insert(object.path).second)
            throw Error(Code::bad_input, "it is defined twice", object.path,
                        "give every object a path of its own");
        for (std::size_t slash = object.path.find('/', 1); slash != std::string::npos;
             slash = object.path.find('/', slash + 1))
            groups.insert(object.path.substr(0, slash));
    };
    for (const Defined* defined : objects) take(defined->object);
    for (const core::Object& object : schema.objects) {
        check_object(object);
        take(object);
    }
    groups.insert(schema.groups.begin(), schema.groups.end());
    for (const std::string& name : names)
        if (groups.contains(name))
            throw Error(Code::bad_input, "it is a dataset and a group", name,
                        "give the dataset another name");
    for (const core::Attribute& attribute : schema.attributes)
        check_attribute(attribute,
                        names.contains(attribute.object) || groups.contains(attribute.object));
}

}  // namespace tailrace::formats
