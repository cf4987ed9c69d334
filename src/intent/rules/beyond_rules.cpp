// SPDX-License-Identifier: Apache-2.0
// What neither a plan nor a setting can do, since the program would have to be changed: 54 to 58.
#include <algorithm>
#include <array>

#include "intent/intents/sharing.hpp"
#include "intent/plan/functions.hpp"
#include "intent/rules/rule.hpp"
#include "intent/rules/timing.hpp"
#include "intent/rules/unseen.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

// --- 54: reduction -------------------------------------------------------------------------------
bool reducible(const Dataset& dataset) {
    return dataset.filters.empty() && dataset.type && dataset.type->type_class == "float" &&
           moved_bytes(dataset.writes) > 0;
}

struct Floats {
    std::uint64_t bytes = 0, datasets = 0, doubles = 0;
    const Dataset* largest = nullptr;
};

Floats floats_of(const Subject& s) {
    Floats all;
    for (const Dataset& dataset : s.file.datasets) {
        if (!reducible(dataset)) continue;
        ++all.datasets;
        all.bytes += moved_bytes(dataset.writes);
        if (type_bytes(dataset) == 8) all.doubles += moved_bytes(dataset.writes);
        if (all.largest == nullptr ||
            moved_bytes(dataset.writes) > moved_bytes(all.largest->writes))
            all.largest = &dataset;
    }
    return all;
}

std::optional<Reason> reduce_fires(const Subject& s) {
    const Floats floats = floats_of(s);
    if (floats.bytes < 64 * mib || floats.bytes * 2 < bytes_written(s)) return std::nullopt;
    Reason reason{say(size(floats.bytes), " of floating-point numbers written without filters to ",
                      counted(floats.datasets, "dataset"), ", ", size(bytes_read(s)), " read"),
                  {}};
    return reason.note("file.float_bytes_written", floats.bytes, "bytes")
        .note("file.bytes_read", bytes_read(s), "bytes")
        .note("file.double_bytes_written", floats.doubles, "bytes");
}

std::optional<Held> reduce_held(const Subject& s) {
    if (bytes_read(s) > bytes_written(s) / 10)
        return Held{Guard::reads, say(size(bytes_read(s)),
                                      " are read in the same run, which would pay "
                                      "for unpacking")};
    return unseen_transfers(s);
}

Proposal reduce_act(const Subject& s) {
    const Floats floats = floats_of(s);
    std::string text =
        "write fewer bytes. Lossless (shuffle and deflate or zstd): every value "
        "stays, for time of the processor; how much it saves depends on the data";
    if (s.file.pnetcdf) text += "; a classic netCDF file has no filters, netCDF-4 has";
    if (parallel(s)) text += "; in parallel it needs chunks and collective writes";
    text +=
        ". Lossy (quantize of netCDF-C, ZFP, SZ): several times fewer bytes, within an error "
        "bound that you have to choose; not for restart files";
    if (floats.doubles > 0)
        text += say(". ", size(floats.doubles),
                    " are 64 bits wide: 32 bits halve them where the readers need no more");
    std::vector<std::string> commands;
    if (s.file.hdf5 && floats.largest->path.find_first_of("*?[=") == std::string::npos)
        commands.push_back(say("tailrace repack ", shell_path(s.file.path), " --filters ",
                               shell_word(floats.largest->path + "=shuffle,deflate=1"),
                               " --dry-run"));
    return advice(std::move(text), std::move(commands));
}

// --- 55: in situ ---------------------------------------------------------------------------------
constexpr std::uint64_t intermediate = 256 * mib;

std::optional<Reason> in_situ_fires(const Subject& s) {
    const std::uint64_t written = bytes_written(s);
    if (written < intermediate) return std::nullopt;
    const std::uint64_t here = read_after_write(s);
    if (std::max(here, s.read_elsewhere) < written / 2) return std::nullopt;
    const bool others = s.read_elsewhere > 0;
    Reason reason{
        say(size(written), " written, and then ", size(others ? s.read_elsewhere : here),
            " of it read again by ",
            others ? counted(s.readers_elsewhere, "other run") : std::string("the same run")),
        {}};
    return reason.note("file.bytes_written", written, "bytes")
        .note("file.bytes_read_after", others ? s.read_elsewhere : here, "bytes")
        .note("file.runs_that_read", s.readers_elsewhere, "runs");
}

