// SPDX-License-Identifier: Apache-2.0
// The plan at a file that is created or opened.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "hooks/vol/apply/changed_chunks.hpp"
#include "hooks/vol/apply/direct_chunks.hpp"
#include "hooks/vol/apply/proven.hpp"
#include "hooks/vol/apply/subfiles.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/describe.hpp"
#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/observe/declared.hpp"
#include "hooks/vol/plan/tuning.hpp"
#include "intent/plan/unasked_caches.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned read_write = 0x0001;
constexpr unsigned truncating = 0x0002;
constexpr unsigned exclusive = 0x0004;
constexpr unsigned single_writer = 0x0020 | 0x0040;

/// A block of the file system that a file is, or is to be, in; 0: not known.
uint64_t block_of(const char* path) {
    struct statfs system {};
    if (statfs(path, &system) == 0) return static_cast<uint64_t>(system.f_bsize);
    const char* slash = strrchr(path, '/');
    char* folder = slash != nullptr ? strndup(path, slash - path + 1) : nullptr;
    const bool good = folder != nullptr && statfs(folder, &system) == 0;
    free(folder);
    return good ? static_cast<uint64_t>(system.f_bsize) : 0;
}

/// Once per process, for each thing that may have to be said.
void say_once(bool& said, const char* path, const char* what) {
    if (said) return;
    said = true;
    char line[900];
    snprintf(line, sizeof line, "%.600s: %.250s", path, what);
    recorder::say(line);
}
bool said_disagree = false;
bool said_no_mpi = false;
bool said_refused = false;
bool said_lost = false;

/// What the list of the file says about the chunk caches of its datasets.
FileCache cache_of(const Library& of, Id access) {
    int elements = 0;
    size_t numbers[2][2] = {};
    double preemption[2] = {};
    if (of.H5Pget_cache(access, &elements, &numbers[0][0], &numbers[0][1], &preemption[0]) < 0 ||
        of.H5Pget_cache(of.default_file_access, &elements, &numbers[1][0], &numbers[1][1],
                        &preemption[1]) < 0)
        return {true, 0, ~uint64_t{0}};
    if (plan::nobody_chose({numbers[0][0], numbers[0][1], preemption[0]}, 0))
        return {false, numbers[0][1], numbers[0][1]};
    const bool differs = numbers[0][0] != numbers[1][0] || numbers[0][1] != numbers[1][1] ||
                         preemption[0] != preemption[1];
    return {differs, 0, numbers[0][1]};
}

bool is_paged(const Library& of, Id creation) {
    uint64_t strategy = 0;
    return creation >= 0 && ask_space_strategy(of, creation, &strategy) >= 0 &&
           strategy == strategy_page;
}

Size user_block_of(const Library& of, Id creation) {
    Size bytes = 0;
    return creation >= 0 && of.H5Pget_userblock(creation, &bytes) >= 0 ? bytes : 0;
}

/// What keeps metadata from the disk longer than HDF5 does by itself.
void hold_what_delays(Choices& choices) {
    const Choice* evictions = choices.open(Key::metadata_cache_evictions);
    if (evictions != nullptr && evictions->number == 0)
        choices.settle(Key::metadata_cache_evictions, spool::became_held,
                       "the program declares the file durable");
}

}  // namespace

void forget(FilePlan* plan) {
    if (plan == nullptr) return;
    if (plan->library == nullptr) {  // there was no memory for more
        free(plan);
        return;
    }
    const ErrorsKept kept(*plan->library);
    while (plan->lists != nullptr) {
        TunedList* old = plan->lists;
        plan->lists = old->next;
        plan->library->H5Pclose(old->list);
        free(old);
    }
    plan->together.let_go();
    free(plan->path);
    free(plan);
}

