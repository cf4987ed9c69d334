// SPDX-License-Identifier: Apache-2.0
// What only another program can do: fewer bytes, no file at all, another format, other ranks that
// write: 54 to 57. They are not in the published table.
#include <algorithm>
#include <array>

#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

using plan::Class;

Proposal advice(std::string text) { return {{}, plan::When::any, {}, std::move(text), {}}; }

std::optional<Reason> reduction_fires(const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const std::uint64_t written = moved_bytes(dataset.writes);
    if (!dataset.type || dataset.type->type_class != "float" || !dataset.filters.empty() ||
        written < 64 * mib)
        return std::nullopt;
    Reason reason{say(size(written), " of floating-point numbers of ", type_bytes(dataset),
                      " bytes are written as they are"),
                  {}};
    return reason.note("dataset.bytes_written", written, "bytes")
        .note("dataset.type_bytes", type_bytes(dataset), "bytes");
}

Proposal reduction_act(const Subject& s) {
    return advice(say(
        "write less: a compressor with a bound for the error (zfp, SZ3), ",
        type_bytes(*s.dataset) > 4 ? "single precision, " : "",
        "fewer fields or fewer steps; which error does no harm only the author of the data knows"));
}

bool read_back(const Subject& s) {
    return std::any_of(s.file.datasets.begin(), s.file.datasets.end(), [](const Dataset& dataset) {
        return dataset.read_after_write && dataset.read_after_write->any.value_or(false);
    });
}

std::optional<Reason> in_situ_fires(const Subject& s) {
    if (bytes_written(s) < 64 * mib || bytes_read(s) < bytes_written(s) / 2 || !read_back(s))
        return std::nullopt;
    Reason reason{say(size(bytes_written(s)), " are written and ", size(bytes_read(s)),
                      " read back in the same run"),
                  {}};
    return reason.note("file.bytes_written", bytes_written(s), "bytes")
        .note("file.bytes_read", bytes_read(s), "bytes");
}

std::optional<Held> in_situ_held(const Subject& s) {
    if (s.reliability == Reliability::durable)
        return Held{"reliability", "the file is to last: it is written anyway"};
    return std::nullopt;
}

Proposal in_situ_act(const Subject&) {
    return advice(
        "keep the data in memory between the two, or look at it where it is made (in situ: a "
        "function that the simulation calls, ParaView Catalyst, Ascent, the streaming engines of "
        "ADIOS2): the file is only a way from one part of the run to the other");
}

bool has_format(const File& file) { return file.hdf5 || file.mpiio || file.pnetcdf; }

std::optional<Reason> format_fires(const Subject& s) {
    if (has_format(s.file)) return std::nullopt;
    std::uint64_t count = 0, bytes = 0;
    for (const auto* layer : {&s.file.posix, &s.file.stdio})
        if (*layer && (*layer)->writes) {
            count += (*layer)->writes->calls.value_or(0);
            bytes += (*layer)->writes->bytes.value_or(0);
        }
    // stdio gathers: its calls are the program's, and cost time, whatever the system sees.
    if (count < 10000 || bytes / count >= 4 * kib) return std::nullopt;
    Reason reason{say(count, " writes of ", size(bytes / count), " without a library for data"),
                  {}};
    return reason.note("file.writes", count, "calls").note("file.bytes_written", bytes, "bytes");
}

Proposal format_act(const Subject&) {
    return advice(
        "another format: values gathered into pieces of 1 MiB and more and written as numbers, "
        "into "
        "a dataset of HDF5 or netCDF that all ranks share, say their place and type, and need "
        "neither text nor a file per rank");
}

double seconds_of_writes(const File& file) {
    double seconds = 0;
    for (const Dataset& dataset : file.datasets)
        if (dataset.writes) seconds += dataset.writes->elapsed_s.value_or(0);
    if (seconds > 0) return seconds;
    if (file.mpiio && file.mpiio->writes) return file.mpiio->writes->elapsed_s.value_or(0);
    if (file.posix && file.posix->writes) return file.posix->writes->elapsed_s.value_or(0);
    return 0;
}

bool writes_first(const Subject& s) {
    for (const File& file : s.profile.files)
        if (seconds_of_writes(file) > 0) return file.path == s.file.path;
    return false;
}

/// Said once, of the first file that is written: it is about the whole run.
std::optional<Reason> server_fires(const Subject& s) {
    const double elapsed = s.profile.run.elapsed_s.value_or(0);
    if (ranks(s) < 2 || elapsed <= 0 || !writes_first(s)) return std::nullopt;
    double seconds = 0;
    for (const File& file : s.profile.files) seconds += seconds_of_writes(file);
    const double share = seconds / static_cast<double>(ranks(s)) / elapsed;
    // One that does nothing but write has nothing to go on with.
    if (share < 0.2 || share > 0.9) return std::nullopt;
    Reason reason{
        say("of the time of ", ranks(s), " ranks ", percent(share), " is spent in writes"), {}};
    return reason.note("run.share_of_writes", share).note("run.elapsed_s", elapsed, "s");
}

Proposal server_act(const Subject&) {
    return advice(
        "an asynchronous I/O server: a few ranks take the data over and write it, while the others "
        "compute the next step (XIOS, pFIO of MAPL, the asynchronous engines of ADIOS2)");
}

const std::array table{
    Rule{"54",
         "Fewer bytes",
         Scope::dataset,
         Class::advice,
         "64 MiB and more of floating-point numbers are written without filters",
         "",
         "advice: compression with a bounded error, fewer fields or steps",
         "the bytes of a field shrink to a half and less; rule 30 compresses without an error",
         "V",
         {},
         reduction_fires,
         nullptr,
         reduction_act},
    Rule{"55",
         "Analysis where the data is made",
         Scope::file,
         Class::advice,
         "64 MiB and more are written and at least half of it read back in the same run",
         "a file that is not to last",
         "advice: in situ, or memory instead of a file",
         "neither the writing nor the reading takes place",
         "W",
         {},
         in_situ_fires,
         in_situ_held,
         in_situ_act},
    Rule{"56",
         "Another format",
         Scope::file,
         Class::advice,
         "10000 and more writes of less than 4 KiB each, through no library for data",
         "",
         "advice: HDF5 or netCDF, in large pieces",
         "a thousandth of the calls, and no text to convert",
         "T",
         {},
         format_fires,
         nullptr,
         format_act},
    Rule{"57",
         "Others write",
         Scope::file,
         Class::advice,
         "several ranks spend 20 to 90 % of the run in writes",
         "",
         "advice: an asynchronous I/O server",
         "at best the time of the writes is gone, for the ranks that are set aside",
         "X",
         {},
         server_fires,
         nullptr,
         server_act},
};

}  // namespace

std::span<const Rule> beyond_rules() { return table; }

}  // namespace tailrace::intent::rules
