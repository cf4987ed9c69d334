// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/purpose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "intent/intents/access.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

bool starts_with_folder(const std::string& path, const std::string& folder) {
    if (folder.empty() || folder == "/") return folder == "/";
    return path.rfind(folder, 0) == 0 &&
           (path.size() == folder.size() || folder.back() == '/' || path[folder.size()] == '/');
}

/// Type of the file system with the longest folder that holds the path.
std::string file_system_of(const std::string& path, const Run& run) {
    const FileSystem* best = nullptr;
    for (const FileSystem& one : run.file_systems)
        if (starts_with_folder(path, one.folder) &&
            (!best || one.folder.size() > best->folder.size()))
            best = &one;
    return best ? best->type : std::string{};
}

bool in_memory(const std::string& path, const std::string& file_system) {
    return file_system == "tmpfs" || file_system == "ramfs" || starts_with_folder(path, "/dev/shm");
}

bool for_temporary_files(const std::string& path) {
    static constexpr std::array<std::string_view, 3> folders{"/tmp", "/var/tmp", "/local/tmp"};
    return std::any_of(folders.begin(), folders.end(), [&](std::string_view folder) {
        return starts_with_folder(path, std::string(folder));
    });
}

bool ends_with(const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// A dimension of netCDF's that has no variable: a dataset with attributes and without data.
bool is_netcdf_dimension(const Dataset& one) {
    const bool moved = calls_done(one.writes) + calls_done(one.reads) > 0;
    return one.type && one.type->name == "f32be" && one.ndims == Count(1) && !moved &&
           one.attributes && one.attributes->count.value_or(0) >= 2;
}

/// As far as a profile tells: it holds no names of attributes.
bool of_netcdf(const File& file) {
    static constexpr std::array<std::string_view, 4> ends{".nc", ".nc4", ".cdf", ".netcdf"};
    return std::any_of(ends.begin(), ends.end(),
                       [&](std::string_view end) { return ends_with(file.path, end); }) ||
           std::any_of(file.datasets.begin(), file.datasets.end(), is_netcdf_dimension);
}

/// netCDF-C flushes where definitions end and at the close, whatever its program wants: at most as
/// often for each open that may write. Below MPI-IO such a flush is a sync.
std::uint64_t flushes_of_netcdf(const File& file) {
    if (!file.hdf5 || !of_netcdf(file)) return 0;
    const std::uint64_t opens = file.hdf5->opens.value_or(0);
    return 2 * (opens - std::min(opens, file.hdf5->read_only_opens.value_or(0)));
}

/// Calls by which the program itself asked that data be on the disk, or at least in the file.
/// @param others  calls on each layer that a library made by itself
Count flushes_of(const File& file, std::uint64_t others) {
    Count flushes;
    const auto take = [&](Count calls) {
        if (calls) *calls -= std::min(*calls, others);
        flushes = sum(flushes, calls);
    };
    if (file.hdf5) take(file.hdf5->flushes);
    if (file.mpiio) take(file.mpiio->syncs);
    if (file.posix && file.mpiio) take(file.posix->syncs);
    if (file.posix && !file.mpiio) flushes = sum(flushes, file.posix->syncs);
    if (file.pnetcdf) flushes = sum(flushes, file.pnetcdf->syncs);
    for (const Dataset& dataset : file.datasets) flushes = sum(flushes, dataset.flushes);
    return flushes;
}

/// Whether the run ended without the file. Deleted as often as made it may also have been deleted
/// before it was made.
bool deleted_at_last(const File& file) {
    return file.hdf5 && file.hdf5->deletes.value_or(0) > file.hdf5->creates.value_or(0) &&
           file.hdf5->opens.value_or(0) > 0;
}

/// Queries are not among them: they are answered from memory, one or more for each transfer.
std::uint64_t of_operations(const Operations& one) {
    return one.create.value_or(0) + one.open.value_or(0) + one.read.value_or(0) +
           one.write.value_or(0) + one.remove.value_or(0);
}

/// Operations on descriptions as far as HDF5 or PnetCDF tell; 0: nothing is told.
std::uint64_t descriptions(const File& file) {
    std::uint64_t count = 0;
    if (file.hdf5) {
        count += file.hdf5->opens.value_or(0);
        for (const auto& [kind, operations] : file.hdf5->metadata)
            count += of_operations(operations);
        if (!file.hdf5->metadata.empty()) return count;
    }
    for (const Dataset& dataset : file.datasets) count += dataset.opens.value_or(0);
    return count;
}

Volume datasets_volume(const File& file) {
    Volume all;
    for (const Dataset& dataset : file.datasets) add(all, flow_of(dataset).volume);
    return all;
}

/// Who moves so much for each operation on descriptions is about data.
constexpr std::uint64_t much_for_an_operation = 65536;

Statement by_operations(std::uint64_t operations, const Volume& data, Reasons why) {
    const std::uint64_t calls = data.read_calls.value_or(0) + data.write_calls.value_or(0);
    const std::uint64_t bytes = data.bytes_read.value_or(0) + data.bytes_written.value_or(0);
    why.note("metadata_operations", Count(operations), "calls")
        .note("data_calls", Count(calls), "calls")
        .note("data", Count(bytes), "bytes");
    // A program that makes a dataset for each piece of a rank does about two operations per piece.
    constexpr std::uint64_t small = 4096;
    const bool more = operations > 2 * calls && bytes / (operations + 1) < much_for_an_operation;
    const bool tiny = calls > 0 && operations >= calls && bytes / calls < small;
    return why.say(more || tiny ? "yes" : "no", Confidence::medium);
}

struct Times {
    Seconds metadata_s;
    double data_s = 0;
    std::uint64_t bytes = 0, data_calls = 0;
};

template <class Layer, class Calls>
Times times_of(const Layer& layer, const Calls& calls) {
    Times found;
    found.metadata_s = layer.metadata_s;
    for (const auto* transfers : {&layer.reads, &layer.writes}) {
        if (!*transfers) continue;
        found.data_s += (*transfers)->elapsed_s.value_or(0);
        found.bytes += (*transfers)->bytes.value_or(0);
        found.data_calls += calls(**transfers);
    }
    return found;
}

std::uint64_t calls_of_plain(const PosixTransfers& one) { return one.calls.value_or(0); }

/// By opens and times, where nothing tells of descriptions. The time of a layer holds that of those
/// below it, so each layer is looked at by itself, and the one that moved the longest counts.
Statement by_time(const File& file) {
    const bool streams = !file.posix;
    const PosixFile& opener = streams ? *file.stdio : *file.posix;
    std::string from = streams ? "stdio" : "posix";
    Times most = times_of(opener, calls_of_plain);
    if (file.mpiio) {
        const Times above = times_of(*file.mpiio, [](const MpiioTransfers& one) {
            return sum(sum(one.independent, one.collective), sum(one.nonblocking, one.split))
                .value_or(0);
        });
        if (above.data_s > most.data_s) {
            const Seconds below_s = most.metadata_s;
            most = above;
            if (!most.metadata_s) most.metadata_s = below_s;
            from = "mpiio";
        }
    }
    const std::uint64_t others =
        opener.opens.value_or(0) + opener.stats.value_or(0) + opener.renames.value_or(0);
    Reasons why(from);
    why.note("metadata_time", most.metadata_s)
        .note("data_time", Seconds(most.data_s))
        .note("opens_and_stats", Count(others), "calls")
        .note("data_calls", Count(most.data_calls), "calls")
        .note("data", Count(most.bytes), "bytes");
    // A stream may be below what was opened by number.
    const bool stream = file.stdio && times_of(*file.stdio, calls_of_plain).bytes > 0;
    if (!most.metadata_s) return Statement{};
    // What a stream has gathered goes out when it is closed, which counts as metadata.
    const bool yes = !stream && others > most.data_calls && *most.metadata_s > most.data_s &&
                     most.bytes / (others + 1) < much_for_an_operation;
    return why.say(yes ? "yes" : "no", Confidence::medium);
}

/// Spans without gaps between them, in order of time.
std::vector<Burst> joined(std::vector<Span> spans, double least_gap_s) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
    std::vector<Burst> bursts;
    for (const Span& span : spans) {
        if (!bursts.empty() && span.start_s <= bursts.back().end_s + least_gap_s)
            bursts.back().end_s = std::max(bursts.back().end_s, span.end_s);
        else
            bursts.push_back({span.start_s, span.end_s});
    }
    return bursts;
}