FileTuning::FileTuning(Library& library, const char* name, unsigned flags, Id creation, Id access)
    : x_library(library),
      x_creation(creation),
      x_access(access),
      x_program_access(access),
      x_flags(flags) {
    if (!takes_part()) return;
    x_exclusive = creation >= 0 && (flags & exclusive) != 0;
    x_written = creation >= 0 || (flags & read_write) != 0;
    const Quiet quiet(library);
    x_parallel = uses_mpi(library, access);
    x_known = x_parallel || is_of_one_process(library, access);
    if (share_driver(name) && x_driver->in_memory && x_written) {
        x_refused = true;
        return;
    }
    if (!look_up(name)) {
        forget(x_plan);
        x_plan = nullptr;
        return;
    }
    put_all();
    if (x_tuned && x_exclusive && !x_parallel) claim(name);
}

/// HDF5 finds a file that is open with a driver of the plan's only where it is opened with that
/// too, and refuses what it refuses without a plan.
bool FileTuning::share_driver(const char* name) {
    const Library& of = x_library;
    const OpenDriver* open = x_parallel ? nullptr : open_driver_of(of, name);
    if (open == nullptr || of.H5Pget_driver(x_access) != of.H5Pget_driver(of.default_file_access))
        return false;
    x_shared_access = of.H5Pcopy(x_access);
    if (x_shared_access < 0 || !(open->in_memory ? put_core(of, x_shared_access, 64 << 20, false)
                                                 : put_direct(of, x_shared_access)))
        return false;
    x_access = x_shared_access;
    x_driver = open;
    return true;
}

void FileTuning::give_up(void* made, Id connector) {
    const ErrorsKept kept(x_library);
    x_library.H5VLfile_close(made, connector, x_library.default_transfer, nullptr);
    x_driver = nullptr;
}

/// Makes the file that must not be there yet, before HDF5 does. A create with our lists may fail
/// when the file is made, and the next one must not find it; but to remove it we have to know that
/// it is ours, and not that of a program that was faster.
void FileTuning::claim(const char* name) {
    const bool plain = makes_plain_file(x_library, x_access);
    const int made = plain ? ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (made >= 0) {
        ::close(made);
        x_claimed = name;
        return;
    }
    x_tuned = false;
    x_choices.instead_of_applied(spool::became_refused,
                                 "the file could not be made beforehand: it must not be there yet");
}

unsigned FileTuning::tuned_flags() const {
    return x_claimed != nullptr ? (x_flags & ~exclusive) | truncating : x_flags;
}

/// Whether there is something for this file, on all ranks alike.
bool FileTuning::look_up(const char* name) {
    const plan::PlanView& of = plan_of_process();
    if (of.empty() && !x_parallel) return false;
    x_plan = static_cast<FilePlan*>(calloc(1, sizeof(FilePlan)));
    char* path = x_plan != nullptr ? recorder::absolute(name) : nullptr;
    Vote vote;
    if (path != nullptr) {
        x_plan->library = &x_library;
        x_plan->path = path;
        x_plan->ranks = 1;
        vote.block_bytes = block_of(path);
        vote.room = room_for_direct_chunks();
        if (!of.empty()) {
            plans::halves_of(of, vote.plan);
            vote.match = plan::match_of(of, path);
            x_plan->about_datasets = plan::has_datasets(of, path);
            x_plan->proven = versions_are_proven(x_library);
            // Ranks that see it otherwise have not the same plan.
            if (!x_plan->proven && vote.match != 0) vote.match = ~vote.match | 1U;
        }
        x_durable = vote.match != 0 && declared_durable(x_library, name, x_access, x_creation);
        if (vote.match != 0 && x_parallel) {
            x_threads = has_threads(x_library);
            x_subfiles = x_creation < 0 && has_subfiles(path);
        }
    }
    if (x_parallel) {
        // Whoever has no memory votes too, for no plan at all.
        if (!this->vote(vote)) return false;
    }
    if (path == nullptr) return false;
    if (vote.match == 0) {
        if (!of.empty()) recorder::outcome({spool::became_unmatched, "", "", path, "", "", ""});
        return false;
    }
    if (!x_known) {
        recorder::outcome({spool::became_unavailable, "", "", path, "", "",
                           "the program's driver may be for several ranks, which only those of "
                           "MPI-IO can be asked"});
        return false;
    }
    if (!x_parallel) find_settings();
    x_plan->parallel = x_parallel;
    x_was_there = ::access(path, F_OK) == 0;
    x_plan->block_bytes = vote.block_bytes;
    x_plan->changes_left = vote.room;
    x_plan->cache = cache_of(x_library, x_access);
    return true;
}

