// SPDX-License-Identifier: Apache-2.0
// The C API of netCDF-C as calls that throw, and an open file as an owner. netcdf.h is included
// nowhere else in Tailrace; every file of this folder speaks to netCDF through the functions below.
#pragma once

#include <netcdf.h>

#include <filesystem>
#include <string>
#include <utility>

#include "comm/mpi_comm.hpp"
#include "core/box.hpp"
#include "core/error.hpp"
#include "core/schema.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::netcdf4::nc {

/// Throws core::Error with netCDF's text, and HDF5's where there is one.  [local]
[[noreturn]] void fail(int status, const char* call, const std::string& where);
/// Throws where `status` is not NC_NOERR.  [local]
inline void check(int status, const char* call, const std::string& where) {
    if (status != NC_NOERR) fail(status, call, where);
}

/// "4.10.1".  [local]
[[nodiscard]] std::string library_version();

/// An open file. Moved, never copied.
class File {
public:
    File() noexcept = default;
    explicit File(int id) noexcept : x_id(id) {}
    File(File&& other) noexcept : x_id(other.release()) {}
    File& operator=(File&& other) noexcept {
        if (this != &other) {
            reset();
            x_id = other.release();
        }
        return *this;
    }
    ~File() { reset(); }
    [[nodiscard]] int get() const noexcept { return x_id; }                      ///< [local]
    [[nodiscard]] explicit operator bool() const noexcept { return x_id >= 0; }  ///< [local]
    /// Gives the id up: netCDF keeps the file, and nobody closes it.  [local]
    int release() noexcept { return std::exchange(x_id, -1); }
    /// Closes it; collective where it was opened by several ranks. The id is gone also when netCDF
    /// refuses.
    /// @throws core::Error
    void close(const std::string& where) {
        if (x_id >= 0) check(nc_close(release()), "nc_close", where);
    }

private:
    void reset() noexcept {
        if (x_id >= 0) nc_close(release());
    }
    int x_id = -1;
};

/// A path that netCDF takes as it is: an absolute one is no URL, and keeps its blanks.  [local]
[[nodiscard]] std::filesystem::path literal(const std::filesystem::path& path);

/// How a file is created.
struct Creation {
    DataModel model = DataModel::netcdf4;
    std::uint64_t alignment_bytes = 0, alignment_threshold_bytes = 0, metadata_block_bytes = 0;
};
/// Creates or truncates a literal() path; by all ranks of `comm` together where `parallel`.
/// [collective]
[[nodiscard]] File create(const std::filesystem::path& path, const Creation& creation,
                          bool parallel, MPI_Comm comm, MPI_Info info);
/// Opens one to be read, in the same way.  [collective]
[[nodiscard]] File open(const std::filesystem::path& path, bool parallel, MPI_Comm comm,
                        MPI_Info info);

/// Opens one of this process alone, to write to variables that it has.  [local]
[[nodiscard]] File reopen(const std::filesystem::path& path);

/// A variable where it stands.
struct Variable {
    int group = -1;  ///< id of its group
    int id = -1;
    bool text = false;  ///< of characters
};
/// Group and variable of a path.
[[nodiscard]] Variable variable(const File& file, const std::string& path);
/// The group of a path that ends in a name, made where it is missing.
[[nodiscard]] int group_of(const File& file, const std::string& path, bool make);

/// The type in files. NC_NAT never.  [local]
[[nodiscard]] nc_type type_of(core::Scalar type) noexcept;
/// The Scalar of a type; false where it is no number.  [local]
[[nodiscard]] bool scalar_of(nc_type type, core::Scalar& scalar) noexcept;

/// Writes a box from packed memory; an empty one only takes part.  [collective] or [independent]
void put(const Variable& variable, const core::Box& box, core::Scalar type, const std::byte* data,
         const std::string& where);
void get(const Variable& variable, const core::Box& box, core::Scalar type, std::byte* data,
         const std::string& where);
/// Collective or independent transfers of a variable; collective itself.
void set_access(const Variable& variable, bool collective, const std::string& where);

}  // namespace tailrace::formats::netcdf4::nc
