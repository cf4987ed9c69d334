// SPDX-License-Identifier: Apache-2.0
// Who really wrote: from the system calls of all ranks, not from what was asked for.
#include <algorithm>
#include <limits>

#include "core/units.hpp"
#include "runner/text.hpp"

namespace tailrace::runner {

namespace {

struct Writers {
    std::vector<int> ranks;
    std::uint64_t calls = 0, bytes = 0, smallest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t largest = 0, most_calls = 0,
                  fewest_calls = std::numeric_limits<std::uint64_t>::max();
};

void count(Writers& writers, int rank, const core::CallTally& tally) {
    if (tally.bytes_done == 0) return;
    writers.ranks.push_back(rank);
    writers.calls += tally.calls;
    writers.bytes += tally.bytes_done;
    writers.smallest = std::min(writers.smallest, tally.smallest);
    writers.largest = std::max(writers.largest, tally.largest);
    writers.most_calls = std::max(writers.most_calls, tally.calls);
    writers.fewest_calls = std::min(writers.fewest_calls, tally.calls);
}

std::string setting(const core::Record& record, const char* key) {
    const auto found = record.file.settings.find(key);
    return found == record.file.settings.end() ? "" : found->second;
}

/// Threads of HDF5 write for all ranks then, at any time: the phase of their rank tells nothing.
bool subfiled(const core::Record& record) { return setting(record, "driver") == "subfiling"; }

/// The calls made while data was written; all calls where a format writes at other times only, and
/// where the phases do not tell.
Writers data_writers(const core::Record& record) {
    Writers in_write, ever;
    for (const core::WriterReport& writer : record.writers) {
        const auto found = writer.by_phase.find("write");
        if (found != writer.by_phase.end()) count(in_write, writer.rank, found->second.write);
        count(ever, writer.rank, writer.total.write);
    }
    return in_write.bytes > 0 && !subfiled(record) ? in_write : ever;
}

std::uint64_t total_bytes(const core::Record& record) {
    std::uint64_t bytes = 0;
    for (const core::WriterReport& writer : record.writers) bytes += writer.total.write.bytes_done;
    return bytes;
}

std::string range(std::uint64_t low, std::uint64_t high) {
    return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

std::string who_wrote_text(const core::Record& record) {
    if (!record.writers_measured) return labelled("Who wrote", "not measured");
    const Writers data = data_writers(record);
    if (data.ranks.empty()) return labelled("Who wrote", "no rank");
    const bool one = data.ranks.size() == 1;
    std::string text =
        std::to_string(data.ranks.size()) + " of " + std::to_string(record.context.ranks) +
        " ranks" + (one ? " (rank " + std::to_string(data.ranks.front()) + ")" : "") + ", " +
        range(data.fewest_calls, data.most_calls) + " calls each of " +
        range(data.smallest, data.largest) + " bytes, " + core::bytes_text(data.bytes) + " in all";
    if (subfiled(record))
        return labelled("Who wrote", text + ", metadata included (I/O concentrators, " +
                                         setting(record, "subfiles") + " subfiles in stripes of " +
                                         setting(record, "subfile_stripe_bytes") + " bytes)") +
               labelled("Written besides the data", "not measured (threads write at any time)");
    const std::uint64_t rest = total_bytes(record) - data.bytes;
    return labelled("Who wrote", text) +
           labelled("Written besides the data", core::bytes_text(rest));
}

namespace {

/// Which rank stores a byte follows from the stripes: a file within one is stored by one rank.
std::string subfiling_advice(const core::Record& record) {
    if (setting(record, "subfiles") == "1")
        return ": subfile 1 asks for one I/O concentrator.\n"
               "To change it: subfile N, with N up to " +
               std::to_string(record.context.ranks) + ".\n";
    return ": the file lies within one stripe of " + setting(record, "subfile_stripe_bytes") +
           " bytes, so that one of " + setting(record, "subfiles") +
           " I/O concentrators stored it all.\n"
           "To change it: H5FD_SUBFILING_STRIPE_SIZE=<bytes> in the environment of all ranks.\n";
}

}  // namespace

std::string advice_text(const core::Record& record) {
    if (!record.writers_measured || record.context.ranks < 2) return {};
    const Writers data = data_writers(record);
    if (data.ranks.size() != 1) return {};
    const std::string ranks = std::to_string(record.context.ranks);
    std::string text = "One rank of " + ranks + " did all the writing";
    if (subfiled(record)) return text + subfiling_advice(record);
    const std::string& mpi_io = record.mpi_io.implementation;
    if (!record.transfers.collective_requested) return text + ".\n";
    text += ": collective writes go through aggregators, and there is one.\n";
    if (mpi_io.find("OMPIO") != std::string::npos)
        return text + "To change it for OMPIO: mpiexec --mca io_ompio_num_aggregators " + ranks +
               " (or hint cb_nodes=" + ranks +
               "), or write independently (without collective_write).\n"
               "With several aggregators verify the file: OMPIO has been seen to lose data then.\n";
    if (mpi_io.find("ROMIO") != std::string::npos)
        return text + "To change it for ROMIO: hint cb_nodes=" + ranks +
               " and hint cb_config_list=*:" + std::to_string(record.context.ranks_per_node) +
               ", or write independently (without collective_write).\n";
    return text +
           "To change it: raise the number of aggregators of your MPI-IO (hint cb_nodes=N), "
           "or write independently (without collective_write).\n";
}

}  // namespace tailrace::runner
