// SPDX-License-Identifier: Apache-2.0
// Nothing but compiled: what abi.hpp says of this MPI is what its headers say.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <type_traits>

#include "hooks/mpiio/abi.hpp"

namespace tailrace::hooks::mpiio {
namespace {

#ifdef OPEN_MPI
constexpr const Abi& here = abi_of_open_mpi;
static_assert(std::is_pointer_v<MPI_Info> && std::is_pointer_v<MPI_Comm>);
static_assert(OMPI_MAJOR_VERSION <= 5, "see whether another one has the same binary interface");
#else
constexpr const Abi& here = abi_of_mpich;
static_assert(sizeof(MPI_Info) == 4 && sizeof(MPI_Comm) == 4 && sizeof(MPI_Errhandler) == 4);
constexpr bool same(unsigned handle, const objects::Object& ours) { return handle == ours.number; }
static_assert(same(MPI_BYTE, objects::byte_type) && same(MPI_UINT64_T, objects::number_type));
static_assert(same(MPI_BAND, objects::and_of_bits) && same(MPI_INFO_NULL, objects::null_info));
static_assert(same(MPI_COMM_NULL, objects::null_communicator));
static_assert(same(MPI_ERRORS_RETURN, objects::handler_returns));
#endif

static_assert(std::is_pointer_v<MPI_File> && std::is_pointer_v<decltype(MPI_STATUS_IGNORE)>);
static_assert(std::is_signed_v<MPI_Count> && sizeof(MPI_Count) == sizeof(Count));
static_assert(std::is_signed_v<MPI_Offset> && sizeof(MPI_Offset) == sizeof(Offset));
static_assert(sizeof(MPI_Status) == here.bytes_of_status);
static_assert(sizeof(MPI_Status) <= sizeof(RoomForStatus));
static_assert(MPI_MAX_INFO_KEY == here.most_key && MPI_MAX_INFO_KEY < room_for_key);
static_assert(MPI_MAX_INFO_VAL == here.most_value && MPI_MAX_INFO_VAL < room_for_value);
static_assert(MPI_SUCCESS == success && MPI_ERR_COUNT == err_count);
static_assert(MPI_ERR_INTERN == err_here || MPI_ERR_OTHER == err_here);
static_assert(MPI_MODE_CREATE == mode_create && MPI_MODE_EXCL == mode_excl);
static_assert(MPI_MODE_APPEND == mode_append && MPI_MODE_SEQUENTIAL == mode_sequential);

constexpr bool same(int combiner, Combiner ours) { return combiner == here.first_combiner + ours; }
static_assert(same(MPI_COMBINER_NAMED, combiner_named));
static_assert(same(MPI_COMBINER_CONTIGUOUS, combiner_contiguous));
static_assert(same(MPI_COMBINER_VECTOR, combiner_vector));
static_assert(same(MPI_COMBINER_HVECTOR, combiner_hvector));
static_assert(same(MPI_COMBINER_INDEXED, combiner_indexed));
static_assert(same(MPI_COMBINER_HINDEXED, combiner_hindexed));
static_assert(same(MPI_COMBINER_INDEXED_BLOCK, combiner_indexed_block));
static_assert(same(MPI_COMBINER_STRUCT, combiner_struct));
static_assert(same(MPI_COMBINER_SUBARRAY, combiner_subarray));
static_assert(same(MPI_COMBINER_DARRAY, combiner_darray));
static_assert(same(MPI_COMBINER_RESIZED, combiner_resized));
static_assert(same(MPI_COMBINER_HINDEXED_BLOCK, combiner_hindexed_block));

}  // namespace
}  // namespace tailrace::hooks::mpiio