std::vector<Span> spans_of(const Timeline& line) {
    std::vector<Span> spans;
    const std::size_t bins = std::max(line.read_bytes.size(), line.written_bytes.size());
    for (std::size_t i = 0; i < bins; ++i) {
        const bool any = (i < line.read_bytes.size() && line.read_bytes[i] > 0) ||
                         (i < line.written_bytes.size() && line.written_bytes[i] > 0);
        const double start = static_cast<double>(i) * line.bin_s;
        if (any) spans.push_back({start, start + line.bin_s});
    }
    return spans;
}

std::vector<Span> spans_of(const Profile& profile) {
    std::vector<Span> spans;
    const auto take = [&](const auto& transfers) {
        if (transfers && transfers->active) spans.push_back(*transfers->active);
    };
    for (const File& file : profile.files) {
        for (const Dataset& dataset : file.datasets) {
            take(dataset.reads);
            take(dataset.writes);
        }
        if (!file.datasets.empty()) continue;
        for (const auto* layer : {&file.posix, &file.stdio})
            if (*layer) {
                take((*layer)->reads);
                take((*layer)->writes);
            }
    }
    return spans;
}

/// Whether the distances between the begins are much alike.
bool regular(const std::vector<Burst>& bursts) {
    if (bursts.size() < 3) return false;
    std::vector<double> steps;
    for (std::size_t i = 1; i < bursts.size(); ++i)
        steps.push_back(bursts[i].start_s - bursts[i - 1].start_s);
    double mean = 0, square = 0;
    for (const double step : steps) mean += step / static_cast<double>(steps.size());
    for (const double step : steps)
        square += (step - mean) * (step - mean) / static_cast<double>(steps.size());
    return mean > 0 && std::sqrt(square) / mean < 0.25;
}

}  // namespace

