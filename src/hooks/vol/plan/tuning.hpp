// SPDX-License-Identifier: Apache-2.0
// Applying the plan: to a file that is opened, to its datasets, to their transfers. Whoever asked
// finds its own lists unchanged; where the library refuses ours, the call is made with those.
#pragma once

#include "hooks/vol/library/ranks.hpp"
#include "hooks/vol/plan/kept_caches.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

/// A transfer list with settings of the plan. It lives as long as the file: the library looks at it
/// after our callback has returned.
struct TunedList {
    TunedList* next;
    Id list;
    uint64_t numbers[7];  ///< what makes it: direction, mode, options, buffer
};

/// What the plan has for an open file.
struct FilePlan {
    Library* library;
    char* path;
    uint64_t ranks;
    uint64_t block_bytes;
    FileCache cache;
    bool about_datasets;    ///< there are entries for some of them
    bool parallel;          ///< opened with MPI-IO
    uint64_t changes_left;  ///< with MPI-IO: datasets whose chunks may still be changed
    bool subfiled;          ///< where the program asked for MPI-IO
    bool proven;            ///< HDF5 and MPI are those that collective settings were proven with
    TunedList* lists;
    KeptCaches kept;
    Ranks together;     ///< that fill together what none of them has written; or none
    uint64_t unfilled;  ///< datasets that they count
    uint64_t unfilled_elements;
    bool uncounted;  ///< there is one that this rank could not count
};
void forget(FilePlan* plan);

/// What it has for the transfers of a dataset.
struct TransferPlan {
    const plan::PlanSetting* settings[8];
    size_t count;
    const TunedList* standard[2];  ///< for transfers with the library's default list, by direction
    bool idle[2];                  ///< there is nothing to put on those
};

/// One call of H5Fcreate or H5Fopen.
class FileTuning {
public:
    /// Looks the file up and makes the lists; with MPI-IO [collective].
    /// @param creation  invalid_id: it is opened
    /// @param access    names the connector below
    FileTuning(Library& library, const char* name, unsigned flags, Id creation, Id access);
    ~FileTuning();
    FileTuning(const FileTuning&) = delete;
    FileTuning& operator=(const FileTuning&) = delete;

    /// Makes the call: `call(creation, access, flags)` gives the file below or nullptr.
    /// @param connector  the one below
    template <typename Call>
    void* make(Id connector, Call call) {
        if (x_refused) {
            // HDF5 says that the file is open to be read; what it were to open would write nothing.
            void* made = call(x_creation, x_access, x_flags);
            if (made == nullptr) return nullptr;
            give_up(made, connector);
            return call(x_creation, x_program_access, x_flags);
        }
        if (!x_tuned) return call(x_creation, x_access, x_flags);
        void* made = nullptr;
        {
            const Quiet quiet(x_library);
            made = call(x_own_creation >= 0 ? x_own_creation : x_creation,
                        x_own_access >= 0 ? x_own_access : x_access, tuned_flags());
        }
        if (!again(made != nullptr)) return made;
        made = call(x_creation, x_access, x_flags);
        if (made != nullptr) refused();
        return made;
    }
    /// The file was opened: what its objects are to be looked up by; nullptr: nothing. Says which
    /// hints are in force.
    FilePlan* take(Object& file);
    /// It was not, on this rank: others may ask in take().
    void not_opened() const;
    /// The driver of the plan's that it was opened with; nullptr: none.
    /// @param name  as the program gave it
    [[nodiscard]] OpenDriver* take_driver(const char* name) const;
    /// Whether other ranks may make the same calls on the file, and wait for this one.
    [[nodiscard]] bool of_ranks() const { return x_parallel || !x_known; }

private:
    bool look_up(const char* name);
    bool vote(Vote& vote);
    [[nodiscard]] uint64_t with_what_is_seen(uint64_t match) const;
    void find_settings();
    bool share_driver(const char* name);
    void give_up(void* made, Id connector);
    void put_all();
    void claim(const char* name);
    [[nodiscard]] unsigned tuned_flags() const;
    void put_subfiling();
    bool take_subfiling(uint64_t stripe_bytes);
    [[nodiscard]] bool program_gives(const plan::PlanSetting& hint) const;
    void find_free_hints(uint64_t (&free)[2]) const;
    [[nodiscard]] bool is_free(const plan::PlanSetting& hint) const;
    void put_hints();
    [[nodiscard]] Mpi::Handle hints_of(Object& file) const;
    [[nodiscard]] const char* why_not_in_force(const plan::PlanSetting& hint,
                                               Mpi::Handle info) const;
    void check_hints(Object& file);
    bool again(bool made);
    void refused();
    [[nodiscard]] bool ranks_fill(bool able) const;

    Library& x_library;
    Id x_creation;
    Id x_access;
    Id x_program_access;
    Id x_own_creation = invalid_id;
    Id x_own_access = invalid_id;
    Id x_shared_access = invalid_id;       ///< the program's, with the driver that is shared
    const OpenDriver* x_driver = nullptr;  ///< of a plan's, that the file is open with already
    bool x_refused = false;                ///< it is to be written, and is in memory already
    unsigned x_flags;
    const char* x_claimed = nullptr;  ///< of an exclusive create: the file that was made here
    bool x_tuned = false;  ///< the call is made with lists of ours; with MPI-IO on all ranks
    bool x_parallel = false;
    bool x_known = true;       ///< how many processes open it together
    bool x_durable = false;    ///< so the program declares
    bool x_exclusive = false;  ///< it must not be there yet
    bool x_written = false;    ///< it is created, or opened for writing
    bool x_was_there = false;
    bool x_threads = false;   ///< MPI_THREAD_MULTIPLE, on all ranks
    bool x_subfiles = false;  ///< the file has some already
    bool x_subfiled = false;  ///< the call is made with the subfiling driver
    Ranks x_ranks;
    uint64_t x_free_hints[2] = {0, 0};  ///< by place among those found
    FilePlan* x_plan = nullptr;
    plan::Found x_found;
    Choices x_choices;
};

