// SPDX-License-Identifier: Apache-2.0
// All files of one server: it has them for itself, by the serial way of their format.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/sink.hpp"
#include "server/frontend/serve.hpp"
#include "server/profiler/profiler.hpp"
#include "server/writer/file_writer.hpp"

namespace tailrace::server {

/// What a collection knows of the file that it writes.
class Files {
public:
    /// Called with each file that got its final name.
    using Published = std::function<void(const core::FileReport&)>;
    Files(int rank, int ranks, Published published)
        : x_rank(rank), x_ranks(ranks), x_published(std::move(published)) {}

    /// The file of this number, made by its first step.  [local]
    /// @throws core::Error: the one that it was lost by, if it was
    FileWriter& of(std::uint64_t collection, std::uint64_t file_seq, const std::string& path,
                   std::span<const std::byte> spec);
    /// Whether this file or a later one was begun.  [local]
    [[nodiscard]] bool knows(std::uint64_t collection, std::uint64_t file_seq) const {
        const auto found = x_current.find(collection);
        return found != x_current.end() && found->second.file_seq >= file_seq;
    }
    /// Writes records of one step.  [local]
    /// @throws core::Error; the file is lost then, and says so until the next one
    void write(std::uint64_t collection, std::span<const FieldRecord> records);
    /// Gives the open file of a collection its name, if there is one.  [local]
    /// @throws core::Error
    /// @param file_seq  that is ended; another one that is open stays open
    void publish(std::uint64_t collection, std::uint64_t file_seq);
    /// A step of that file will never be complete: it is removed, and says so until the next one.
    void give_up(std::uint64_t collection, std::uint64_t file_seq, const core::Error& error);

private:
    struct Current {
        std::uint64_t file_seq = 0;
        std::string path;
        std::optional<FileWriter> writer{};
        std::optional<core::Error> lost{};
        std::map<std::uint64_t, core::Error> ahead{};  // of later files: a step failed early
        void take_ahead();
    };
    [[noreturn]] void lose(Current& current, const core::Error& error,
                           const std::string& record = {});

    int x_rank, x_ranks;  // as errors name them
    Published x_published;
    std::map<std::uint64_t, Current> x_current;  // per collection
};

/// The next stage of a front end: writes what is complete, one after the other.
class Writer {
public:
    /// @param rank      of so many, as errors name it
    /// @param profiler  of the thread that writes; it outlives the writer  [local]
    Writer(int rank, int ranks, Files::Published published, Profiler& profiler)
        : x_files(rank, ranks, std::move(published)),
          x_profiler(profiler),
          x_rank(rank),
          x_ranks(ranks) {}
    /// @throws core::Error, the final status of the item
    void operator()(Work& work);

private:
    void write(Work& work);

    Files x_files;
    Profiler& x_profiler;
    int x_rank, x_ranks;
};

}  // namespace tailrace::server
