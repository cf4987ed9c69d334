// SPDX-License-Identifier: Apache-2.0
// What a rule looks at: a run, one of its files, maybe one of that file's datasets, and what
// follows from the numbers of the profile. Whatever is not known stays absent.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "intent/intents/model.hpp"
#include "intent/plan/model.hpp"
#include "intent/profile/model.hpp"

namespace tailrace::intent::rules {

enum class Reliability { durable, recomputable, scratch };
enum class MpiIo { not_known, romio, ompio };

struct Subject {
    const Profile& profile;
    const File& file;                  ///< of a rule of runs: one without anything
    const Dataset* dataset = nullptr;  ///< null: a rule of files
    Reliability reliability = Reliability::durable;
    std::set<plan::Class> allowed{plan::Class::safe, plan::Class::layout};
    std::uint64_t read_elsewhere = 0;     ///< bytes of the file that other runs only read
    std::uint64_t readers_elsewhere = 0;  ///< how many runs that are
};

/// One kind of transfers (a shape with its calls) of a dataset.
struct Access {
    Extents length, stride;
    std::uint64_t calls = 0, bytes = 0;  ///< bytes: of one call
    Extents block{};
};

// --- the run -------------------------------------------------------------------------------------
[[nodiscard]] std::uint64_t ranks(const Subject& s);  ///< at least 1  [local]
/// Nodes of the run, where that is known.  [local]
[[nodiscard]] std::optional<std::uint64_t> known_nodes(const Subject& s);
[[nodiscard]] std::uint64_t nodes(const Subject& s);  ///< 1 where it is not known  [local]
/// " on 4 nodes"; empty where it is not known.  [local]
[[nodiscard]] std::string on_nodes(const Subject& s);
[[nodiscard]] std::uint64_t ranks_per_node(const Subject& s);  ///< rounded up  [local]
/// Memory that the caches of one process may have: a quarter of its part of the node, or 256 MiB
/// where the memory is not known.  [local]
[[nodiscard]] std::uint64_t memory_of_process(const Subject& s);
/// {2, 2}; the oldest of the run's; {0, 0} where it is not known.  [local]
[[nodiscard]] std::pair<int, int> hdf5_version(const Subject& s);
[[nodiscard]] MpiIo mpi_io(const Subject& s);  ///< as recorded, or from the hints in force  [local]

// --- the file ------------------------------------------------------------------------------------
/// Ranks that open the file together; 1 for a serial one.  [local]
[[nodiscard]] std::uint64_t file_ranks(const Subject& s);
[[nodiscard]] bool parallel(const Subject& s);  ///< opened with MPI-IO  [local]
/// Whether the file (the dataset) was created in this run, and what tells.  [local]
[[nodiscard]] Statement creation(const Subject& s);
[[nodiscard]] bool created(const Subject& s);  ///< that says yes, and is no guess  [local]
/// The same of one of the file's datasets.  [local]
[[nodiscard]] bool created(const Subject& s, const Dataset& dataset);
[[nodiscard]] std::string fs_type(const Subject& s);  ///< empty: not known  [local]
[[nodiscard]] bool parallel_fs(const Subject& s);     ///< lustre, gpfs, beegfs, ...  [local]
/// Stripe or block of its file system.  [local]
[[nodiscard]] Count fs_block(const Subject& s);
/// The stripe alone, which Lustre does not tell as its block.  [local]
[[nodiscard]] Count fs_stripe(const Subject& s);
/// Bytes written to or, where more, read from its datasets, or by the layers below.  [local]
[[nodiscard]] std::uint64_t bytes_written(const Subject& s);
[[nodiscard]] std::uint64_t bytes_read(const Subject& s);  ///< [local]
/// How long the file is in the end: up to the last byte written below its library; else by its
/// datasets, each once, without those that are packed, and 512 for each object.  [local]
[[nodiscard]] std::uint64_t bytes_at_end(const Subject& s);
/// Processes that make each collective call on its metadata.  [local]
[[nodiscard]] std::uint64_t callers(const Subject& s);
/// Operations on metadata of a kind ("attribute", ...; empty: all) and a sort. What ranks create
/// together is one object.  [local]
[[nodiscard]] std::uint64_t metadata(const Subject& s, const std::string& kind,
                                     Count Operations::*sort);
[[nodiscard]] std::uint64_t metadata(const Subject& s);  ///< all of them  [local]
/// Whether all processes made the collective kind of calls alike: counted, or false.  [local]
[[nodiscard]] bool same_order(const Subject& s);
/// All ranks made the same reads and writes of datasets in the same order, counted.
[[nodiscard]] bool same_transfers(const Subject& s);
/// All ranks opened the same and asked the same in the same order, counted.
[[nodiscard]] bool same_accesses(const Subject& s);
/// Calls of the MPI-IO layer in one direction: collective ones, and those of a rank by itself.
struct MpiioCalls {
    std::uint64_t alone = 0, together = 0;
};
[[nodiscard]] MpiioCalls mpiio_calls(const std::optional<MpiioTransfers>& one);  ///< [local]
/// Calls of the MPI-IO layer that were (true) or were not collective.  [local]
[[nodiscard]] std::uint64_t mpiio_calls(const Subject& s, bool collective);
[[nodiscard]] bool uses_pnetcdf(const Subject& s);  ///< [local]
/// Dominant size of system calls that write.  [local]
[[nodiscard]] Count posix_write_bytes(const Subject& s);

// --- the dataset ---------------------------------------------------------------------------------
/// How many dimensions; 0 where that is not known.  [local]
[[nodiscard]] std::size_t rank_of(const Dataset& dataset);
/// The extent of each dimension is known: a Darshan log has their product alone.  [local]
[[nodiscard]] bool extents_known(const Dataset& dataset);
[[nodiscard]] Count elements(const Dataset& dataset);            ///< [local]
[[nodiscard]] std::uint64_t type_bytes(const Dataset& dataset);  ///< 0: not known  [local]
[[nodiscard]] Count size_bytes(const Dataset& dataset);          ///< without filters  [local]
[[nodiscard]] Count chunk_bytes(const Dataset& dataset);         ///< absent: no chunks  [local]
[[nodiscard]] bool chunked(const Dataset& dataset);              ///< [local]
[[nodiscard]] bool contiguous(const Dataset& dataset);           ///< [local]
[[nodiscard]] bool extendible(const Dataset& dataset);           ///< or it was extended  [local]
/// The shape that moved the most bytes; nothing where shapes are not known.  [local]
[[nodiscard]] std::optional<Access> dominant(const std::optional<Transfers>& transfers,
                                             const Dataset& dataset);
/// Bytes of a usual call: of the dominant shape, else the mean; 0 for none.  [local]
[[nodiscard]] std::uint64_t call_bytes(const std::optional<Transfers>& transfers,
                                       const Dataset& dataset);
[[nodiscard]] std::uint64_t calls(const std::optional<Transfers>& transfers);        ///< [local]
[[nodiscard]] std::uint64_t moved_bytes(const std::optional<Transfers>& transfers);  ///< [local]
/// H5Dread and H5Dwrite of all datasets and processes.  [local]
[[nodiscard]] std::uint64_t hdf5_calls(const Subject& s);
/// Every call of the dataset moved all of it.  [local]
[[nodiscard]] bool only_whole(const std::optional<Transfers>& transfers, const Dataset& dataset);
/// Chunks that a transfer of this shape touches, at least.  [local]
[[nodiscard]] std::uint64_t chunks_touched(const Access& access, const Dataset& dataset);
/// The chunk cache that it had: the program's, or the library's default.  [local]
[[nodiscard]] std::uint64_t cache_in_force(const Subject& s);
/// Each process made as many calls for as many bytes, and none was idle: counted, or false. [local]
[[nodiscard]] bool balanced(const std::optional<Transfers>& transfers, const Subject& s);
/// Numbers, and texts and the like of a fixed length: a write of an element writes all of it. Of a
/// compound it may write some members.  [local]
[[nodiscard]] bool plain_type(const Dataset& dataset);
/// Whether every element was written, and each as a whole: proven, or false.  [local]
[[nodiscard]] bool fully_written(const Dataset& dataset);
/// What was asked for on the list of the file or the dataset, by the program or a library.  [local]
[[nodiscard]] std::optional<Setting> value_asked_for(const Subject& s, const std::string& key);
/// The program gave this setting a value of its own, on the file or the dataset: chunk caches that
/// netCDF-C and PyTables ask for by themselves do not count.  [local]
[[nodiscard]] bool program_sets(const Subject& s, const std::string& key);
[[nodiscard]] std::optional<Setting> program_value(const Subject& s, const std::string& key);

}  // namespace tailrace::intent::rules
