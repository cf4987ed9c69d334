// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/file_size.hpp"

#include <algorithm>

#include "intent/intents/access.hpp"

namespace tailrace::intent {

namespace {

template <class Layer>
Count end_of(const std::optional<Layer>& layer) {
    Count end;
    if (!layer) return end;
    for (const auto* transfers : {&layer->reads, &layer->writes})
        if (*transfers && (*transfers)->highest_byte && (*transfers)->bytes.value_or(1) > 0)
            end = std::max(end.value_or(0), *(*transfers)->highest_byte + 1);
    return end;
}

template <class Layer>
std::uint64_t written(const std::optional<Layer>& layer) {
    return layer && layer->writes ? layer->writes->bytes.value_or(0) : 0;
}

/// Whether calls of MPI-IO went to places that no layer knows.
bool went_elsewhere(const File& file) {
    if (!file.mpiio || file.touched_bytes) return false;
    // System calls that moved all that was written know where it went.
    if (file.posix && written(file.posix) >= written(file.mpiio) && end_of(file.posix))
        return false;
    const auto lost = [](const auto& side) {
        if (!side) return false;
        if (side->not_placed) return *side->not_placed > 0;
        return !side->highest_byte && side->bytes.value_or(0) > 0;
    };
    return lost(file.mpiio->reads) || lost(file.mpiio->writes);
}

/// Bytes of elements that are written, as they are in memory; 0: not known.
std::uint64_t elements_written(const Dataset& dataset) {
    if (calls_done(dataset.writes) == 0 || !dataset.filters.empty() || !dataset.type) return 0;
    const auto& covered = dataset.writes->coverage;
    const std::uint64_t elements = covered ? covered->elements_distinct.value_or(0) : 0;
    return elements * dataset.type->bytes.value_or(0);
}

/// What written datasets take of the file: a contiguous one all of its size, of chunks without
/// filters those elements that are known.
std::uint64_t taken_by_datasets(const File& file) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : file.datasets) {
        const Count all = size_of(dataset);
        if (!all || dataset.interface != Interface::hdf5 || calls_done(dataset.writes) == 0)
            continue;
        if (dataset.layout == "contiguous")
            bytes += *all;
        else if (dataset.layout == "chunked")
            bytes += elements_written(dataset);
    }
    return bytes;
}

/// What the file must have at least: what was written into it, as it was written.
std::uint64_t put_into(const File& file) {
    const std::uint64_t end =
        std::max({end_of(file.mpiio), end_of(file.posix), end_of(file.stdio)}).value_or(0);
    const std::uint64_t calls =
        std::max({written(file.mpiio), written(file.posix), written(file.stdio)});
    std::uint64_t elements = 0;
    for (const Dataset& dataset : file.datasets)
        if (dataset.layout != "virtual") elements += elements_written(dataset);
    return std::max(std::min(end, calls), elements);
}

}  // namespace

std::optional<Amount> touched_of(const File& file) {
    Count last = end_of(file.mpiio);
    if (file.touched_bytes) last = std::max(last.value_or(0), *file.touched_bytes);
    for (const auto* layer : {&file.posix, &file.stdio})
        if (const Count end = end_of(*layer)) last = std::max(last.value_or(0), *end);
    const Count told = file.mpiio ? file.mpiio->size_bytes : std::nullopt;
    if (told && *told > last.value_or(0)) return Amount{*told, "its size at the close", {}};
    if (!last) return std::nullopt;
    if (went_elsewhere(file)) return Amount{*last, "last byte touched whose place is known", true};
    return Amount{*last, "last byte touched", {}};
}

std::optional<Amount> size_of(const File& file, const SizeSummary& datasets) {
    // Some file systems give a file its blocks later.
    if (file.stored_bytes && *file.stored_bytes >= put_into(file) / 2)
        return Amount{*file.stored_bytes, "what the file system stores", {}};
    auto touched = touched_of(file);
    if (!touched && datasets.count == 0) return std::nullopt;
    if (!touched) return Amount{datasets.sum_bytes, "sizes of its datasets", {}};
    const std::uint64_t taken = taken_by_datasets(file);
    if (taken > touched->bytes) return Amount{taken, "sizes of the datasets written", true};
    return touched;
}

}  // namespace tailrace::intent
