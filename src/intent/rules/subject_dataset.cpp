// SPDX-License-Identifier: Apache-2.0
// What follows from the numbers of one dataset.
#include <algorithm>
#include <array>

#include "intent/plan/functions.hpp"
#include "intent/rules/subject.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

std::size_t rank_of(const Dataset& dataset) {
    return dataset.dims.empty() ? dataset.ndims.value_or(0) : dataset.dims.size();
}

bool extents_known(const Dataset& dataset) { return dataset.dims.size() == rank_of(dataset); }

Count elements(const Dataset& dataset) {
    if (dataset.elements) return dataset.elements;
    if (dataset.dims.empty()) return std::nullopt;
    std::uint64_t product = 1;
    for (const std::uint64_t extent : dataset.dims) product = plan::times(product, extent);
    return product;
}

std::uint64_t type_bytes(const Dataset& dataset) {
    return dataset.type ? dataset.type->bytes.value_or(0) : 0;
}

Count size_bytes(const Dataset& dataset) {
    const Count count = elements(dataset);
    if (!count || type_bytes(dataset) == 0) return std::nullopt;
    return plan::times(*count, type_bytes(dataset));
}

Count chunk_bytes(const Dataset& dataset) {
    if (!chunked(dataset) || type_bytes(dataset) == 0) return std::nullopt;
    std::uint64_t bytes = type_bytes(dataset);
    for (const std::uint64_t extent : dataset.chunk) bytes = plan::times(bytes, extent);
    return bytes;
}

bool chunked(const Dataset& dataset) {  // by a chunk that there can be
    return !dataset.chunk.empty() && std::ranges::find(dataset.chunk, 0) == dataset.chunk.end();
}

bool contiguous(const Dataset& dataset) {
    return dataset.layout.value_or("") == "contiguous" && dataset.chunk.empty();
}

bool extendible(const Dataset& dataset) {
    if (dataset.extensions && dataset.extensions->calls.value_or(0) > 0) return true;
    for (std::size_t d = 0; d < dataset.max_dims.size(); ++d)
        if (!dataset.max_dims[d] ||
            (d < dataset.dims.size() && *dataset.max_dims[d] > dataset.dims[d]))
            return true;
    return false;
}

std::optional<Access> dominant(const std::optional<Transfers>& transfers, const Dataset& dataset) {
    if (!transfers) return std::nullopt;
    std::optional<Access> best;
    for (const Shape& shape : transfers->shapes) {
        Access one{shape.length, shape.stride, shape.calls, shape.call_bytes.value_or(0),
                   shape.block};
        if (shape.selection == Selection::all) one.length = dataset.dims;
        if (one.length.empty() || one.length.size() != rank_of(dataset)) continue;
        if (one.bytes == 0) {
            one.bytes = type_bytes(dataset);
            for (const std::uint64_t length : one.length)
                one.bytes = plan::times(one.bytes, length);
        }
        if (!best || plan::times(one.calls, one.bytes) > plan::times(best->calls, best->bytes))
            best = one;
    }
    return best;
}

std::uint64_t call_bytes(const std::optional<Transfers>& transfers, const Dataset& dataset) {
    if (const std::optional<Access> access = dominant(transfers, dataset)) return access->bytes;
    if (!transfers || !transfers->bytes || calls(transfers) == 0) return 0;
    return *transfers->bytes / calls(transfers);
}

std::uint64_t calls(const std::optional<Transfers>& transfers) {
    return transfers ? transfers->calls.value_or(0) : 0;
}

std::uint64_t moved_bytes(const std::optional<Transfers>& transfers) {
    return transfers ? transfers->bytes.value_or(0) : 0;
}

std::uint64_t hdf5_calls(const Subject& s) {
    std::uint64_t found = 0;
    for (const Dataset& dataset : s.file.datasets)
        found += calls(dataset.reads) + calls(dataset.writes);
    return found;
}

bool only_whole(const std::optional<Transfers>& transfers, const Dataset& dataset) {
    if (calls(transfers) == 0) return false;
    if (transfers->whole && *transfers->whole >= calls(transfers)) return true;
    const Count size = size_bytes(dataset);
    return size && *size > 0 && transfers->bytes && *transfers->bytes == *size * calls(transfers);
}

std::uint64_t chunks_touched(const Access& access, const Dataset& dataset) {
    if (access.length.size() != dataset.chunk.size()) return 0;
    std::uint64_t chunks = 1;
    for (std::size_t d = 0; d < dataset.chunk.size(); ++d) {
        if (dataset.chunk[d] == 0) return 0;
        // A stride pulls the elements apart: they reach as far as the chunks are touched.
        const std::uint64_t step = d < access.stride.size() ? access.stride[d] : 1;
        std::uint64_t reach = access.length[d];
        if (step > 1 && reach > 0) reach = plan::times(reach - 1, step) + 1;
        if (d < dataset.dims.size()) reach = std::min(reach, dataset.dims[d]);
        chunks = plan::times(
            chunks, std::max<std::uint64_t>((reach + dataset.chunk[d] - 1) / dataset.chunk[d], 1));
    }
    return chunks;
}

std::uint64_t cache_in_force(const Subject& s) {
    if (const auto own = value_asked_for(s, "chunk_cache_bytes"))
        if (const auto* bytes = std::get_if<std::uint64_t>(&*own)) return *bytes;
    return hdf5_version(s).first >= 2 ? 8 * mib : mib;
}

bool balanced(const std::optional<Transfers>& transfers, const Subject& s) {
    if (!transfers || transfers->by_process.empty()) return false;
    const std::vector<ProcessShare>& shares = transfers->by_process;
    if (transfers->processes && transfers->even)  // of more processes than there are shares here
        return *transfers->even && *transfers->processes == file_ranks(s) &&
               calls(transfers) >= file_ranks(s);
    if (shares.size() != file_ranks(s)) return false;
    return std::all_of(shares.begin(), shares.end(), [&](const ProcessShare& share) {
        return share.calls && share.bytes && *share.calls > 0 &&
               *share.calls == shares.front().calls && *share.bytes == shares.front().bytes;
    });
}

bool plain_type(const Dataset& dataset) {
    constexpr std::array<std::string_view, 6> plain{"integer",  "float",  "string",
                                                    "bitfield", "opaque", "enum"};
    return dataset.type && !dataset.type->variable_length.value_or(false) &&
           std::ranges::find(plain, dataset.type->type_class) != plain.end();
}

bool fully_written(const Dataset& dataset) {
    return plain_type(dataset) && dataset.writes && dataset.writes->coverage &&
           dataset.writes->coverage->full.value_or(false);
}

}  // namespace tailrace::intent::rules
