// SPDX-License-Identifier: Apache-2.0
// The HDF5 file below another library of this process (netCDF-4); free of hdf5.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/error.hpp"
#include "core/schema.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::hdf5 {

/// While it lives HDF5 prints nothing by itself, and forgets what it would have printed.
class Silence {
public:
    Silence() noexcept;
    ~Silence();
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    /// What HDF5 says of its last failure; empty: nothing.  [local]
    [[nodiscard]] static std::string last_failure();

private:
    void (*x_function)() = nullptr;
    void* x_data = nullptr;
};

/// What HDF5 would have printed while it lives, for libraries that clear its stack before they
/// return. Within a Silence.
class Overheard {
public:
    Overheard() noexcept;
    ~Overheard();
    Overheard(const Overheard&) = delete;
    Overheard& operator=(const Overheard&) = delete;
    [[nodiscard]] const std::string& text() const noexcept { return x_text; }  ///< [local]

private:
    std::string x_text;
};

/// Closes the descriptor of a file that was removed. If HDF5 could not close it, it may take it for
/// open still, by its inode number, and would refuse the next file that gets that: then the number
/// is held, for as long as 32 others fail.  [local]
void give_up(int descriptor, bool closed) noexcept;
/// Ids of the files that are open in this process.  [local]
[[nodiscard]] std::vector<std::int64_t> open_files();

/// What reading a dataset takes.
struct Readable {
    std::optional<core::Error> why_not;  ///< why this process cannot
    core::Extents whole_chunk;  ///< of chunks that are read as a whole, for their filters; or empty
};

/// A file that another library has open: looked at and given away, never closed here.
class Beneath {
public:
    Beneath() noexcept = default;
    /// The file that was opened since `before` was taken; none where there is none.  [local]
    explicit Beneath(const std::vector<std::int64_t>& before);

    /// Whether there is one: CDF-5 has none below it.  [local]
    [[nodiscard]] explicit operator bool() const noexcept { return x_file >= 0; }
    /// redirect_to_memory (formats/hdf5/abandon.hpp).  [local]
    void redirect_to_memory() const noexcept;
    [[nodiscard]] int redirect_plain_to_memory() const noexcept;  ///< [local]
    /// try_to_close (formats/hdf5/abandon.hpp)
    /// @throws core::Error
    void try_to_close(const std::string& name) const;
    /// Makes a dataset longer.  [collective] with a parallel driver
    /// @throws core::Error
    void set_extent(const std::string& path, const core::Extents& dims) const;
    /// Bytes that the datasets have in the file.  [collective] with a parallel driver
    /// @throws core::Error
    [[nodiscard]] std::uint64_t stored_bytes(const std::vector<std::string>& paths) const;

    /// prepare_to_read (formats/hdf5/readable.hpp) for a dataset.
    /// @throws core::Error
    [[nodiscard]] Readable prepare_to_read(const std::string& path, bool load_index) const;

    struct InForce {
        std::map<std::string, std::string> settings;  ///< driver, format bounds, alignment
        std::map<std::string, std::string> hints;     ///< MPI_File_get_info
        std::string mpi_io;
    };
    /// @param parallel  it was opened by the MPI driver
    /// @throws core::Error  [local]
    [[nodiscard]] InForce in_force(const Hints& hints, bool parallel) const;

private:
    std::int64_t x_file = -1;
};

/// Whether HDF5 has a filter, built in or as a plugin.  [local]
[[nodiscard]] bool has_filter(unsigned id);
/// Layout, chunk, filters, fill and allocation of datasets of a finished file, as the report of
/// format hdf5 has them.  [local]
/// @throws core::Error
void look_at_datasets(const std::string& file, const std::vector<std::string>& paths,
                      std::map<std::string, std::string>& settings);
/// Refuses an object whose path, extents or chunk HDF5 does not take.  [local]
/// @throws core::Error{Code::bad_input}
void check_dataset(const core::Object& object, const Chunks& chunks);

}  // namespace tailrace::formats::hdf5
