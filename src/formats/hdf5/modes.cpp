// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/modes.hpp"

namespace tailrace::formats::hdf5 {

namespace {

constexpr const char* cause_texts[] = {"independent transfer asked for",
                                       "data type conversion",
                                       "data transform",
                                       "HDF5_MPI_OPT_TYPES is set",
                                       "data space is neither simple nor scalar",
                                       "dataset is neither contiguous nor chunked",
                                       "filtered writes in parallel are disabled",
                                       "error while checking",
                                       "selection I/O was not possible"};

void append(std::string& list, const std::string& text) {
    if (!list.empty()) list += ", ";
    list += text;
}

}  // namespace

void TransferModes::note(const h5::Id& transfer) {
    H5D_mpio_actual_io_mode_t io = H5D_MPIO_NO_COLLECTIVE;
    H5D_mpio_actual_chunk_opt_mode_t chunk = H5D_MPIO_NO_CHUNK_OPTIMIZATION;
    std::uint32_t here = 0, anywhere = 0;
    const std::string where = "transfer";
    h5::check(H5Pget_mpio_actual_io_mode(transfer.get(), &io), "H5Pget_mpio_actual_io_mode", where);
    h5::check(H5Pget_mpio_actual_chunk_opt_mode(transfer.get(), &chunk),
              "H5Pget_mpio_actual_chunk_opt_mode", where);
    h5::check(H5Pget_mpio_no_collective_cause(transfer.get(), &here, &anywhere),
              "H5Pget_mpio_no_collective_cause", where);
    ++x_counts[asked_collective];
    // A rank without elements reports mode 0 beside ranks that were collective: only bits count.
    if ((io & H5D_MPIO_CHUNK_INDEPENDENT) != 0) ++x_counts[chunk_independent];
    if ((io & H5D_MPIO_CHUNK_COLLECTIVE) != 0) ++x_counts[chunk_collective];
    if ((io & H5D_MPIO_CONTIGUOUS_COLLECTIVE) != 0) ++x_counts[contiguous_collective];
    if (chunk == H5D_MPIO_LINK_CHUNK) ++x_counts[linked];
    if (chunk == H5D_MPIO_MULTI_CHUNK) ++x_counts[multi];
    for (std::size_t bit = 0; bit < causes; ++bit)
        if (((here | anywhere) >> bit & 1U) != 0) ++x_counts[first_cause + bit];
}

TransferModes::Verdict TransferModes::agreed(const comm::Comm& comm) const {
    auto sums = x_counts;
    comm.reduce(sums, comm::Reduce::sum);
    Verdict verdict;
    if (sums[independent] + sums[asked_collective] == 0) return verdict;
    for (std::size_t bit = 0; bit < causes; ++bit)
        if (sums[first_cause + bit] != 0) append(verdict.cause, cause_texts[bit]);
    const bool some = sums[chunk_collective] + sums[contiguous_collective] != 0;
    verdict.collective =
        some && sums[independent] == 0 && sums[chunk_independent] == 0 && verdict.cause.empty();
    if (sums[contiguous_collective] != 0) append(verdict.mode, "contiguous collective");
    std::string how;
    if (sums[linked] != 0) append(how, "linked chunks");
    if (sums[multi] != 0) append(how, "chunk by chunk");
    if (!how.empty()) how = " (" + how + ")";
    if (sums[chunk_collective] != 0 && sums[chunk_independent] != 0)
        append(verdict.mode, "chunk mixed" + how);
    else if (sums[chunk_collective] != 0)
        append(verdict.mode, "chunk collective" + how);
    else if (sums[chunk_independent] != 0)
        append(verdict.mode, "chunk independent" + how);
    if (sums[independent] != 0 || verdict.mode.empty()) append(verdict.mode, "independent");
    return verdict;
}

}  // namespace tailrace::formats::hdf5