/// What settings depend on is the same on all ranks, or the plan is off: theirs would differ.
uint64_t FileTuning::with_what_is_seen(uint64_t match) const {
    const uint64_t seen = (x_durable ? 1 : 0) + (x_threads ? 2 : 0) + (x_subfiles ? 4 : 0) +
                          (x_ranks.mpi().is_ompio() ? 8 : 0);
    if (match == 0 || seen == 0) return match;
    const uint64_t mixed = match * 0x9e3779b97f4a7c15U + seen;
    return mixed != 0 ? mixed : 1;
}

bool FileTuning::vote(Vote& vote) {
    const char* path = x_plan != nullptr && x_plan->path != nullptr ? x_plan->path : "";
    if (!x_ranks.open(x_library, x_access)) {
        if (vote.match != 0) {
            char why[200];
            snprintf(why, sizeof why, "the plan is off: %s, so ranks cannot agree on it",
                     x_ranks.obstacle());
            say_once(said_no_mpi, path, why);
            snprintf(why, sizeof why, "ranks cannot agree: %s", x_ranks.obstacle());
            recorder::outcome({spool::became_unavailable, "", "", path, "", "", why});
        }
        return false;
    }
    vote.match = with_what_is_seen(vote.match);
    const uint64_t here = vote.match;
    if (x_plan != nullptr) x_plan->ranks = x_ranks.count();
    if (here != 0) {
        find_settings();
        find_free_hints(vote.free_hints);
    }
    if (!x_ranks.agree(vote)) {
        say_once(said_disagree, path,
                 "the plan is off for this file: the ranks have different plans");
        recorder::outcome({spool::became_disagreed, "", "", path, "", "",
                           here != 0 ? "another rank has a different plan, or none for this file"
                                     : "this rank has no plan for it"});
        return false;
    }
    for (int half = 0; half < 2; ++half) x_free_hints[half] = vote.free_hints[half];
    return true;
}

/// What the plan has for the file, once it is known how many ranks open it.
void FileTuning::find_settings() {
    const plan::Moment moment = x_creation >= 0 ? plan::Moment::create : plan::Moment::open;
    x_found = plan::find(plan_of_process(), x_plan->path, "", moment, x_plan->ranks);
}

void FileTuning::put_all() {
    if (x_found.count == 0) return;
    plan::Surroundings around;
    around.ranks = x_plan->ranks;
    around.block_bytes = x_plan->block_bytes;
    x_choices.choose(x_found, around,
                     {plan::Level::file_create, plan::Level::file_access, plan::Level::hint});
    if (!x_plan->proven) x_choices.hold_collective(not_proven);
    if (x_durable) hold_what_delays(x_choices);
    if (x_creation >= 0) {
        x_own_creation = x_library.H5Pcopy(x_creation);
        Put on{x_library, x_choices, x_own_creation, x_library.default_file_creation};
        if (x_own_creation >= 0)
            put_file_creation(on, x_parallel, has_members(x_library, x_access));
    } else {
        x_choices.settle(Key::file_space_strategy, spool::became_held, "the file is there already");
        x_choices.settle(Key::page_bytes, spool::became_held, "the file is there already");
    }
    // Copying a list of MPI-IO is collective: all ranks are here, with the same plan.
    x_own_access = x_library.H5Pcopy(x_access);
    if (x_own_access >= 0) {
        Put on{x_library, x_choices, x_own_access, x_library.default_file_access};
        put_file_access(on, {x_parallel, is_paged(x_library, x_own_creation), x_creation >= 0,
                             x_written, (x_flags & single_writer) != 0,
                             user_block_of(x_library, x_own_creation), x_plan->path, x_driver});
        put_subfiling();
        put_hints();
    }
    // In parallel all ranks go on alike, even where on one of them the program has its own.
    x_tuned = x_parallel || x_choices.any_applied();
    if (!x_tuned) {
        if (x_own_creation >= 0) x_library.H5Pclose(x_own_creation);
        if (x_own_access >= 0) x_library.H5Pclose(x_own_access);
        x_own_creation = x_own_access = invalid_id;
    }
}

