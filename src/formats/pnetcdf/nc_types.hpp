// SPDX-License-Identifier: Apache-2.0
// Our types as PnetCDF's and MPI's; for nc.cpp alone.
#pragma once

// clang-format off
#include "comm/mpi_comm.hpp"  // before pnetcdf.h, which includes mpi.h with its C++ bindings
#include <pnetcdf.h>
// clang-format on

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/schema.hpp"

namespace tailrace::formats::pnetcdf::nc {

[[nodiscard]] nc_type file_type(core::Scalar type) noexcept;         ///< [local]
[[nodiscard]] MPI_Datatype memory_type(core::Scalar type) noexcept;  ///< [local]
/// Nothing for characters.  [local]
[[nodiscard]] std::optional<core::Scalar> scalar_of(nc_type type) noexcept;
/// The bytes of a fill value as a number of that type.  [local]
void store_number(core::Scalar type, const core::Fill& value,
                  std::array<std::byte, 8>& bytes) noexcept;

}  // namespace tailrace::formats::pnetcdf::nc