/// One call of H5Dcreate, H5Dopen or H5Oopen in a file that the plan has something for.
class DatasetTuning {
public:
    /// @param location, name  as the call has them
    DatasetTuning(Object& parent, const Location* location, const char* name, plan::Moment moment);
    ~DatasetTuning();
    DatasetTuning(const DatasetTuning&) = delete;
    DatasetTuning& operator=(const DatasetTuning&) = delete;

    struct Lists {
        Id creation, access;
    };
    /// Whether there are settings at all.
    [[nodiscard]] bool any() const { return x_path != nullptr; }
    /// Makes `call(creation, access)` with lists of ours, and where that fails with the program's.
    template <typename Call>
    void* create(Id type, Id space, Lists own, Call call) {
        put_creation(type, space, own);
        if (x_creation < 0 && x_access < 0) return call(own.creation, own.access);
        {
            const Quiet quiet(x_parent.library());
            const Id creation = x_creation >= 0 ? x_creation : own.creation;
            void* made = call(creation, x_access >= 0 ? x_access : own.access);
            if (made != nullptr) return made;
            // What the access needs, memory for one, a single rank may lack: the layout of a file
            // must not come to differ by that.
            if (x_creation >= 0 && x_access >= 0) made = call(creation, own.access);
            if (made != nullptr) refused(false);
            if (made != nullptr) return made;
        }
        void* made = call(own.creation, own.access);
        if (made != nullptr) refused(true);
        return made;
    }
    /// Opens a dataset anew where its chunks ask for another access: `inner` was opened with the
    /// program's list, `call(access)` opens it with another.
    template <typename Call>
    void* reopen(void* inner, Id own, Id transfer, void** request, Call call) {
        if (!may_reopen(inner, request) || better_access(inner, own) < 0) return inner;
        const Library& of = x_parent.library();
        const Quiet quiet(of);
        if (of.H5VLdataset_close(inner, x_parent.connector(), transfer, nullptr) < 0) return inner;
        void* made = call(x_access);
        if (made != nullptr) return made;
        made = call(own);
        if (made != nullptr) refused(false);
        return made;
    }
    /// Gives the dataset what its transfers need, and notes down what became of the settings.
    void done(Object& dataset);

private:
    [[nodiscard]] bool stays_in_file() const;
    void leave_indexes();
    void bound_changes();
    void bound_chunk(plan::Surroundings around);
    void put_creation(Id type, Id space, Lists own);
    void put_access(const plan::Surroundings& around, uint64_t most_stored, Id own);
    [[nodiscard]] bool is_too_large(uint64_t bytes, uint64_t most) const;
    void bound_cache(bool of_ranks);
    [[nodiscard]] bool may_reopen(void* inner, void** request);
    Id better_access(void* inner, Id own);
    void refused(bool creation);
    void count_unfilled(Object& dataset);
    void check_allocation(const Object& dataset);
    void check_cache(Object& dataset);

    Object& x_parent;
    const char* x_name;  ///< as the program gave it, seen from the parent; nullptr: otherwise
    char* x_path = nullptr;
    OpenCache* x_cache = nullptr;  ///< that it has already, of a plan
    plan::Found x_found;
    Choices x_choices;         ///< of creation
    Choices x_access_choices;  ///< of access
    Id x_creation = invalid_id;
    Id x_access = invalid_id;
    bool x_made = false;             ///< it is a new one
    Id x_own_creation = invalid_id;  ///< the program's list for it
};

/// Lets go of the list of a transfer that has ended.
void release_held(Library& library);

/// One call of H5Dread or H5Dwrite, or of those for several datasets.
class TransferTuning {
public:
    TransferTuning(size_t count, void** objects, Id list, bool writes);
    ~TransferTuning();
    TransferTuning(const TransferTuning&) = delete;
    TransferTuning& operator=(const TransferTuning&) = delete;

    /// Makes `call(list)`.
    template <typename Call>
    Status make(Call call) {
        if (x_tuned < 0) return call(x_list);
        Status status = -1;
        if (!x_may_repeat) {
            status = call(x_tuned);
        } else {
            const Quiet quiet(*x_library);
            status = call(x_tuned);
        }
        if (status >= 0 || !x_may_repeat) return status;
        {
            const CallOfItsOwn again(*x_library);
            status = call(x_list);
        }
        if (status >= 0) refused();
        return status;
    }

private:
    [[nodiscard]] bool agree(const Object& first) const;
    void note_all(Choices& done) const;
    void tune(Object& dataset);
    void refused();

    Library* x_library = nullptr;
    size_t x_count;
    void** x_objects;
    Id x_list;
    Id x_tuned = invalid_id;
    bool x_writes;
    bool x_may_repeat = false;
    const Object* x_dataset = nullptr;
};

}  // namespace tailrace::hooks::vol
