// SPDX-License-Identifier: Apache-2.0
// Reading a spool back. Nothing in it is trusted: every size and every reference is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intent/spool/layout_io.hpp"

namespace tailrace::intent::spool {

struct DecodedLibrary {
    std::string version, path;
    bool parallel = false;
};
struct DecodedSetting {
    Key key{};
    std::vector<std::uint64_t> values;
    std::uint64_t real = 0;  ///< bit k: values[k] holds the bits of a double
};
struct DecodedHint {
    std::string key, value;
    bool in_force = false;
    std::uint32_t turn = 0;
};
struct DecodedDeclared {
    DeclaredBy by{};
    std::string text;
};
struct DecodedMpiio {
    MpiioRecord record{};
    std::vector<DecodedHint> hints;  ///< in the order in which they were met
    std::vector<ViewRecord> views;
};
struct DecodedFile {
    FileRecord record{};
    std::string path;
    std::vector<std::string> names;
    std::vector<DecodedSetting> settings;
    std::vector<DecodedDeclared> declared;
    std::optional<DecodedMpiio> mpiio;
    std::optional<PosixRecord> posix, stream;
};
struct DecodedFilter {
    std::uint32_t id = 0;
    std::string name;
    std::vector<std::uint64_t> values;
};
struct DecodedShape {
    ShapeRecord record{};
    std::vector<std::uint64_t> stride, count, block;
};
/// A regular place, per dimension.
struct DecodedPlace {
    std::vector<std::uint64_t> start, stride, count, block;
};
struct DecodedTransfers {
    TransfersRecord record{};
    std::vector<std::uint64_t> first_start, first_count;
    std::vector<std::int64_t> step;
    std::vector<DecodedShape> shapes;
    std::vector<DecodedPlace> places;   ///< of the last life
    std::vector<DecodedPlace> earlier;  ///< of each one before; none: each was touched as a whole
};
struct DecodedDataset {
    DatasetRecord record{};
    std::string path;
    std::vector<std::string> names;
    std::vector<std::uint64_t> dims, largest, chunk;
    std::vector<DecodedFilter> filters;
    std::vector<DecodedSetting> settings;
    std::vector<DecodedDeclared> declared;
    std::vector<std::vector<std::uint64_t>> extents;  ///< after the first and the last extensions
    std::map<Direction, DecodedTransfers> transfers;
};
struct DecodedOutcome {
    Became became{};
    std::uint64_t count = 0;
    std::string rule{}, setting{}, file{}, dataset{}, value{}, reason{};
};
struct DecodedDelivered {
    DeliveredRecord record{};
    std::string file, dataset;
};
struct Spool {
    Header header{};
    std::string host, tailrace_version, program, folder, mpi;
    std::vector<std::string> command;
    std::vector<DecodedLibrary> libraries;
    std::map<std::uint64_t, DecodedFile> files;        ///< by offset
    std::map<std::uint64_t, DecodedDataset> datasets;  ///< by offset
    std::vector<DecodedOutcome> outcomes;
    std::vector<DecodedDelivered> delivered;
    std::vector<DecodedDeclared> declared;  ///< in the environment, of files by pattern
};

/// The spool in `bytes`.  [local]
/// @param where  for messages
/// @throws Error{bad_input} where it is no spool, of another version, or damaged: with the offset
[[nodiscard]] Spool decode(std::span<const std::byte> bytes, const std::string& where);
/// The spool in a file.  [local]
/// @throws Error{no_such_file | io | bad_input}
[[nodiscard]] Spool read_spool(const std::filesystem::path& path);

}  // namespace tailrace::intent::spool
