// SPDX-License-Identifier: Apache-2.0
// Where a result comes from: the machine, its load, the file system and the build. No foreign API
// is called here; what MPI and HDF5 say about themselves is handed in by who knows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::core {

/// The file system that holds a path, as the kernel tells it.
struct FileSystem {
    std::string type = "unknown";  ///< "ext4", "tmpfs", "lustre", "gpfs", "nfs4", ...; "unknown"
    std::string mount_point;
    std::string mount_options;     ///< of the mount and of its super block, comma separated
    std::string source;            ///< device or server
    std::uint64_t free_bytes = 0;  ///< available to this user
    std::uint64_t total_bytes = 0;
};

/// The file system of `path`, or of its nearest existing parent.  [local]
[[nodiscard]] FileSystem file_system_of(const std::filesystem::path& path);

/// Memory of the machine and its page cache now, in bytes (0: not known).
struct MachineMemory {
    std::uint64_t total_bytes = 0;
    std::uint64_t available_bytes = 0;
    std::uint64_t page_cache_bytes = 0;
    std::uint64_t dirty_bytes = 0;  ///< dirty and in writeback: not yet on the device
};
[[nodiscard]] MachineMemory machine_memory();  ///< [local]

/// The name of this machine, "unknown host" where it has none.  [local]
[[nodiscard]] std::string host_name();

/// Memory of this process now and at its peak (VmRSS, VmHWM), in bytes; 0: not known.
struct ProcessMemory {
    std::uint64_t resident_bytes = 0;
    std::uint64_t peak_bytes = 0;
};
[[nodiscard]] ProcessMemory process_memory();  ///< [local]

/// Everything that a figure needs beside it. `collect_context` fills the first part.
struct Context {
    std::string host;
    std::string os_kernel;  ///< "Linux 6.1.0 x86_64"
    int cores = 0;          ///< of the machine, online
    double load_1m = 0;
    MachineMemory memory;
    FileSystem file_system;
    std::vector<std::string> command;                ///< as `without_secrets` shows it
    std::map<std::string, std::string> environment;  ///< what `is_recorded` lets through
    std::string compiler;
    std::string tailrace_version;
    std::string commit;

    // The caller's part.
    std::map<std::string, std::string> striping;  ///< in force; empty: not measured or none
    std::string mpi_library;                      ///< "Open MPI 4.1.4"; empty: no MPI
    std::string mpi_io;        ///< "OMPIO 4.1.4", "ROMIO"; empty: none or not known
    std::string hdf5_version;  ///< "2.2.0"; empty: no HDF5 in this build
    int ranks = 1;
    int nodes = 1;
    int ranks_per_node = 1;  ///< the greatest
};

/// The first part of a Context, for output below `folder`.  [local]
[[nodiscard]] Context collect_context(const std::filesystem::path& folder);

/// Whether an environment variable stands in Records: what steers MPI, HDF5, threads and Tailrace,
/// and what tells of a batch job, by a list of known names and families; never what may be a
/// secret, by its name (KEY, TOKEN, SECRET, PASS, JWT, CRED ...) or by a value that holds
/// user:password@host, scheme://secret@host or an assignment to such a name.  [local]
[[nodiscard]] bool is_recorded(std::string_view name, std::string_view value);

/// The words of a command with "***" in place of what may be a secret by the same rules: in place
/// of the value of key=value or of the whole word, and of what follows an option with such a name.
/// [local]
[[nodiscard]] std::vector<std::string> without_secrets(const std::vector<std::string>& command);

/// Version of Tailrace, its commit and the compiler, as built.  [local]
[[nodiscard]] std::string_view version() noexcept;
[[nodiscard]] std::string_view commit() noexcept;    ///< [local]
[[nodiscard]] std::string_view compiler() noexcept;  ///< [local]

/// "2025-11-20T10:43:07.125Z", now.  [local]
[[nodiscard]] std::string utc_now();

/// The entry of a mountinfo text that holds `path` (absolute, normal); nothing where none does.
/// Apart, so that it can be tested.  [local]
[[nodiscard]] std::optional<FileSystem> find_mount(std::string_view mountinfo,
                                                   const std::filesystem::path& path);

}  // namespace tailrace::core
