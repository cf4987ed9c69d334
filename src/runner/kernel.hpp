// SPDX-License-Identifier: Apache-2.0
// A kernel, as the run sees it: what it writes, who holds which part of it, and the value of every
// element. How it is written is the formats' part, and how often the run's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/error.hpp"
#include "core/record.hpp"
#include "core/schema.hpp"
#include "runner/figures.hpp"
#include "runner/opener.hpp"
#include "runner/plan.hpp"

namespace tailrace::runner {

/// A box of an object that one rank holds in one step.
struct Piece {
    std::size_t object = 0;  ///< index into schema().objects
    core::Box place;
    std::uint64_t step = 0;  ///< set by the run, wherever it matters to values()
};

/// A row of bytes that is known only when the data of all ranks are, such as their extremes.
struct LatePiece {
    std::size_t object = 0;
    std::uint64_t offset = 0;
    std::string bytes;
};

/// A file that a run reads, or one of text that it writes.
struct NamedFile {
    const char* key;   ///< that named it
    std::string what;  ///< for messages
    std::filesystem::path file;
};

/// One of files_written(), as it is to be after a repetition.
struct SideFile {
    std::filesystem::path path;
    std::string text;
};

class Kernel {
public:
    virtual ~Kernel() = default;

    [[nodiscard]] virtual std::string name() const = 0;     ///< "seism"  [local]
    [[nodiscard]] virtual const Plan& plan() const = 0;     ///< [local]
    [[nodiscard]] virtual std::uint64_t ranks() const = 0;  ///< [local]
    [[nodiscard]] virtual std::uint64_t steps() const = 0;  ///< [local]
    [[nodiscard]] virtual core::Schema schema() const = 0;  ///< [local]
    /// A kernel may write several files, one after the other, each of as many steps.  [local]
    [[nodiscard]] virtual std::uint64_t steps_per_file() const { return steps(); }
    /// The file of a step. Its objects have the types of those of schema(), and mostly their sizes.
    /// [local]
    [[nodiscard]] virtual std::filesystem::path file_of(std::uint64_t step) const {
        (void)step;
        return plan().filename;
    }
    [[nodiscard]] virtual core::Schema schema_of(std::uint64_t step) const {
        (void)step;
        return schema();
    }
    [[nodiscard]] virtual std::unique_ptr<Opener> opener() const {
        return one_file(plan().options);
    }
    [[nodiscard]] virtual core::Scalar type(std::size_t object) const = 0;  ///< [local]
    /// What a rank writes in a step; its data lie packed, one piece behind the other in this order.
    /// [local]
    [[nodiscard]] virtual std::vector<Piece> pieces(std::uint64_t rank,
                                                    std::uint64_t step) const = 0;
    /// The same elements of a step, each once, and those of its objects that nobody writes, dealt
    /// to the ranks in another way.  [local]
    [[nodiscard]] virtual std::vector<Piece> other_pieces(std::uint64_t rank,
                                                          std::uint64_t step) const = 0;
    /// Whether chosen_pieces() says what a pattern reads.  [local]
    [[nodiscard]] virtual bool chooses(ReadPattern pattern) const noexcept {
        (void)pattern;
        return false;
    }
    [[nodiscard]] virtual std::vector<Piece> chosen_pieces(ReadPattern pattern, std::uint64_t rank,
                                                           std::uint64_t step) const {
        (void)pattern;
        return pieces(rank, step);
    }
    /// Ranks per dimension of other_pieces(), for the Record.  [local]
    [[nodiscard]] virtual std::vector<std::uint64_t> other_decomposition() const = 0;
    /// "time, x, y, z": the dimensions of an object, for messages.  [local]
    [[nodiscard]] virtual std::string axes(std::size_t object) const = 0;

    /// How many objects of schema() must be there when `step` is written; those that are not yet
    /// are defined just before it. By default all are at the start.  [local]
    [[nodiscard]] virtual std::size_t objects_before(std::uint64_t step) const {
        (void)step;
        return static_cast<std::size_t>(-1);
    }
    /// Whether the data are handed to the operating system, timed, before the file is closed.
    /// [local]
    [[nodiscard]] virtual bool flushes() const noexcept { return false; }

    /// Objects of one batch are written by one call, batch after batch.  [local]
    [[nodiscard]] virtual std::size_t batches() const noexcept { return 1; }
    [[nodiscard]] virtual std::size_t batch_of(std::size_t object) const noexcept {
        (void)object;
        return 0;
    }
    /// What is written beside the pieces of a step, on the clock; no other piece covers it.
    /// [collective]
    /// @param data  those of pieces(), as they lie behind each other
    [[nodiscard]] virtual std::vector<LatePiece> late_pieces(const comm::Comm& comm,
                                                             std::uint64_t step,
                                                             std::span<const std::byte> data,
                                                             Laps& laps) const {
        (void)comm, (void)step, (void)data, (void)laps;
        return {};
    }
    [[nodiscard]] virtual bool has_late_pieces() const noexcept { return false; }  ///< [local]
    /// Whether late pieces make up an object: bytes() and values() leave it out.  [local]
    [[nodiscard]] virtual bool is_late(std::size_t object) const noexcept {
        (void)object;
        return false;
    }

