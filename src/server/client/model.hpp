// SPDX-License-Identifier: Apache-2.0
// What a rank of the model calls: fields by name, steps, files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/client/backend.hpp"
#include "server/profiler/profiler.hpp"
#include "server/writer/how.hpp"

namespace tailrace::server {

/// The part of a variable that a rank has.
struct LocalBlock {
    core::Box box;               ///< within one record; empty: none
    const void* data = nullptr;  ///< nullptr: none
    bool replicated = false;     ///< all ranks have the same: only that of rank 0 is used
    core::MemLayout memory{};    ///< empty: packed, the slowest dimension first
};

class Model {
public:
    /// @param backend  who writes  [local]
    /// @param rank     of the model
    /// @param profiler of the calls; it outlives the model
    /// @param lacking  what who writes has not
    Model(std::unique_ptr<Backend> backend, int rank, Profiler& profiler, Lacking lacking);

    /// @returns its number, the same on all ranks  [collective, waits for nobody]
    /// @throws core::Error{Code::bad_input} if there is one of this name
    /// @param again  whether a name of this run may be written once more, as its repetitions do
    std::uint64_t add_collection(const std::string& name, const FileMetadata& metadata,
                                 const CollectionOptions& options, bool again = false);
    /// To edit it: the next file has it.  [local, the same on all ranks]
    /// @throws core::Error{Code::wrong_call} if there is no such collection
    FileMetadata& metadata(std::uint64_t collection);

    /// The name of the file from now on, by the collection's template. Within a step it must stay.
    /// [local, the same on all ranks]
    void set_date(std::uint64_t collection, const Date& date);
    /// A block of a variable; every rank calls it, also with nothing.  [collective, waits for room]
    /// @param file    its name; empty: that of set_date(), or of the file that is open
    /// @param record  of the file; unset: the present one
    /// @throws core::Error on this rank alone, for what it can see by itself; nothing is put then
    void put(std::uint64_t collection, const std::string& file, const std::string& variable,
             core::Scalar type, const LocalBlock& block,
             std::optional<std::uint64_t> record = std::nullopt);
    /// Ends a step; the next puts belong to the next record.
    /// @param time  value of the time coordinate: of the variable that is named like the unlimited
    ///              dimension
    /// @returns what became of earlier steps, the same on all ranks  [collective]
    std::vector<Status> end_step(std::uint64_t collection, std::optional<double> time = {});
    /// Ends the file, whose status comes with a later call.  [collective, waits for nobody]
    /// @param outcome  discard: also within a step; what stood under its name stays
    void end_file(std::uint64_t collection, core::Outcome outcome = core::Outcome::publish);
    /// The file gets its final name.  @returns all statuses, the same on all ranks  [collective]
    std::vector<Status> close_file(std::uint64_t collection);
    std::vector<Status> flush(std::uint64_t collection);  ///< the same  [collective]
    /// The first failure that has been heard of; never waits, and may differ between ranks. [local]
    [[nodiscard]] std::optional<core::Error> status() { return x_backend->heard(); }
    [[nodiscard]] Traffic traffic() const noexcept { return x_backend->traffic(); }  ///< [local]
    /// Flushes all and says goodbye.  [collective]
    /// @returns the statuses that nobody has taken, the same on all ranks
    std::vector<Status> finalize();

    [[nodiscard]] bool lost_servers() const { return x_backend->lost_servers(); }  ///< [local]
    [[nodiscard]] std::uint64_t collections() const noexcept { return x_collections.size(); }
    [[nodiscard]] std::uint64_t record(std::uint64_t collection) const;  ///< present one  [local]

private:
    struct Collection {
        std::string name;
        FileSpec spec;
        std::uint64_t defined = 0;  // hash of what the backend has
        std::string file, dated;    // open now; by the last date
        std::uint64_t record = 0, next_record = 0, steps = 0;
        bool in_step = false, again = false;
        std::set<std::string> finished{};       // names that this run has used
        std::set<std::uint64_t> put_records{};  // of the puts of this step
    };
    Collection& at(std::uint64_t collection, const std::string& where = {});
    void begin_file(std::uint64_t number, Collection& one, const std::string& file);
    std::vector<Status> end_and_wait(std::uint64_t collection, const char* name,
                                     std::vector<Status> (Backend::*call)(std::uint64_t));
    void check_only_here(const Collection& one, const std::string& file) const;
    void check_storable(const Collection& one, const std::string& where) const;
    static void check_unchanged(Collection& one);
    static void check_no_step(const Collection& one);
    static void forget_file(Collection& one);
    void begin_dated(std::uint64_t number, Collection& one);
    [[nodiscard]] static const Variable& coordinate_for(const Collection& one, double time);
    void put_time(std::uint64_t number, Collection& one, double time);

    std::unique_ptr<Backend> x_backend;
    int x_rank;
    Profiler& x_profiler;
    Lacking x_lacking;
    std::deque<Collection> x_collections;  // metadata() refers to them
    bool x_finalized = false;
};

}  // namespace tailrace::server
