// SPDX-License-Identifier: Apache-2.0
// The steps of merge(). Internal to src/intent/spool.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intent/profile/model.hpp"
#include "intent/spool/decode.hpp"

namespace tailrace::intent::spool {

/// A process of the run, and where its clock stands.
struct Member {
    std::uint64_t id = 0;
    double start_s = 0;  ///< since the start of the run
};

/// Gives each process its id: a process leaves one spool per hook.
class ProcessIds {
public:
    /// @return the id, and whether it is a new one
    [[nodiscard]] std::pair<std::uint64_t, bool> of(const Spool& spool);

private:
    struct Known {
        std::string program;
        std::uint32_t hooks = 0;
        std::uint64_t id = 0;
    };
    std::map<std::pair<std::string, std::uint32_t>, std::vector<Known>> x_known;
    std::uint64_t x_next = 0;
};

/// What one process did with one file or dataset.
template <typename Record>
struct Part {
    Member member;
    const Record* record = nullptr;
};

[[nodiscard]] double seconds(std::int64_t ns);
/// The earliest begin and the latest end; none where there was nothing.
void widen(std::optional<Span>& all, const Period& one, const Member& member);
void add(Count& sum, std::uint64_t value);
[[nodiscard]] std::string hexadecimal(std::uint64_t value);
void add_settings(Settings& all, const std::vector<DecodedSetting>& settings);

/// What MPI-IO, or system calls, or streams saw; nothing where none of them did.
[[nodiscard]] std::optional<MpiioFile> mpiio_file(const std::vector<Part<DecodedFile>>& parts);
/// What MPI-IO shows of PnetCDF; nothing where no header of a classic file was begun or grew.
[[nodiscard]] std::optional<PnetcdfFile> pnetcdf_file(const std::vector<Part<DecodedFile>>& parts);
[[nodiscard]] std::optional<PosixFile> posix_file(
    const std::vector<Part<DecodedFile>>& parts,
    const std::optional<PosixRecord> DecodedFile::*layer);
[[nodiscard]] Hdf5File hdf5_file(const std::vector<Part<DecodedFile>>& parts);
/// @param path  the dataset's; the parts may know it under other names too
[[nodiscard]] Dataset dataset(const std::string& path,
                              const std::vector<Part<DecodedDataset>>& parts);
[[nodiscard]] std::optional<Transfers> transfers(Direction direction, const Extents& dims,
                                                 const std::vector<Part<DecodedDataset>>& parts);
/// The transfers of one direction; nullptr: there were none.
[[nodiscard]] const DecodedTransfers* of(const DecodedDataset& dataset, Direction direction);
[[nodiscard]] bool all_places_known(const DecodedTransfers& from);
/// What all processes touched together, whole chunks included.
[[nodiscard]] Coverage coverage(Direction direction, const Extents& dims,
                                const std::vector<Part<DecodedDataset>>& parts);
[[nodiscard]] ReadAfterWrite read_after_write(const Extents& dims,
                                              const std::vector<Part<DecodedDataset>>& parts);

/// What was declared of the file, on lists and by the program in other ways; what is no declaration
/// is left out, and noted.
void add_declared(File& made, const std::vector<Part<DecodedFile>>& parts,
                  std::vector<std::string>& notes);
void add_declared(Dataset& made, const std::vector<Part<DecodedDataset>>& parts,
                  std::vector<std::string>& notes);
/// What environments declared of files by pattern.
/// @param members  of the spools, in their order
void add_declared(Profile& profile, const std::vector<Part<Spool>>& members);

}  // namespace tailrace::intent::spool
