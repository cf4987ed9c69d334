// SPDX-License-Identifier: Apache-2.0
// What is known of MPI without its headers: the binary interfaces of Open MPI, up to 5, and of
// MPICH and its kin. Which one the program uses is found out at run time. check_abi.cpp holds the
// numbers against the headers of the MPI of the build.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tailrace::hooks::mpiio {

/// A handle as a register holds it. Whichever MPI the program uses, it goes on whole: those of Open
/// MPI are addresses, those of MPICH and its kin numbers of 32 bits, which lie in the first half of
/// one that MPI fills in.
using Wide = uintptr_t;
using File = void*;  ///< an address with all of them
using Count = int64_t;
using Offset = int64_t;
struct Status;
struct Request;

// The same with all of them.
inline constexpr int success = 0;
inline constexpr int err_count = 2;
inline constexpr int mode_create = 1;
inline constexpr int mode_excl = 64;
inline constexpr int mode_append = 128;
inline constexpr int mode_sequential = 256;
/// An error with all of them: internal (MPICH), other (Open MPI).
inline constexpr int err_here = 16;

enum class Mpi : int { not_asked, not_known, open_mpi, mpich };
/// Which one the program uses, by what its library defines. Once per process.  [local]
Mpi which_mpi();
/// Whether handles and constants of the program's MPI are known. Where they are not, that is said
/// once.  [local]
bool understood();

/// What differs.
struct Abi {
    size_t most_key;      ///< MPI_MAX_INFO_KEY
    size_t most_value;    ///< MPI_MAX_INFO_VAL
    int first_combiner;   ///< MPI_COMBINER_NAMED; the others follow in the same order
    uintptr_t no_status;  ///< MPI_STATUS_IGNORE
    size_t bytes_of_status;
};
inline constexpr Abi abi_of_open_mpi{36, 256, 0, 0, 24};
inline constexpr Abi abi_of_mpich{255, 1024, 1, 1, 20};
inline const Abi& abi() { return which_mpi() == Mpi::open_mpi ? abi_of_open_mpi : abi_of_mpich; }
// As large as any of them.
inline constexpr size_t room_for_key = 256;
inline constexpr size_t room_for_value = 1025;
struct alignas(16) RoomForStatus {
    unsigned char bytes[64];
};

/// MPI_COMBINER_*, less the first one.
enum Combiner : int {
    combiner_named = 0,
    combiner_contiguous = 2,
    combiner_vector = 3,
    combiner_hvector = 5,
    combiner_indexed = 6,
    combiner_hindexed = 8,
    combiner_indexed_block = 9,
    combiner_struct = 11,
    combiner_subarray = 12,
    combiner_darray = 13,
    combiner_resized = 17,
    combiner_hindexed_block = 18
};

inline bool is_ignored(const Status* status) {
    return reinterpret_cast<uintptr_t>(status) == abi().no_status;
}
/// Whether it is MPI_INFO_NULL, which may be the address of an object in the library.  [local]
bool is_null(Wide info);

/// The objects that are there from the beginning. Those of Open MPI are variables of its library.
namespace objects {

/// Its name in Open MPI, and its number in MPICH.
struct Object {
    const char* symbol;
    uint32_t number;
};
inline constexpr Object byte_type{"ompi_mpi_byte", 0x4c00010d};
inline constexpr Object number_type{"ompi_mpi_uint64_t", 0x4c00083e};
inline constexpr Object and_of_bits{"ompi_mpi_op_band", 0x58000006};
inline constexpr Object null_communicator{"ompi_mpi_comm_null", 0x04000000};
inline constexpr Object null_file{"ompi_mpi_file_null", 0};
inline constexpr Object null_info{"ompi_mpi_info_null", 0x1c000000};
inline constexpr Object handler_returns{"ompi_mpi_errors_return", 0x54000001};

Wide number();    ///< MPI_UINT64_T
Wide byte();      ///< MPI_BYTE; 0 where it is not found
Wide all_bits();  ///< MPI_BAND
bool is_no_communicator(Wide communicator);
File no_file();
Wide errors_return();

}  // namespace objects
}  // namespace tailrace::hooks::mpiio
