// SPDX-License-Identifier: Apache-2.0
// PnetCDF as calls that throw, and its file as an object. pnetcdf.h is included nowhere else in
// Tailrace (but in nc*.cpp); every file of this folder speaks to PnetCDF through what stands here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/box.hpp"
#include "core/schema.hpp"
#include "formats/options.hpp"

namespace tailrace::formats::pnetcdf::nc {

/// "1.12.3".  [local]
[[nodiscard]] std::string library_version();
/// Whether the library was built with its burst buffer.  [local]
[[nodiscard]] bool has_burst_buffer() noexcept;

/// A variable as it stands in a file.
struct Variable {
    std::string name;
    std::optional<core::Scalar> type;  ///< unset: characters
    std::vector<int> dimensions;
};

/// One attribute: texts have no elements of another type.
using Value =
    std::variant<std::string, std::vector<std::int32_t>, std::vector<std::uint32_t>,
                 std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>,
                 std::vector<std::int8_t>, std::vector<std::int16_t>, std::vector<float>>;

constexpr int global = -1;  ///< the "variable" of the file's own attributes

/// An open file of all ranks. It is closed by close() alone, which is collective: a File that goes
/// away otherwise leaves PnetCDF's behind.
class File {
public:
    File() noexcept = default;
    /// @param name  for messages  [collective]
    /// @throws core::Error of this rank
    [[nodiscard]] static File open(const comm::Comm& comm, const std::filesystem::path& path,
                                   const std::filesystem::path& name, bool writable,
                                   const Hints& hints);
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File() = default;
    [[nodiscard]] explicit operator bool() const noexcept { return x_id >= 0; }
    /// Leaves it behind: PnetCDF keeps it open.  [local]
    void release() noexcept { x_id = -1; }

    // --- definitions, all [collective] ------------------------------------------------------
    void begin_definitions();
    /// @param header_reserve_bytes  free space behind the header, at least
    void end_definitions(std::uint64_t header_reserve_bytes);
    /// @param size  0: unlimited
    [[nodiscard]] int define_dimension(const std::string& name, std::uint64_t size);
    [[nodiscard]] int define_variable(const std::string& name, core::Scalar type,
                                      std::span<const int> dimensions);
    /// Elements that nobody writes get this value; one that is not set: they get none.
    void set_fill(int variable, core::Scalar type, const core::Fill& fill);
    void put_attribute(int variable, const std::string& name, const Value& value);
    /// Writes the fill value into one record.
    void fill_record(int variable, std::uint64_t record);
    void begin_independent();
    void end_independent();
    /// Brings the number of records up to date, in memory and file.
    void share_number_of_records();
    /// @throws core::Error of this rank
    void close();

    // --- data -------------------------------------------------------------------------------
    /// [collective] or [independent], as `collective` says
    void put(int variable, const core::Box& box, const std::byte* data, core::Scalar type,
             bool collective);
    /// Posts; `data` stays untouched until wait(). Where values do not fit they are posted all the
    /// same, and the Error says so.  [local]
    /// @param request  appended to
    void post_put(int variable, const core::Box& box, const std::byte* data, core::Scalar type,
                  bool buffered, std::vector<int>& requests);
    void post_get(int variable, const core::Box& box, std::byte* data, core::Scalar type,
                  std::vector<int>& requests);
    /// Ends the requests, also after a failure.  [collective] or [independent]
    void wait(std::vector<int>& requests, bool collective);
    /// Drops requests.  [local]
    void cancel(std::vector<int>& requests) noexcept;
    void attach_buffer(std::uint64_t bytes);  ///< [local]
    void detach_buffer();                     ///< [local]

    // --- what the file says, all [local] ----------------------------------------------------
    [[nodiscard]] int format() const;  ///< 1, 2 or 5
    [[nodiscard]] Hints hints() const;
    [[nodiscard]] std::vector<Variable> variables() const;
    [[nodiscard]] std::uint64_t dimension_size(int dimension) const;
    [[nodiscard]] int unlimited_dimension() const;  ///< -1: none
    [[nodiscard]] std::uint64_t header_bytes() const;
    [[nodiscard]] std::uint64_t header_extent_bytes() const;
    [[nodiscard]] std::uint64_t offset_of(int variable) const;
    [[nodiscard]] std::uint64_t record_bytes() const;  ///< of all record variables together
    [[nodiscard]] bool fills(int variable) const;

private:
    /// @throws core::Error where `code` is not NC_NOERR
    void check(int code, const char* call, const std::string& what = {}) const;
    [[nodiscard]] std::string name_of(int variable) const;  ///< for messages

    int x_id = -1;
    std::string x_name;
};

}  // namespace tailrace::formats::pnetcdf::nc