/// Whether the call is to be made once more with the program's lists: on all ranks or on none.
bool FileTuning::again(bool made) {
    // Without their driver the file that stands for subfiles is one of its own, without data.
    if (x_subfiled && x_creation < 0) {
        if (!made)
            say_once(said_lost, x_plan->path,
                     "its subfiles could not be opened: see that all of NAME.subfile_* are there");
        return false;
    }
    // Where all ranks create it together nobody can take away what ours has made, and the second
    // call must not find it: what one of them sees of that decides for all.
    const bool stands =
        x_exclusive && x_parallel && !x_was_there && ::access(x_plan->path, F_OK) == 0;
    const bool can = !made && !stands;
    if (!(x_parallel ? x_ranks.all(can) : can)) return false;
    if (x_claimed != nullptr) unlink(x_claimed);
    return true;
}

void FileTuning::refused() {
    x_subfiled = false;
    x_choices.instead_of_applied(spool::became_refused,
                                 "the file was opened with the program's own settings");
    say_once(said_refused, x_plan->path,
             "the library refused settings of the plan; the program's own are used");
}

OpenDriver* FileTuning::take_driver(const char* name) const {
    if (x_driver != nullptr) return use_driver(x_library, name, x_driver->in_memory);
    if (x_parallel) return nullptr;
    for (const Choice& choice : x_choices) {
        if (choice.became == spool::became_applied &&
            choice.setting->key == static_cast<uint16_t>(Key::driver))
            return use_driver(x_library, name,
                              plan_of_process().text(choice.setting->text) == "core");
    }
    return nullptr;
}

/// Whether all ranks will fill together what none of them writes. All have to ask, also one that
/// could not open the file.
bool FileTuning::ranks_fill(bool able) const {
    return x_parallel && x_written && plan_asks_ranks_to_fill(x_plan->path) && x_ranks.all(able);
}

void FileTuning::not_opened() const {
    if (x_plan != nullptr) static_cast<void>(ranks_fill(false));
}

FilePlan* FileTuning::take(Object& file) {
    if (x_plan == nullptr) return nullptr;
    {
        const Quiet quiet(x_library);
        check_hints(file);
    }
    FilePlan* taken = x_plan;
    if (x_creation >= 0) forget_changed_in(taken->path);
    taken->subfiled = x_subfiled;
    taken->kept.allowed =
        !x_written && !x_parallel && may_keep_caches(file, x_access) && ends_before(x_library);
    if (ranks_fill(file.under->native && ends_before(x_library)))
        x_ranks.hand_over(taken->together);
    recorder::outcome({spool::became_met, "", "", taken->path, "", "", ""});
    x_choices.note({taken->path, ""});
    x_plan = nullptr;
    return taken;
}

FileTuning::~FileTuning() {
    if (x_plan == nullptr && x_own_access < 0 && x_own_creation < 0 && x_shared_access < 0) return;
    const ErrorsKept kept(x_library);
    if (x_shared_access >= 0) x_library.H5Pclose(x_shared_access);
    if (x_own_creation >= 0) x_library.H5Pclose(x_own_creation);
    if (x_own_access >= 0) x_library.H5Pclose(x_own_access);
    // Not taken: the file was not opened.
    forget(x_plan);
}

}  // namespace tailrace::hooks::vol
