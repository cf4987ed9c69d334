// SPDX-License-Identifier: Apache-2.0
// The ranks of a file that is opened through MPI-IO: the one place that talks to other ranks. MPI's
// functions are found at run time; handles are numbers or pointers, depending on the MPI, and are
// passed in a register either way.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "hooks/vol/library/library.hpp"

namespace tailrace::hooks::vol {

/// The functions and constants of the MPI that an HDF5 library is linked with.
struct Mpi {
    using Handle = uintptr_t;
    /// What stands for no object. In Open MPI that is an object itself, of which a program may hold
    /// a copy that all use; to free either, or to ask it something, ends the program.
    struct None {
        Handle of_program = 0;
        Handle of_mpi = 0;
        [[nodiscard]] bool is(Handle handle) const {
            return handle == 0 || handle == of_program || handle == of_mpi;
        }
    };
    int (*size)(Handle, int*) = nullptr;
    int (*reduce)(const void*, void*, int, Handle, Handle, Handle) = nullptr;
    int (*rank)(Handle, int*) = nullptr;
    int (*send)(const void*, int, Handle, int, int, Handle) = nullptr;
    int (*receive)(void*, int, Handle, int, int, Handle, void*) = nullptr;
    int (*is_over)(int*) = nullptr;
    int (*forget)(Handle*) = nullptr;
    int (*make_info)(Handle*) = nullptr;
    int (*set_info)(Handle, const char*, const char*) = nullptr;
    int (*get_info)(Handle, const char*, int, char*, int*) = nullptr;
    int (*forget_info)(Handle*) = nullptr;
    int (*info_of_file)(Handle, Handle*) = nullptr;
    Handle number = 0;    ///< the type of an unsigned number of 8 bytes
    Handle smallest = 0;  ///< the operation
    None no_info;
    None no_communicator;

    bool open_mpi = false;
    void* in = nullptr;  ///< where its functions are looked for

    /// False where it is none we know the handles of.  [local]
    bool find(const Library& library);
    /// Frees what H5Pget_fapl_mpio has given.  [local]
    void let_go(Handle& communicator, Handle& info) const;
    /// Whether files are opened by Open MPI's own MPI-IO, as far as can be told before.  [local]
    [[nodiscard]] bool is_ompio() const;
    /// Whether a file is opened by that for certain.  [local]
    [[nodiscard]] bool is_ompio(const char* path) const;
    /// Whether it takes an info of this name and value; a longer name it ends the program for.
    [[nodiscard]] bool takes(std::string_view key, std::string_view value) const {
        return key.size() < (open_mpi ? 36 : 255) && value.size() < (open_mpi ? 256 : 1024);
    }
};

/// As long as it is there the preloaded MPI-IO hook, where there is one, sets no hints of the plan
/// in this thread: the connector does, and says what became of them.
class HintsAreOurs {
public:
    HintsAreOurs();
    ~HintsAreOurs();
    HintsAreOurs(const HintsAreOurs&) = delete;
    HintsAreOurs& operator=(const HintsAreOurs&) = delete;

private:
    void (*x_leave)(int) = nullptr;
};

/// What one rank has: equal on all, or the plan is off.
struct Vote {
    uint64_t plan[2] = {0, 0};  ///< the hash; 0 and 0: none
    uint64_t match = 0;         ///< which entries are for the file
    uint64_t block_bytes = 0;   ///< of the file system, as this rank sees it
    uint64_t room = 0;          ///< datasets whose chunks it may still change
    /// By bit: hints that the program has not set. None where not all ranks have the same.
    uint64_t free_hints[2] = {0, 0};
};

/// The communicator of a file, while it is being opened.
class Ranks {
public:
    Ranks() = default;
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// Takes the communicator of a list with the MPI-IO driver. False where other ranks cannot be
    /// asked, the same on all of them.  [collective]
    [[nodiscard]] bool open(const Library& library, Id access);
    /// Why they cannot be asked.
    [[nodiscard]] const char* obstacle() const { return x_obstacle; }
    /// Whether there are any to be asked: not once MPI is over.  [local]
    [[nodiscard]] bool are_there() const;
    [[nodiscard]] uint64_t count() const { return static_cast<uint64_t>(x_count); }
    [[nodiscard]] const Mpi& mpi() const { return x_mpi; }
    [[nodiscard]] Mpi::Handle communicator() const { return x_communicator; }
    [[nodiscard]] Mpi::Handle info() const { return x_info; }

    /// Whether all ranks have the same plan and match; block_bytes and room become the smallest,
    /// and no hint is free where they differ in those. [collective]
    [[nodiscard]] bool agree(Vote& vote) const;
    /// Whether it is true on all ranks.  [collective]
    [[nodiscard]] bool all(bool here) const;
    /// The smallest of all ranks, number by number.  [collective]
    [[nodiscard]] bool smallest(const uint64_t* own, uint64_t* least, int count) const;
    /// Which of them this is; negative: it cannot be told.  [local]
    [[nodiscard]] int here() const;
    /// Numbers from one rank to another, at most `most_numbers` at a time.
    static constexpr int most_numbers = 4096;
    [[nodiscard]] bool send(const uint64_t* numbers, int count, int to) const;
    [[nodiscard]] bool receive(uint64_t* numbers, int count, int from) const;

    /// Gives the communicator to one who keeps it beyond the opening.
    void hand_over(Ranks& to);
    /// Frees it, where MPI is not over.  [local]
    void let_go();

private:
    Mpi x_mpi;
    Mpi::Handle x_communicator = 0;
    Mpi::Handle x_info = 0;
    const char* x_obstacle = "this MPI is none whose handles are known";
    int x_count = 1;
    pid_t x_process = 0;  ///< that has got them: a child that is forked has no MPI
};

}  // namespace tailrace::hooks::vol
