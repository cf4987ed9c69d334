// SPDX-License-Identifier: Apache-2.0
// The one door between who produces data and who stores it. A kernel writes into a Sink and does
// not know whether a file or a server is behind it. See docs/decisions/0002-the-sink.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/box.hpp"
#include "core/error.hpp"
#include "core/io_observer.hpp"
#include "core/schema.hpp"

namespace tailrace::core {

using ObjectId = std::uint32_t;  ///< index into the objects defined so far, equal on all ranks
using Step = std::uint64_t;

/// How a box lies in memory: row-major with these extents, the box starting at `offset`. Empty
/// `dims`: packed (exactly the box).
struct MemLayout {
    Extents dims;
    Extents offset;
};

/// One piece to write. `data` stays untouched until complete() of the step returns. An empty box
/// is allowed, `data` may then be null.
struct Write {
    ObjectId object = 0;
    Box place;
    const std::byte* data = nullptr;
    MemLayout memory{};
    Scalar type = Scalar::f32;  ///< type in memory; converted where the format can, else an error
};

/// A chunk that was compressed elsewhere, with the filters of the object.
struct EncodedChunk {
    ObjectId object = 0;
    Extents offset;  ///< of the chunk's first element, a multiple of the chunk's extents
    std::uint32_t filter_mask = 0;
    std::span<const std::byte> data;
};

struct Read {
    ObjectId object = 0;
    Box place;
    std::byte* data = nullptr;
    Scalar type = Scalar::f32;
    MemLayout memory{};
};

enum class Existing { refuse, replace, append };
/// atomic_rename: written as `name.part`, synced, renamed. in_place: where that cannot be.
enum class Publish { atomic_rename, in_place };
enum class Outcome { publish, discard };
/// none: nothing is forced. flushed: handed to the operating system. durable: on the device.
enum class Durability { none, flushed, durable };

struct Target {
    std::filesystem::path path;
    Existing existing = Existing::replace;
    Publish publish = Publish::atomic_rename;
    std::uint64_t reserve_bytes = 0;  ///< space set aside before collective I/O; 0: none
    bool set_aside = true;            ///< false: whether so much is free is looked at, no more
    /// Called on rank 0 with the name under which the file grows, instead of creating it plainly:
    /// for striping, which can be set at creation only. May throw Error.
    std::function<void(const std::filesystem::path&)> create{};
};

struct Capabilities {
    bool records = false;
    bool append = false;
    bool filters = false;
    bool encoded_chunks = false;
    bool async = false;
    bool independent = false;
    int max_rank = 32;
};

/// A posted operation, and what comes of it. It outlives the Sink that gave it.
template <class Result>
class Pending {
public:
    class State {
    public:
        virtual ~State() = default;
        virtual Result wait() = 0;
        [[nodiscard]] virtual bool ready() const { return true; }
    };
    Pending() = default;  ///< nothing was posted
    explicit Pending(std::unique_ptr<State> state) : x_state(std::move(state)) {}
    /// One that has ended already.
    template <class Value>
    [[nodiscard]] static Pending done(Value value) {
        class Done final : public State {
        public:
            explicit Done(Value result) : x_result(std::move(result)) {}
            Result wait() override { return std::move(x_result); }

        private:
            Value x_result;
        };
        return Pending(std::make_unique<Done>(std::move(value)));
    }
    /// Waits for it, once.  [collective]
    /// @throws Error on all ranks when it failed; wrong_call where a result was taken before
    Result wait() {
        const std::unique_ptr<State> state = std::move(x_state);
        if (state) return state->wait();
        if constexpr (!std::is_void_v<Result>)
            throw Error(Code::wrong_call, "nothing was posted, or its result was taken already", "",
                        "wait once for each posted operation");
    }
    /// True where wait() would not block on the storage.  [local]
    [[nodiscard]] bool ready() const { return !x_state || x_state->ready(); }

private:
    std::unique_ptr<State> x_state;
};
using Ticket = Pending<void>;

/// What this rank and its system calls did to the file. Gathered over ranks for the Record.
struct WriterReport {
    int rank = 0;
    FileTally total;                            ///< over the life of the file
    std::map<std::string, FileTally> by_phase;  ///< only phases with calls
    /// What the kernel gave this rank to write; unset: not told.
    std::optional<std::uint64_t> bytes_given{};
};

/// What happened to a file, as far as it is known; never what was asked for. Optionals that are
/// not set mean "not measured".
struct FileReport {
    std::filesystem::path path;         ///< the final name
    std::vector<std::string> parts;     ///< all files it consists of
    std::uint64_t bytes_logical = 0;    ///< of the writes of all ranks
    std::uint64_t bytes_stored = 0;     ///< size of the file(s)
    std::uint64_t bytes_allocated = 0;  ///< blocks x 512
    std::vector<WriterReport> writers;  ///< one per rank, on rank 0 only; empty: not measured
    bool writers_measured = false;
    std::map<std::string, std::string> hints_in_force;  ///< MPI_File_get_info
    std::string mpi_io;                   ///< "OMPIO 4.1.4", "ROMIO", ...; empty where no MPI-IO
    std::optional<bool> data_collective;  ///< as the library reports after the transfers
    std::string data_mode;                ///< for example "chunk collective (multi-chunk)"
    std::string no_collective_cause;      ///< empty: none
    std::optional<bool> metadata_collective;  ///< derived from counted reads; unset: not measured
    std::string metadata_evidence;            ///< "metadata read by 1 of 8 ranks"
    bool reserved = false;                    ///< space was really set aside
    std::string reservation;                  ///< by what, or why not
    std::map<std::string, std::string> striping;  ///< in force, where the file system tells
    bool durable = false;                         ///< fsync returned success on every node
    std::map<std::string, std::string> settings;  ///< options in force, read back from the file

