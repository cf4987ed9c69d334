// SPDX-License-Identifier: Apache-2.0
#include "formats/batch.hpp"

#include <algorithm>
#include <set>

#include "formats/agree.hpp"
#include "formats/pieces.hpp"

namespace tailrace::formats {

using core::Code;
using core::Error;
using core::Write;

namespace {

void check_pieces(std::span<const Defined> objects, std::span<const Write> pieces,
                  const std::string& file) {
    for (const Write& piece : pieces) {
        if (piece.object >= objects.size())
            throw Error(Code::wrong_call,
                        "object " + std::to_string(piece.object) + " is not defined; there are " +
                            std::to_string(objects.size()),
                        file, "use an id that define() returned");
        check_write(piece, objects[piece.object].object, UINT64_MAX - 1);
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

}  // namespace

bool grows(const core::Object& object) {
    return std::any_of(object.dims.begin(), object.dims.end(),
                       [](const core::Extent& dim) { return dim.unlimited; });
}

Batch agree_on_batch(const comm::Comm& comm, std::span<const Defined> objects,
                     std::span<const Write> pieces, const std::string& file) {
    const auto bad = comm::Comm::caught([&] { check_pieces(objects, pieces, file); });
    Batch batch;
    batch.mine.resize(objects.size());
    batch.rounds.resize(objects.size());
    for (const Write& piece : pieces)
        if (!bad && !piece.place.empty()) batch.mine[piece.object].push_back(&piece);
    // One reduction for all: whether a rank has bad arguments, the rounds of every object, then the
    // ends of those that grow.
    std::vector<std::uint64_t> wanted{bad ? std::uint64_t{1} : 0};
    for (const auto& mine : batch.mine) wanted.push_back(mine.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (!grows(objects[i].object)) continue;
        const core::Extents extents = reach(objects[i], batch.mine[i]);
        wanted.insert(wanted.end(), extents.begin(), extents.end());
    }
    comm.reduce(wanted, comm::Reduce::max);
    if (wanted.front() != 0) agree_in_file(comm, bad, file);  // throws on all ranks
    auto next = wanted.begin() + 1 + static_cast<std::ptrdiff_t>(objects.size());
    std::copy(wanted.begin() + 1, next, batch.rounds.begin());
    for (const Defined& defined : objects) {
        batch.extents.push_back(defined.dims);
        if (!grows(defined.object)) continue;
        std::copy_n(next, defined.dims.size(), batch.extents.back().begin());
        next += static_cast<std::ptrdiff_t>(defined.dims.size());
    }
    return batch;
}

void in_rounds(const Batch& batch, std::optional<Error>& pending,
               const std::function<bool(std::size_t)>& together,
               const std::function<void(std::size_t, const Write*)>& one) {
    for (std::size_t i = 0; i < batch.mine.size(); ++i) {
        const auto& mine = batch.mine[i];
        const bool all = together(i);
        const std::uint64_t rounds = all ? batch.rounds[i] : mine.size();
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (pending && !all) break;
            const Write* piece = round < mine.size() && !pending ? mine[round] : nullptr;
            const auto error = comm::Comm::caught([&] { one(i, piece); });
            if (!pending) pending = error;
        }
    }
}

void check_objects(std::span<const Defined> objects, const core::Schema& schema,
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
    for (const Defined& defined : objects) take(defined.object);
    for (const core::Object& object : schema.objects) {
        check_object(object);
        take(object);
    }
    for (const std::string& name : names)
        if (groups.contains(name))
            throw Error(Code::bad_input, "it is a dataset and a group", name,
                        "give the dataset another name");
    for (const core::Attribute& attribute : schema.attributes)
        check_attribute(attribute,
                        names.contains(attribute.object) || groups.contains(attribute.object));
}

}  // namespace tailrace::formats
