// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/timing.hpp"

#include <algorithm>

#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

/// Writes as one layer of a file saw them.
struct Layer {
    std::uint64_t bytes = 0, calls = 0;
    double elapsed_s = 0;
    bool timed = false;
    std::vector<Span> active;

    template <class T>
    void add(const T& side, std::uint64_t count) {
        bytes += side.bytes.value_or(0);
        calls += count;
        elapsed_s += side.elapsed_s.value_or(0);
        timed = timed || side.elapsed_s.has_value();
        if (side.active && count > 0) active.push_back(*side.active);
    }
};

/// A close writes what the chunk cache holds, through the filters: of what each process has closed
/// once, alone or together with the others.
void add_close(Layer& layer, const std::optional<Span>& close, std::uint64_t opens,
               const ProcessSet& processes, bool together) {
    if (!close || layer.calls == 0 || opens > processes.size()) return;
    if (processes.size() > 1 && !together) return;
    layer.elapsed_s += (close->end_s - close->start_s) * static_cast<double>(processes.size());
    layer.active.push_back(*close);
}

/// The layer in which the program itself waited: the uppermost one with times.
Layer writes_of(const File& file) {
    Layer datasets, mpiio, posix;
    const bool together = file.hdf5 && file.hdf5->mpio.value_or(false);
    for (const Dataset& dataset : file.datasets)
        if (calls(dataset.writes) > 0) {
            datasets.add(*dataset.writes, calls(dataset.writes));
            add_close(datasets, dataset.close,
                      std::max(dataset.opens.value_or(0), dataset.creates.value_or(0)),
                      dataset.processes, together);
        }
    if (file.hdf5)
        add_close(datasets, file.hdf5->close,
                  std::max(file.hdf5->opens.value_or(0), file.hdf5->creates.value_or(0)),
                  file.processes, together);
    if (file.mpiio && file.mpiio->writes) {
        const MpiioTransfers& writes = *file.mpiio->writes;
        mpiio.add(writes, writes.collective.value_or(0) + writes.independent.value_or(0) +
                              writes.split.value_or(0) + writes.nonblocking.value_or(0));
    }
    for (const auto* layer : {&file.stdio, &file.posix})
        if (*layer && (*layer)->writes && posix.calls == 0)
            posix.add(*(*layer)->writes, (*layer)->writes->calls.value_or(0));
    for (Layer* one : {&datasets, &mpiio, &posix})
        if (one->timed && one->bytes > 0) return *one;
    return {};
}

template <class T>
bool later(const std::optional<T>& reads, const std::optional<T>& writes) {
    return reads && writes && reads->active && writes->active &&
           reads->active->start_s >= writes->active->start_s;
}

/// PnetCDF reads the beginning of a file that it opens again, 256 KiB at a time.
bool only_header_read(const File& file) {
    constexpr std::uint64_t piece = 256 * kib;
    if (!file.pnetcdf || !file.mpiio || !file.mpiio->reads) return false;
    const MpiioTransfers& reads = *file.mpiio->reads;
    const std::uint64_t opens =
        file.mpiio->collective_opens.value_or(0) + file.mpiio->independent_opens.value_or(0);
    return reads.highest_byte.value_or(0) < 4 * piece &&
           reads.bytes.value_or(0) <= opens * (reads.highest_byte.value_or(0) + piece);
}

std::uint64_t read_after_write(const File& file) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : file.datasets) {
        if (calls(dataset.reads) == 0 || calls(dataset.writes) == 0) continue;
        const bool seen = dataset.read_after_write && dataset.read_after_write->any.has_value();
        const bool after =
            seen ? *dataset.read_after_write->any : later(dataset.reads, dataset.writes);
        if (after) bytes += moved_bytes(dataset.reads);
    }
    if (bytes > 0 || !file.datasets.empty()) return bytes;
    if (only_header_read(file)) return 0;
    if (file.mpiio && later(file.mpiio->reads, file.mpiio->writes))
        return file.mpiio->reads->bytes.value_or(0);
    for (const auto* layer : {&file.stdio, &file.posix})
        if (*layer && later((*layer)->reads, (*layer)->writes))
            return (*layer)->reads->bytes.value_or(0);
    return 0;
}

/// Spans in order, those joined that are less than `gap_s` apart.
std::vector<Span> joined(std::vector<Span> spans, double gap_s) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
    std::vector<Span> all;
    for (const Span& one : spans) {
        if (!all.empty() && one.start_s - all.back().end_s < gap_s)
            all.back().end_s = std::max(all.back().end_s, one.end_s);
        else
            all.push_back(one);
    }
    return all;
}

}  // namespace

Output output_of(const Profile& profile) {
    Output all;
    double busy_s = 0;
    std::vector<Span> active;
    ProcessSet writers;
    for (const File& file : profile.files) {
        const Layer layer = writes_of(file);
        if (layer.bytes == 0) continue;
        all.bytes += layer.bytes;
        all.calls += layer.calls;
        all.read_after += read_after_write(file);
        busy_s += layer.elapsed_s;
        active.insert(active.end(), layer.active.begin(), layer.active.end());
        writers.add(file.processes);
    }
    all.writers = std::max<std::uint64_t>(writers.size(), 1);
    const double run_s = profile.run.elapsed_s.value_or(0);
    if (run_s <= 0 || all.bytes == 0) return all;
    const double busy = std::min(busy_s / static_cast<double>(all.writers) / run_s, 1.0);
    all.share = busy;
    if (active.empty()) return all;
    const std::vector<Span> bursts = joined(std::move(active), run_s / 100);
    all.bursts = bursts.size();
    const double span = (bursts.back().end_s - bursts.front().start_s) / run_s;
    // Two writes have something between them; one that takes long has not.
    all.between = all.calls > all.writers ? std::clamp(span - busy, 0.0, 1.0) : 0.0;
    return all;
}

std::uint64_t read_after_write(const Subject& s) { return read_after_write(s.file); }

}  // namespace tailrace::intent::rules