Statement reliability_of(const File& file, const Run& run, const std::string& type) {
    const std::string file_system = file_system_of(file.path, run);
    const std::uint64_t by_itself = flushes_of_netcdf(file);
    const Count flushes = flushes_of(file, by_itself);
    Reasons why("run");
    if (!file_system.empty()) why.note("file_system", file_system);
    why.note("flushes", flushes, "calls");
    if (by_itself > 0) why.note("at_most_by_netcdf_itself", Count(by_itself), "calls");
    if (deleted_at_last(file))
        return why.note("deletes", file.hdf5->deletes, "calls").say("scratch", Confidence::medium);
    if (flushes.value_or(0) > 0) return why.say("durable", Confidence::high);
    if (in_memory(file.path, file_system)) return why.say("scratch", Confidence::medium);
    const bool read_back = type == "read_after_write" || type == "write_once_read_many";
    if (read_back && for_temporary_files(file.path)) {
        why.note("type", type);
        return why.say("recomputable", Confidence::low);
    }
    return why.say("durable", Confidence::low);
}

Statement metadata_dominated(const File& file) {
    const std::uint64_t operations = descriptions(file);
    if (operations > 0) return by_operations(operations, datasets_volume(file), Reasons("hdf5"));
    return file.posix || file.stdio ? by_time(file) : Statement{};
}

Statement rhythm_of(const Profile& profile, std::vector<Burst>& bursts) {
    Reasons why("run");
    std::vector<Span> spans;
    double gap_s = 0;
    const auto line = std::find_if(
        profile.run.timelines.begin(), profile.run.timelines.end(), [](const Timeline& one) {
            return one.layer == "posix" && one.bin_s > 0 && !spans_of(one).empty();
        });
    if (line != profile.run.timelines.end()) {
        spans = spans_of(*line);
        gap_s = line->bin_s * 1.01;  // one empty piece is no pause
    } else {
        spans = spans_of(profile);
        gap_s = profile.run.elapsed_s.value_or(0) * 0.01;
    }
    if (spans.empty()) return Statement{};
    bursts = joined(spans, gap_s);
    double busy_s = 0;
    for (const Burst& burst : bursts) busy_s += burst.end_s - burst.start_s;
    const double all_s = profile.run.elapsed_s.value_or(0);
    why.note("bursts", Count(bursts.size()), "bursts")
        .note("busy", Seconds(busy_s))
        .note("elapsed", profile.run.elapsed_s);
    const std::size_t count = bursts.size();
    const bool is_regular = regular(bursts);
    if (bursts.size() > most_bursts) bursts.resize(most_bursts);
    if (all_s > 0 && busy_s > 0.6 * all_s) return why.say("continuous", Confidence::medium);
    if (count == 1) return why.say("once", Confidence::medium);
    return why.say(is_regular ? "regular_bursts" : "bursts", Confidence::medium);
}

}  // namespace tailrace::intent
