// SPDX-License-Identifier: Apache-2.0
// The configuration keys of the formats, and Options made from them. Each format's keys and their
// meaning stand in its folder (hdf5/options.cpp and so on); none of this needs a foreign library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "formats/options.hpp"

namespace tailrace::formats {

namespace hdf5 {
void register_keys(core::KeyTable& table);  ///< [local]
/// Everything but `chunks`, which the kernel knows.  [local]
/// @throws core::Error{Code::bad_input} where keys contradict each other
[[nodiscard]] Options options_from(const core::Config& config);
[[nodiscard]] std::vector<std::string> settle(core::Config& config, const Options& options);
}  // namespace hdf5

namespace netcdf4 {
void register_keys(core::KeyTable& table);
[[nodiscard]] Options options_from(const core::Config& config);
}  // namespace netcdf4

namespace mpiio {
void register_keys(core::KeyTable& table);
[[nodiscard]] Options options_from(const core::Config& config);
}  // namespace mpiio

namespace pnetcdf {
void register_keys(core::KeyTable& table);
[[nodiscard]] Options options_from(const core::Config& config);
}  // namespace pnetcdf

namespace posix {
void register_keys(core::KeyTable& table);
[[nodiscard]] Options options_from(const core::Config& config);
}  // namespace posix

/// A key of one format; one that another format has described needs no help.  [local]
[[nodiscard]] core::Key key_of(const char* format, const char* group, const char* name,
                               core::Shape shape, const char* help = "");
/// `BYTES [THRESHOLD]` of key `alignment` for the formats over HDF5.  [local]
struct Alignment {
    std::uint64_t bytes = 0, threshold_bytes = 0;  ///< 0 bytes: off
};
/// @throws core::Error{Code::bad_input}
[[nodiscard]] Alignment alignment_of(const core::Config& config);
/// A word of a key as a whole number.  [local]
/// @throws core::Error{Code::bad_input}
[[nodiscard]] std::uint64_t whole_number(const core::Config& config, const char* key,
                                         const std::string& word);
/// The filters of key `filter`, in order.  [local]
/// @throws core::Error{Code::bad_input}
[[nodiscard]] std::vector<hdf5::Filter> filters_of(const core::Config& config);

/// Bytes of key `alignment` for the raw formats, which have no threshold.  [local]
/// @throws core::Error{Code::bad_input}
[[nodiscard]] std::uint64_t raw_alignment(const core::Config& config);
/// The hints of key `hint`, each short enough for this MPI.  [local]
/// @throws core::Error{Code::bad_input}
[[nodiscard]] Hints hints_of(const core::Config& config);
/// `format` and the keys of all formats.  [local]
void register_keys(core::KeyTable& table);
/// The Options of the format that `format` names, without chunks.  [local]
/// @throws core::Error{Code::bad_input} where a key was given that this format does not use; flags
///         apart, so that one input can be tried with every format
[[nodiscard]] Options options_from(const core::Config& config);
/// Tells the configuration what the keys came to; gives the keys that were given and have no effect
/// with the chosen format.  [local]
[[nodiscard]] std::vector<std::string> settle(core::Config& config, const Options& options);
/// Whether the chosen format uses a key.  [local]
[[nodiscard]] bool in_use(const core::Config& config, const std::string& key);

}  // namespace tailrace::formats