std::optional<Held> in_situ_held(const Subject& s) {
    if (s.readers_elsewhere > 1)
        return Held{
            Guard::readers,
            say(s.readers_elsewhere, " other runs read it: it is a product, not an intermediate")};
    const std::uint64_t room =
        plan::times(memory_of_process(s), std::max<std::uint64_t>(s.file.processes.size(), 1));
    if (s.readers_elsewhere == 0 && bytes_written(s) > room)
        return Held{Guard::memory, say(size(bytes_written(s)), " are more than the ", size(room),
                                       " that its processes may have of the memory")};
    return std::nullopt;
}

Proposal in_situ_act(const Subject& s) {
    if (s.readers_elsewhere > 0)
        return advice(
            "do the reader's work while the data is in memory (in situ: call it from the writer, "
            "or by ParaView Catalyst, Ascent, ADIOS2, Damaris), and write only its result; the "
            "price: its time and memory are the writer's, and what was not kept cannot be looked "
            "at again");
    return advice(
        "keep the data in memory, or in /dev/shm, until it is used, and write only what is to "
        "last; the price: memory, and a run that is killed begins anew");
}

// --- 56: another format --------------------------------------------------------------------------
struct Plain {
    std::uint64_t files = 0, bytes = 0, calls = 0;  ///< all that count
    std::uint64_t private_files = 0;                ///< written by one process each
    std::uint64_t small_files = 0, small_calls = 0, small_bytes = 0;
    std::uint64_t formats = 0, logs = 0;  ///< of all
    const File* first = nullptr;
};

/// The name says that a library writes it, whose calls were not recorded.
bool has_format(const std::string& path) {
    constexpr std::array<std::string_view, 11> ends{".h5",  ".hdf5", ".he5",  ".nc",
                                                    ".nc4", ".cdf",  ".zarr", ".parquet",
                                                    ".bp",  ".grib", ".grb2"};
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
        return path.ends_with(end) || path.ends_with(std::string(end) + ".part") ||
               path.find(std::string(end) + "/") != std::string::npos;
    });
}

Plain plain_files(const Profile& profile) {
    Plain all;
    for (const File& file : profile.files) {
        if (file.hdf5 || file.pnetcdf || file.mpiio) continue;
        std::uint64_t bytes = 0, count = 0;
        for (const auto* layer : {&file.posix, &file.stdio}) {
            if (!*layer || !(*layer)->writes) continue;
            const PosixTransfers& writes = *(*layer)->writes;
            if (writes.calls.value_or(0) <= count) continue;  // of two layers the upper one
            count = *writes.calls;
            bytes = writes.bytes.value_or(0);
        }
        const bool alone = file.processes.size() == 1 && bytes > 0;
        const bool small = count >= 1000 && bytes / count < 4 * kib;
        if (!alone && !small) continue;
        if (all.first == nullptr || (small && all.small_files == 0)) all.first = &file;
        ++all.files;
        all.bytes += bytes;
        all.calls += count;
        if (alone) ++all.private_files;
        if (small) {
            ++all.small_files;
            all.small_calls += count;
            all.small_bytes += bytes;
        }
        if (has_format(file.path)) ++all.formats;
        if (file.posix && file.posix->append.value_or(false)) ++all.logs;
    }
    return all;
}

bool each_its_own(const Plain& plain, const Subject& s) {
    return ranks(s) >= 8 && plain.private_files >= ranks(s) && plain.bytes >= 16 * mib;
}
bool small_writes(const Plain& plain) {
    return plain.small_calls >= 10000 && plain.small_bytes >= 4 * mib;
}

std::optional<Reason> format_fires(const Subject& s) {
    const Plain plain = plain_files(s.profile);
    const bool own = each_its_own(plain, s);
    if (!own && !small_writes(plain)) return std::nullopt;
    std::string text;
    if (own)
        text = say(plain.private_files, " plain files, each by one of ", ranks(s), " ranks, with ",
                   size(plain.bytes));
    if (small_writes(plain))
        text += say(text.empty() ? "" : "; ", plain.small_calls, " writes of ",
                    size(plain.small_bytes / plain.small_calls), " on average to ",
                    counted(plain.small_files, "plain file"), " (", plain.first->path, ")");
    Reason reason{std::move(text), {}};
    return reason.note("run.plain_files", plain.files, "files")
        .note("run.plain_bytes", plain.bytes, "bytes")
        .note("run.small_writes", plain.small_calls, "calls");
}

