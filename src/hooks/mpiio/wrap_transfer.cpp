// SPDX-License-Identifier: Apache-2.0
// The calls that move data.
#include <limits.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hooks/mpiio/abi.hpp"
#include "hooks/mpiio/wrap.hpp"

namespace tailrace::hooks::mpiio {
namespace {

constexpr auto reads = spool::reads;
constexpr auto writes = spool::writes;

thread_local __attribute__((tls_model("initial-exec"))) bool within = false;

/// The header of a classic netCDF file, as PnetCDF writes it: bytes, in one piece. The kernel looks
/// at them: `data` may be memory of a device, or nothing where a type begins further on.
bool is_classic_header(const void* data, uint64_t bytes, Count count) {
    constexpr uint64_t least = 32;  // an empty file's
    if (data == nullptr || bytes < least || bytes != static_cast<uint64_t>(count)) return false;
    unsigned char begin[4] = {};
    const iovec to{begin, sizeof begin};
    const iovec from{const_cast<void*>(data), sizeof begin};
    const ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (copied != static_cast<ssize_t>(sizeof begin)) return false;
    return memcmp(begin, "CDF", 3) == 0 && (begin[3] == 1 || begin[3] == 2 || begin[3] == 5);
}

/// Where the file pointer stands before a call, in elementary types of the view.
struct Pointer {
    Window window;
    Offset at;  ///< -1: not known
};

/// [local]
Pointer pointer_of(File file, uint32_t how, Offset at) {
    static constinit Real<int(File, Offset*)> get_position{"PMPI_File_get_position"};
    Pointer pointer{window_of(handle_of(file)), -1};
    if (!pointer.window.wanted || (how & (shared | ordered)) != 0) return pointer;
    if ((how & explicit_offset) != 0 || get_position(file, &at) == success) pointer.at = at;
    return pointer;
}

/// Where in the file a call has moved its bytes, at least one. MPI is asked where a view has gaps.
/// [local]
CallRange place_of(File file, const Pointer& from, uint64_t bytes) {
    static constinit Real<int(File, Offset, Offset*)> get_byte{"PMPI_File_get_byte_offset"};
    const Window& window = from.window;
    if (from.at < 0 || bytes < window.etype_bytes) return {};
    CallRange place{};
    if (window.gaps) {
        Offset first = 0;
        Offset last = 0;
        const auto elements = static_cast<Offset>(bytes / window.etype_bytes);
        place.known = get_byte(file, from.at, &first) == success &&
                      get_byte(file, from.at + elements - 1, &last) == success && first >= 0 &&
                      last >= first;
        place.start = static_cast<uint64_t>(first);
        place.end = static_cast<uint64_t>(last) + window.etype_bytes;
        return place;
    }
    place.known =
        !__builtin_mul_overflow(static_cast<uint64_t>(from.at), window.etype_bytes, &place.start) &&
        !__builtin_add_overflow(place.start, window.displacement, &place.start) &&
        !__builtin_add_overflow(place.start, bytes, &place.end);
    return place;
}

/// Only a status says how much a read has brought: where the program wants none, the call goes on
/// with `own`. Some MPIs do not fill it in for some calls; then it says more than was asked for.
void take_status(Status*& status, RoomForStatus& room) {
    static constinit Real<int(Status*, Wide, Count)> set_elements{"PMPI_Status_set_elements_x"};
    constexpr Count not_filled_in = Count{1} << 60;
    const Wide byte = objects::byte();
    if (!is_ignored(status) || byte == 0) return;
    auto* own = reinterpret_cast<Status*>(&room);
    if (set_elements(own, byte, not_filled_in) == success) status = own;
}

/// Bytes that a read has brought; those that were asked for where the status does not tell.
uint64_t brought(const Status* status, uint64_t asked) {
    static constinit Real<int(const Status*, Wide, Count*)> get_elements{"PMPI_Get_elements_x"};
    const Wide byte = objects::byte();
    if (is_ignored(status) || byte == 0) return asked;
    Count bytes = 0;
    if (get_elements(status, byte, &bytes) != success) return asked;
    if (bytes < 0) return asked;  // MPI_UNDEFINED
    return static_cast<uint64_t>(bytes) < asked ? static_cast<uint64_t>(bytes) : asked;
}

/// A call and what it moves; `at` where it has an explicit offset, `status` where it has a status.
struct Transfer {
    const void* data;
    Count count;
    Wide type;
    spool::Direction direction;
    uint32_t how;
    Offset at;
    Status** status;  ///< what `real` is going to pass on
};

template <typename Real>
int move(File file, const Transfer& what, Real&& real) {
    const Call call;
    const auto [data, count, type, direction, how, at, status] = what;
    const Pointer from = call.counts() ? pointer_of(file, how, at) : Pointer{};
    const bool tells = call.counts() && direction == reads && status != nullptr;
    RoomForStatus own{};
    if (tells) take_status(*status, own);
    const int error = real();
    if (!call.counts()) return error;
    const Took took = call.took();
    if (error == success) {
        const uint64_t asked = bytes_of(count, type);
        const uint64_t bytes = tells ? brought(*status, asked) : asked;
        const CallRange place = place_of(file, from, bytes);
        const bool begins = place.known && place.start == 0;
        if (direction == writes && begins && is_classic_header(data, bytes, count)) {
            classic_header(handle_of(file), bytes);
        }
        moved(handle_of(file), {direction, how, bytes, place}, took);
    } else {
        failed(handle_of(file), direction, took);
    }
    return error;
}

template <typename Real>
int end(File file, spool::Direction direction, Real&& real) {
    const Call call;
    const int error = real();
    if (call.counts()) ended(handle_of(file), direction, call.took());
    return error;
}

}  // namespace

Call::Call()
    : x_counts(!within && session::on() && understood()),
      x_start_ns(x_counts ? session::now() : 0) {
    if (x_counts) within = true;
}
Call::~Call() {
    if (x_counts) within = false;
}

#define COUNT int
#define TAILRACE_MOVES(name, direction, how, at, status, parameters, arguments)             \
    TAILRACE_DEFINE_BOTH(File_##name, parameters,                                           \
                         return move(file, {data, count, type, direction, how, at, status}, \
                                     [&] { return real arguments; });)
#include "hooks/mpiio/calls.def"
#undef TAILRACE_MOVES
#undef COUNT

// The large counts of MPI 4. mpi4py looks whether they are there, and then calls them: if the
// program's MPI has none, its plain calls take what fits their counts, which is what mpi4py does
// without them.
#define COUNT Count
#define TAILRACE_MOVES(name, direction, how, at, status, parameters, arguments)                   \
    TAILRACE_DEFINE_BOTH(File_##name##_c, parameters,                                             \
                         static constinit Real<int parameters> plain{"PMPI_File_" #name};         \
                         return move(file, {data, count, type, direction, how, at, status}, [&] { \
                             if (real.is_there()) return real arguments;                          \
                             return count > INT_MAX ? err_count : plain arguments;                \
                         });)
#include "hooks/mpiio/calls.def"
#undef TAILRACE_MOVES
#undef COUNT

#define TAILRACE_END(name, direction, buffer)                                    \
    TAILRACE_DEFINE_BOTH(File_##name, (File file, buffer data, Status * status), \
                         return end(file, direction, [&] { return real(file, data, status); });)
TAILRACE_END(read_all_end, reads, void*)
TAILRACE_END(read_ordered_end, reads, void*)
TAILRACE_END(read_at_all_end, reads, void*)
TAILRACE_END(write_all_end, writes, const void*)
TAILRACE_END(write_ordered_end, writes, const void*)
TAILRACE_END(write_at_all_end, writes, const void*)

}  // namespace tailrace::hooks::mpiio
