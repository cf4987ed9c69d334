// SPDX-License-Identifier: Apache-2.0
// The formats, a row for each: its names, its keys, and how it checks, writes and reads. All others
// ask here, so that a format is one folder and one row (docs/developer/add_a_format.md).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/config.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/file/names.hpp"
#include "formats/options.hpp"

namespace tailrace::formats {

/// A file that a run is going to write, for checks on one rank.
struct Planned {
    const core::Target& target;
    const std::filesystem::path& path;  ///< of the target, links followed
    int ranks;                          ///< of the run
};

/// All that a format hands in. The functions may take the format's own options where Options stand:
/// they turn into them. One that is empty has nothing to do; without `open_sink` and `open_source`
/// the format is known, and not in this build.
struct Format {
    std::vector<std::string> names;  ///< values of key `format` that mean it
    std::string missing{};           ///< in a build without it: what "was not found"
    std::string remedy{};            ///< and how it comes into the build
    /// Its keys, each with its names in `used_by`.  [local]
    std::function<void(core::KeyTable&)> register_keys{};
    /// Everything but chunks, which the kernel knows.  [local]
    /// @throws core::Error{Code::bad_input} where keys contradict each other
    std::function<Options(const core::Config&)> parse{};
    /// Tells the configuration what the keys came to; gives those that have no effect then. [local]
    std::function<std::vector<std::string>(core::Config&, const Options&)> settle{};
    /// Whether this build could do it; touches no file.  [local]
    /// @throws core::Error as open_sink would
    std::function<void(const Planned&, const Options&)> check{};
    /// Further names that it needs, where its file may be made.  [local]
    /// @throws core::Error as open_sink would
    std::function<void(const Planned&, const Options&, LeftOver)> check_names{};
    /// Whether it can hold the objects and attributes, as far as no library is needed.  [local]
    /// @throws core::Error{bad_input | unsupported} as define() would
    std::function<void(const Options&, const core::Schema&)> check_schema{};
    /// [collective]
    /// @throws core::Error on all ranks or on none
    std::function<std::unique_ptr<core::Sink>(const comm::Comm&, const core::Target&,
                                              const Options&, core::Phases&)>
        open_sink{};
    /// The links of the path are followed.  [collective]
    /// @throws core::Error on all ranks or on none
    std::function<std::unique_ptr<core::Source>(const comm::Comm&, const std::filesystem::path&,
                                                const Options&, core::Phases&)>
        open_source{};
    /// To be called before another thread opens files, by a thread that may call MPI.  [local]
    std::function<void()> begin{};
    /// To be called when no more files are open, by a thread that may call MPI.  [local]
    std::function<void()> before_end{};
};

/// All formats, in the order in which their keys are listed.  [local]
[[nodiscard]] const std::vector<Format>& all_formats();
/// The one with that name.  [local]
/// @throws core::Error{unsupported}
[[nodiscard]] const Format& format_named(const std::string& name);
/// The one of these options, which this build must have.  [local]
/// @throws core::Error{unsupported} with the file
[[nodiscard]] const Format& format_of(const Options& options, const std::filesystem::path& path);

/// Adds a format to those of the house, before keys are registered and while no other thread
/// asks.  [local]
/// @throws core::Error{bad_input} where a name is taken
void add_format(Format format);

}  // namespace tailrace::formats