std::optional<Held> format_held(const Subject& s) {
    const Plain plain = plain_files(s.profile);
    if (plain.formats * 2 > plain.files)
        return Held{Guard::format,
                    "their names are of HDF5, netCDF and the like: a library writes "
                    "them whose own calls were not recorded"};
    if (plain.logs * 2 > plain.files)
        return Held{Guard::append,
                    "they are opened to append: logs, which are best as lines of text"};
    return std::nullopt;
}

Proposal format_act(const Subject& s) {
    const Plain plain = plain_files(s.profile);
    std::string text;
    if (each_its_own(plain, s))
        text =
            "write one file with HDF5 or netCDF (with their parallel or PnetCDF's calls) "
            "instead of a file per process: fewer files to open and to keep, readable with "
            "any number of ranks, and then the rules here apply; the price: ranks that share "
            "a file, which is slower where it is not tuned. ";
    if (small_writes(plain))
        text +=
            "Write arrays with HDF5 or netCDF in few large calls instead of numbers one by "
            "one (as text an 8-byte number takes some 20 bytes, and its last digits are "
            "often lost); the price: no editor reads it. ";
    text.pop_back();
    return advice(std::move(text));
}

// --- 57: an I/O server ---------------------------------------------------------------------------
std::optional<Reason> server_fires(const Subject& s) {
    const Output output = output_of(s.profile);
    if (!output.share || *output.share < 0.1 || output.bytes < 64 * mib) return std::nullopt;
    Reason reason{say(percent(*output.share), " of the run is waiting for output (",
                      size(output.bytes), " in ", output.calls, " calls by ", output.writers,
                      output.writers == 1 ? " process)" : " processes)"),
                  {}};
    if (output.between) reason.text += say(", ", percent(*output.between), " is between them");
    if (output.bursts > 1) reason.text += say(", in ", output.bursts, " bursts");
    return reason.note("run.write_share", *output.share)
        .note("run.between_writes_share", output.between.value_or(0.0))
        .note("run.bytes_written", output.bytes, "bytes")
        .note("run.write_bursts", output.bursts, "bursts");
}

std::optional<Held> server_held(const Subject& s) {
    const Output output = output_of(s.profile);
    if (ranks(s) < 2)
        return Held{Guard::ranks,
                    "one process: a server needs ranks of its own; a thread that writes "
                    "may do"};
    if (!output.between)
        return Held{Guard::evidence,
                    "it is not known when the writes were made, so whether there is "
                    "work behind which they can be hidden"};
    if (*output.between < 0.1 && output.bursts < 3)
        return Held{Guard::alternation, say("only ", percent(*output.between),
                                            " of the run is between the writes: there is no work "
                                            "behind which they can be hidden")};
    if (output.read_after * 10 > output.bytes)
        return Held{Guard::reads,
                    say(size(output.read_after),
                        " are read again in the run, which would wait for the server")};
    return std::nullopt;
}

Proposal server_act(const Subject& s) {
    const Output output = output_of(s.profile);
    return advice(
        say("an I/O server: some ranks take the output into their memory and write it while the "
            "others compute. At most ",
            percent(std::min(*output.share, *output.between)),
            " of the run can be hidden; the price: those ranks, memory for the output of a step, "
            "and a few calls in the program (docs/user/io_server.md)"));
}

// --- 58: pieces by turns, with MPI-IO ------------------------------------------------------------
/// The direction in which several processes move small pieces by turns, each call alone.
struct Turns {
    const MpiioTransfers* transfers = nullptr;
    bool writes = false;
    std::uint64_t calls = 0, bytes = 0;
};

Turns turns_of(const Subject& s) {
    if (!s.file.mpiio || s.file.hdf5 || s.file.pnetcdf) return {};
    for (const auto* side : {&s.file.mpiio->writes, &s.file.mpiio->reads}) {
        if (!*side) continue;
        const MpiioTransfers& one = **side;
        const auto [alone, together] = mpiio_calls(*side);
        if (alone < 1000 || together * 10 > alone) continue;
        if (one.bytes.value_or(0) / (alone + together) >= 64 * kib) continue;
        if (how_shared_of(one.ranges, "mpiio").value != "interleaved") continue;
        return {&one, side == &s.file.mpiio->writes, alone, one.bytes.value_or(0)};
    }
    return {};
}

