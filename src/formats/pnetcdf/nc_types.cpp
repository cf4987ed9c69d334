// SPDX-License-Identifier: Apache-2.0
#include "formats/pnetcdf/nc_types.hpp"

#include <algorithm>

namespace tailrace::formats::pnetcdf::nc {

using core::Scalar;

namespace {

struct Row {
    Scalar scalar;
    nc_type in_file;
    MPI_Datatype in_memory;
};

// Not constexpr: Open MPI's datatypes are addresses.
const std::array<Row, 10>& table() noexcept {
    static const std::array<Row, 10> rows{{{Scalar::i8, NC_BYTE, MPI_SIGNED_CHAR},
                                           {Scalar::u8, NC_UBYTE, MPI_UNSIGNED_CHAR},
                                           {Scalar::i16, NC_SHORT, MPI_SHORT},
                                           {Scalar::u16, NC_USHORT, MPI_UNSIGNED_SHORT},
                                           {Scalar::i32, NC_INT, MPI_INT},
                                           {Scalar::u32, NC_UINT, MPI_UNSIGNED},
                                           {Scalar::i64, NC_INT64, MPI_LONG_LONG_INT},
                                           {Scalar::u64, NC_UINT64, MPI_UNSIGNED_LONG_LONG},
                                           {Scalar::f32, NC_FLOAT, MPI_FLOAT},
                                           {Scalar::f64, NC_DOUBLE, MPI_DOUBLE}}};
    return rows;
}

const Row& row_of(Scalar type) noexcept { return table()[static_cast<std::size_t>(type)]; }

template <class Number>
void store_as(const core::Fill& value, std::array<std::byte, 8>& bytes) noexcept {
    const auto number = value.as<Number>();
    std::memcpy(bytes.data(), &number, sizeof number);
}

}  // namespace

nc_type file_type(Scalar type) noexcept { return row_of(type).in_file; }
MPI_Datatype memory_type(Scalar type) noexcept { return row_of(type).in_memory; }

std::optional<Scalar> scalar_of(nc_type type) noexcept {
    for (const Row& row : table())
        if (row.in_file == type) return row.scalar;
    return std::nullopt;
}

void store_number(Scalar type, const core::Fill& value, std::array<std::byte, 8>& bytes) noexcept {
    switch (type) {
        case Scalar::i8:
            return store_as<std::int8_t>(value, bytes);
        case Scalar::u8:
            return store_as<std::uint8_t>(value, bytes);
        case Scalar::i16:
            return store_as<std::int16_t>(value, bytes);
        case Scalar::u16:
            return store_as<std::uint16_t>(value, bytes);
        case Scalar::i32:
            return store_as<std::int32_t>(value, bytes);
        case Scalar::u32:
            return store_as<std::uint32_t>(value, bytes);
        case Scalar::i64:
            return store_as<std::int64_t>(value, bytes);
        case Scalar::u64:
            return store_as<std::uint64_t>(value, bytes);
        case Scalar::f32:
            return store_as<float>(value, bytes);
        case Scalar::f64:
            return store_as<double>(value, bytes);
    }
}

}  // namespace tailrace::formats::pnetcdf::nc
