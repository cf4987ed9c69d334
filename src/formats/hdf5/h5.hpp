// SPDX-License-Identifier: Apache-2.0
// The C API of HDF5 as calls that throw, and its ids as owners. hdf5.h is included nowhere else in
// Tailrace; every file of this folder speaks to HDF5 through the functions below.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/box.hpp"
#include "core/error.hpp"
#include "core/schema.hpp"

namespace tailrace::formats::hdf5::h5 {

/// While it lives HDF5 prints nothing by itself; the setting of the program comes back afterwards.
class Quiet {
public:
    Quiet() noexcept;
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    H5E_auto2_t x_function = nullptr;
    void* x_data = nullptr;
};

/// Text of the current error stack, outermost call first, and clears it.  [local]
[[nodiscard]] std::string take_error_stack();

/// Throws core::Error{no_space where the stack tells of a full disk, else `code`} with the text of
/// the error stack.  [local]
[[noreturn]] void fail(const char* call, const std::string& where,
                       core::Code code = core::Code::io);

/// Throws where `result` is negative.  [local]
template <class Result>
Result check(Result result, const char* call, const std::string& where,
             core::Code code = core::Code::io) {
    if (result < 0) fail(call, where, code);
    return result;
}

/// Owns an id. Moved, never copied.
class Id {
public:
    using Closer = herr_t (*)(hid_t);
    Id() noexcept = default;
    /// Takes over `id`; throws where it is negative.
    Id(hid_t id, Closer closer, const char* call, const std::string& where,
       core::Code code = core::Code::io)
        : x_id(check(id, call, where, code)), x_closer(closer) {}
    Id(Id&& other) noexcept : x_id(other.release()), x_closer(other.x_closer) {}
    Id& operator=(Id&& other) noexcept {
        if (this != &other) {
            reset();
            x_closer = other.x_closer;
            x_id = other.release();
        }
        return *this;
    }
    ~Id() { reset(); }

    [[nodiscard]] hid_t get() const noexcept { return x_id; }  ///< [local]
    [[nodiscard]] explicit operator bool() const noexcept { return x_id >= 0; }
    /// Gives the id up without closing it.  [local]
    hid_t release() noexcept { return std::exchange(x_id, H5I_INVALID_HID); }
    /// Closes it; collective where the object is. The id is gone also when HDF5 refuses.
    /// @throws core::Error
    void close(const char* call, const std::string& where) {
        if (x_id >= 0) check(x_closer(release()), call, where);
    }

private:
    void reset() noexcept {
        if (x_id >= 0 && x_closer != nullptr) x_closer(release());
        x_id = H5I_INVALID_HID;
    }
    hid_t x_id = H5I_INVALID_HID;
    Closer x_closer = nullptr;
};

// --- H5, H5Z ---------------------------------------------------------------------------------
/// "2.2.0".  [local]
[[nodiscard]] std::string library_version();
/// True where the filter is built in or its plugin can be loaded.  [local]
[[nodiscard]] bool filter_available(unsigned id);

// --- H5F -------------------------------------------------------------------------------------
/// Creates or truncates.  [collective] with a parallel driver
[[nodiscard]] Id create_file(const std::filesystem::path& path, const Id& creation,
                             const Id& access);
[[nodiscard]] Id open_file(const std::filesystem::path& path, bool writable, const Id& access);
void flush(const Id& file, const std::string& where);  ///< [collective] with a parallel driver
/// Version of the superblock.  [local]
[[nodiscard]] unsigned superblock_version(const Id& file, const std::string& where);

// --- H5G, H5L --------------------------------------------------------------------------------
/// A link creation list that makes missing groups.  [local]
[[nodiscard]] Id groups_as_needed();
/// True where the whole path is there.
[[nodiscard]] bool exists(const Id& file, const std::string& path);
/// Paths of all datasets of a file.
[[nodiscard]] std::vector<std::string> dataset_paths(const Id& file);

// --- H5S -------------------------------------------------------------------------------------
[[nodiscard]] Id scalar_space();
/// @param limits empty: as dims
[[nodiscard]] Id simple_space(std::span<const std::uint64_t> dims,
                              std::span<const std::uint64_t> limits = {});
void select_none(const Id& space);
/// Selects `box`; a box without elements selects nothing.
void select(const Id& space, const core::Box& box);
/// A copy of `space` in which the union of `boxes` is selected. Fastest where neighbours in space
/// are neighbours in the list.
[[nodiscard]] Id united(const Id& space, std::span<const core::Box> boxes);
[[nodiscard]] std::uint64_t points_of(const Id& space);  ///< elements that are selected

// --- H5T -------------------------------------------------------------------------------------
/// The type in files, little endian. Not to be closed.
[[nodiscard]] hid_t file_type(core::Scalar type);
/// The type in memory. Not to be closed.
[[nodiscard]] hid_t memory_type(core::Scalar type);
/// The Scalar nearest to a stored type.
/// @throws core::Error{Code::unsupported} for types that are no numbers
[[nodiscard]] core::Scalar scalar_of(hid_t type, const std::string& where);
/// Variable-length UTF-8 text.
[[nodiscard]] Id string_type();
/// One character: a text of fixed length 1, as netCDF-4 stores them.  [local]
[[nodiscard]] Id character_type();

// --- H5P -------------------------------------------------------------------------------------
[[nodiscard]] Id property_list(hid_t list_class, const char* call_class);

// --- H5D -------------------------------------------------------------------------------------
[[nodiscard]] Id create_dataset(const Id& file, const std::string& path, hid_t type,
                                const Id& space, const Id& creation, const Id& access);
[[nodiscard]] Id open_dataset(const Id& file, const std::string& path, const Id& access);
[[nodiscard]] Id space_of(const Id& dataset, const std::string& where);
[[nodiscard]] Id creation_list_of(const Id& dataset, const std::string& where);
/// Extents of the chunks of a creation list whose layout is chunked.
[[nodiscard]] core::Extents chunk_of(const Id& creation, const std::string& where);
/// H5Dwrite_multi. The lists have one entry per dataset.
[[nodiscard]] herr_t write_several(std::vector<hid_t> datasets, std::vector<hid_t> types,
                                   std::vector<hid_t> memory, std::vector<hid_t> file,
                                   const Id& transfer, std::vector<const void*> data);
[[nodiscard]] core::Extents extents_of(const Id& space, core::Extents* limits,
                                       const std::string& where);

}  // namespace tailrace::formats::hdf5::h5