std::optional<Reason> turns_fires(const Subject& s) {
    const Turns turns = turns_of(s);
    if (turns.transfers == nullptr) return std::nullopt;
    Reason reason{say(turns.calls, " calls of ", size(turns.bytes / turns.calls),
                      " on average, each by one rank alone, go by turns through a file that ",
                      s.file.processes.size(), " share"),
                  {}};
    return reason.note("file.independent_calls", turns.calls, "calls")
        .note("file.bytes", turns.bytes, "bytes")
        .note("file.processes", s.file.processes.size(), "processes");
}

std::optional<Held> turns_held(const Subject& s) {
    const auto& ranges = turns_of(s).transfers->ranges;
    const bool even = std::all_of(ranges.begin(), ranges.end(), [&](const ByteRange& one) {
        return one.calls == ranges.front().calls;
    });
    if (ranges.size() < file_ranks(s) || !even)
        return Held{Guard::balance,
                    "not all ranks of the file make as many calls; in a collective call "
                    "all of them take part"};
    return std::nullopt;
}

Proposal turns_act(const Subject& s) {
    const Turns turns = turns_of(s);
    const std::string word = turns.writes ? "MPI_File_write_all" : "MPI_File_read_all";
    return advice(
        say("give each rank a view of its pieces (MPI_Type_vector or MPI_Type_create_subarray, "
            "MPI_File_set_view) and move them with one ",
            word, " instead of ", turns.calls / turns.transfers->ranges.size(),
            " calls; the library joins the pieces of all ranks into large ones. All ranks have to "
            "make the call"));
}

const std::array beyond_table{
    Rule{"54",
         "Fewer bytes",
         Scope::file,
         Class::advice,
         "at least 64 MiB of floating-point numbers are written without filters, half of what is "
         "written",
         "at most a tenth as much is read in the run",
         "advice: lossless or lossy reduction, and what each costs; the command that measures a "
         "part",
         "fewer bytes, as far as the data allows",
         "I, K, V",
         {},
         reduce_fires,
         reduce_held,
         reduce_act},
    Rule{"55",
         "In situ instead of through files",
         Scope::file,
         Class::advice,
         "at least 256 MiB are written, and half of it or more is read afterwards, by the run or "
         "by another one that is given too",
         "one other run reads it, or the data is within the memory of its processes",
         "advice: analyse where the data is, or keep it in memory",
         "neither the write nor the read is needed",
         "W",
         {},
         in_situ_fires,
         in_situ_held,
         in_situ_act},
    Rule{"56",
         "Another format",
         Scope::run,
         Class::advice,
         "at least 8 ranks write plain files of their own, at least 16 MiB; or at least 10000 "
         "plain writes below 4 KiB on average, at least 4 MiB",
         "names of no such format; not opened to append",
         "advice: HDF5 or netCDF, one file, large calls",
         "fewer files and calls; files that say what they hold",
         "S, Q",
         {},
         format_fires,
         format_held,
         format_act},
    Rule{"57",
         "Output behind an I/O server",
         Scope::run,
         Class::advice,
         "at least a tenth of the run is waiting for output, at least 64 MiB",
         "at least two ranks; known when the writes were made; a tenth of the run between them, "
         "or three bursts; little of it is read again",
         "advice: an I/O server, and what it can hide at most",
         "the shorter of output and computing between is hidden, at most",
         "X",
         {},
         server_fires,
         server_held,
         server_act},
    Rule{"58",
         "Pieces by turns, with MPI-IO",
         Scope::file,
         Class::advice,
         "at least 1000 independent calls below 64 KiB on average, by turns of several ranks "
         "through one file, without HDF5 and PnetCDF",
         "each rank makes as many",
         "advice: a view and collective calls",
         "few large requests; on one node with a local file system the page cache does the same",
         "N, E",
         {.ranks = 2, .parallel_fs = true},
         turns_fires,
         turns_held,
         turns_act},
};

}  // namespace

std::span<const Rule> beyond_rules() { return beyond_table; }

}  // namespace tailrace::intent::rules