    /// Whether each rank writes a file of its own, in whatever format: formats/split.  [local]
    [[nodiscard]] virtual bool file_per_process() const noexcept { return false; }

    /// True where the program that is imitated keeps its data in another order than pieces() have
    /// them: bringing them there is a part of every write.  [local]
    [[nodiscard]] virtual bool rearranges() const noexcept { return false; }
    /// From the order of pieces() to that of the program, off the clock.  [local]
    virtual void keep(std::span<const std::byte> packed, std::span<std::byte> kept) const {
        (void)packed, (void)kept;
    }
    /// And back, on the clock.  [local]
    virtual void pack(std::span<const std::byte> kept, std::span<std::byte> packed) const {
        (void)kept, (void)packed;
    }

    /// False where a rank's data are the same bytes in all steps.  [local]
    [[nodiscard]] virtual bool differs_per_step() const noexcept = 0;
    /// The values of a box, packed row-major, in the type of the object.  [local]
    virtual void values(const Piece& piece, std::span<std::byte> values) const = 0;
    /// The first failure of values(), which gives zeros from then on. It is kept and not thrown:
    /// values are asked for between collective calls, which all ranks must make.  [local]
    [[nodiscard]] virtual std::optional<core::Error> failure() const { return std::nullopt; }
    /// Whether failure() may ever say something.  [local]
    [[nodiscard]] virtual bool may_fail() const noexcept { return false; }

    /// Most bytes that a rank holds in one step.  [local]
    [[nodiscard]] virtual std::uint64_t bytes_per_rank() const = 0;
    [[nodiscard]] virtual std::uint64_t bytes() const = 0;  ///< of all elements  [local]
    /// Bytes that the file takes at most, padding of chunks included, for the reservation; 0 where
    /// that is not known before (compression).  [local]
    [[nodiscard]] virtual std::uint64_t reserve_bytes() const = 0;
    /// Extents of the chunks of an object; empty: contiguous.  [local]
    [[nodiscard]] virtual core::Extents chunk(std::size_t object) const = 0;

    /// "a domain of 4 x 4 x 4": what makes its data as large as they are, for messages.  [local]
    [[nodiscard]] virtual std::string size_text() const = 0;
    /// The key behind it.  [local]
    [[nodiscard]] virtual const char* size_key() const noexcept = 0;
    /// What a person does where memory is short: @p fitting bytes per rank would do.  [local]
    [[nodiscard]] virtual std::string smaller(std::uint64_t fitting) const = 0;
    /// The same where a file of @p fitting bytes would find space; empty: nothing to suggest.
    /// [local]
    [[nodiscard]] virtual std::string smaller_file(std::uint64_t fitting) const {
        (void)fitting;
        return {};
    }
    /// What a kernel itself knows of a repetition that was written.  [collective]
    virtual void add_figures(const comm::Comm& comm, core::Record& record) const {
        (void)comm, (void)record;
    }
    /// Files of text that the classic program writes beside what it prints.  [local]
    [[nodiscard]] virtual std::vector<NamedFile> files_written() const { return {}; }
    /// And their contents.  [local]
    [[nodiscard]] virtual std::vector<SideFile> side_files(const core::Record& record,
                                                           const Figures& figures) const {
        (void)record, (void)figures;
        return {};
    }
    /// Files that it reads.  [local]
    [[nodiscard]] virtual std::vector<NamedFile> files_read() const { return {}; }

    /// The parameters, before the run.  [local]
    [[nodiscard]] virtual std::string echo_text() const = 0;
    /// The block of results that the classic program prints, ahead of the common lines.  [local]
    [[nodiscard]] virtual std::string classic_text(const core::Record& record,
                                                   const Figures& figures) const = 0;
    /// What follows when all outputs of a repetition are there, ahead of the common lines of all.
    /// [collective]
    [[nodiscard]] virtual std::string closing_text(const comm::Comm& comm) const {
        (void)comm;
        return {};
    }
};

/// The step behind the last one of the file that begins with `first`; the last file may have fewer.
/// [local]
[[nodiscard]] inline std::uint64_t file_end(const Kernel& kernel, std::uint64_t first) {
    return std::min(first + kernel.steps_per_file(), kernel.steps());
}

}  // namespace tailrace::runner