    /// Takes in that of another file, which the same ranks wrote for the same run.  [local]
    void join(FileReport&& next);
};

/// A file that is being written by all ranks of a communicator.
///
/// The order of calls: define, then per step any number of write and one complete, then close.
/// After an Error of write, complete or sync the file is poisoned: the same Error is thrown again
/// by every later call without communication, and close(Outcome::discard) removes what was there.
/// An Error of define or of a write with invalid arguments (bad_input, wrong_call) leaves the
/// file good.
class Sink {
public:
    virtual ~Sink() = default;  ///< [collective] a Sink that was not closed is discarded
    [[nodiscard]] virtual const Capabilities& can() const noexcept = 0;  ///< [local]
    /// Creates the objects. A later call adds objects and attributes.  [collective]
    /// @returns the ids of `schema.objects`, in order
    virtual std::vector<ObjectId> define(const Schema& schema) = 0;
    /// The k-th call is one batch on all ranks, each with 0..n pieces.  [collective]
    virtual void write(std::span<const Write> pieces) = 0;
    /// Stores encoded chunks; only where can().encoded_chunks.  [independent]
    virtual void write_encoded(std::span<const EncodedChunk> chunks);
    /// End of a step: the buffers are free again and all ranks know the verdict. Where can().async
    /// the verdict is about acceptance; that of the storage comes with sync().  [collective]
    virtual void complete(Step step) = 0;
    /// Posts a flush of what was completed.  [collective]
    virtual Ticket sync(Durability durability) = 0;
    /// Ends the file: published under its final name, synced, or removed. Posts it: where
    /// can().async the result, and a failure of the storage, comes with wait().  [collective]
    virtual Pending<FileReport> post_close(Outcome outcome) = 0;
    /// The same, and waits for it.  [collective]
    FileReport close(Outcome outcome) { return post_close(outcome).wait(); }
};

/// A file that is being read by all ranks of a communicator.
class Source {
public:
    virtual ~Source() = default;
    [[nodiscard]] virtual Schema schema() = 0;      ///< [collective] objects only
    virtual void read(std::span<Read> pieces) = 0;  ///< [collective] each rank 0..n pieces
};

}  // namespace tailrace::core
