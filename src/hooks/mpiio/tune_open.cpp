// SPDX-License-Identifier: Apache-2.0
#include "hooks/mpiio/tune_open.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mpi_hints.hpp"
#include "hooks/common/in_child.hpp"
#include "hooks/common/locked.hpp"
#include "hooks/common/mpi_choice.hpp"
#include "hooks/mpiio/abi.hpp"

namespace tailrace::hooks::mpiio {
namespace {

constinit Real<int(Wide, int*)> comm_size{"PMPI_Comm_size"};
constinit Real<int(Wide, int*)> is_inter{"PMPI_Comm_test_inter"};
constinit Real<int(const void*, void*, int, Wide, Wide, Wide)> all_reduce{"PMPI_Allreduce"};
constinit Real<int(Wide*)> make_info{"PMPI_Info_create"};
constinit Real<int(Wide, Wide*)> copy_info{"PMPI_Info_dup"};
constinit Real<int(Wide, const char*, const char*)> set_info{"PMPI_Info_set"};
constinit Real<int(Wide, const char*, int, char*, int*)> get_info{"PMPI_Info_get"};
constinit Real<int(Wide*)> free_info{"PMPI_Info_free"};
constinit Real<int(File, Wide*)> info_of_file{"PMPI_File_get_info"};
constinit Real<int(File, Wide*)> get_handler{"PMPI_File_get_errhandler"};
constinit Real<int(File, Wide)> set_handler{"PMPI_File_set_errhandler"};
constinit Real<int(Wide*)> free_handler{"PMPI_Errhandler_free"};
constinit Real<int(File, int)> call_handler{"PMPI_File_call_errhandler"};

constexpr uint64_t all_ones = ~uint64_t{0};
constexpr const char* program_set_it = "the program set it itself";

// Ours come before the program: there is room in its static block.
__thread __attribute__((tls_model("initial-exec"))) bool within = false;
__thread __attribute__((tls_model("initial-exec"))) int left_to_connector = 0;

/// Once per process, for each thing that may have to be said.
void say_once(bool& said, const char* path, const char* what) {
    if (said) return;
    said = true;
    char line[900];
    snprintf(line, sizeof line, "%.600s: %.250s", path, what);
    spooling::say(line);
}
bool said_disagree = false;
bool said_refused = false;

int most_value() { return static_cast<int>(abi().most_value); }

MpiIo mpi_io() {
    return chosen_mpi_io([](void*, const char* name) { return find_next(name); }, nullptr);
}

/// Whether files are opened by Open MPI's own MPI-IO, as far as can be told before.
bool is_ompio() { return which_mpi() == Mpi::open_mpi && mpi_io().ompio; }

// The handler of failed opens belongs to the process. Several threads may be at it: the first one
// keeps the program's, the last one gives it back.
std::atomic_flag busy = ATOMIC_FLAG_INIT;
unsigned quiet = 0;
bool is_kept = false;
Wide of_program;
// The opens of other threads do not end in the child. What they kept is still the program's: the
// first open of the child gives it back.
const InChild in_child{[] {
    quiet = 0;
    busy.clear();
}};

/// One more thing that has to be the same on all ranks; never 0.
uint64_t with(uint64_t match, uint64_t more) {
    const uint64_t made = spooling::mixed(match, more);
    return made != 0 ? made : 1;
}

}  // namespace

spool::MpiIoKind opens_by(const char* path) {
    if (which_mpi() != Mpi::open_mpi) return spool::mpi_io_not_known;
    if (!is_ompio()) return spool::mpi_io_romio;
    return may_be_romio(mpi_io(), path) ? spool::mpi_io_not_known : spool::mpi_io_ompio;
}

/// The connector gives the hints of a file itself, and says what became of them.
extern "C" __attribute__((visibility("default"), used)) void tailrace_mpiio_leave(int more) {
    left_to_connector += more;
}

void OpenTuning::begin_quiet() {
    const Locked lock(busy);
    if (quiet++ > 0) return;
    is_kept = is_kept || get_handler(objects::no_file(), &of_program) == success;
    if (is_kept) set_handler(objects::no_file(), objects::errors_return());
}

void OpenTuning::end_quiet() {
    const Locked lock(busy);
    if (--quiet > 0 || !is_kept) return;
    is_kept = false;
    set_handler(objects::no_file(), of_program);
    free_handler(&of_program);
}

/// A file has the handler that was there for failed opens when it was opened.
void OpenTuning::give_handler(File file) {
    const Locked lock(busy);
    if (quiet > 0 && is_kept) set_handler(file, of_program);
}

void OpenTuning::tell_handler(int error) { call_handler(objects::no_file(), error); }

OpenTuning::OpenTuning(const OpenCall& call) : x_call(call) {
    if (within || left_to_connector > 0 || call.name == nullptr || !takes_part()) return;
    within = x_counts = true;
    x_path = spooling::absolute(call.name);
    if (look_up()) give_hints();
}

OpenTuning::~OpenTuning() {
    if (x_has_info) free_info(&x_info);
    free(x_path);
    if (x_counts) within = false;
}

/// Whether there is something for this file, on all ranks alike.
bool OpenTuning::look_up() {
    const plan::PlanView& of = plan_of_process();
    const uint64_t match = of.empty() || x_path == nullptr ? 0 : plan::match_of(of, x_path);
    if (!understood()) {
        if (match != 0) say_outcome(spool::became_unavailable, "the hook does not know this MPI");
        return false;
    }
    // What is no communicator for a file MPI says itself.
    int inter = 1;
    if (objects::is_no_communicator(x_call.communicator) ||
        is_inter(x_call.communicator, &inter) != success || inter != 0 ||
        comm_size(x_call.communicator, &x_ranks) != success) {
        return false;
    }
    if (match != 0) choose();
    if (x_ranks > 1 && !agree(match)) {
        say_once(said_disagree, x_path != nullptr ? x_path : x_call.name,
                 "the plan is off for this file: the ranks have different plans");
        say_outcome(spool::became_disagreed,
                    match != 0 ? "another rank has a different plan, or none for this file"
                               : "this rank has no plan for it");
        return false;
    }
    if (match == 0 && !of.empty()) say_outcome(spool::became_unmatched, "");
    x_matches = match != 0;
    return x_matches;
}

/// The hints that the plan has, and which of them the program has not set.
void OpenTuning::choose() {
    const plan::PlanView& of = plan_of_process();
    const auto moment =
        (x_call.mode & mode_create) != 0 ? plan::Moment::create : plan::Moment::open;
    const plan::Found found = plan::find(of, x_path, "", moment, static_cast<uint64_t>(x_ranks));
    for (const plan::PlanSetting* setting : found.all()) {
        if (plan::keys()[setting->key].key != plan::Key::hint) continue;
        char own[room_for_value];
        int there = 0;
        const std::string_view key = of.text(setting->name);
        // Longer names are an error of MPI, which may end the program.
        if (key.size() < abi().most_key && !is_null(x_call.info))
            get_info(x_call.info, key.data(), most_value(), own, &there);
        // HDF5 puts what was in force, ours too, into the program's list for its next open.
        if (there != 0 && of.text(setting->text) == own) there = 0;
        if (there == 0) x_free[x_count / 64] |= uint64_t{1} << (x_count % 64);
        x_all[x_count++] = {setting, 0, there != 0 ? program_set_it : "", ""};
    }
}

/// Whether all ranks have the same plan, the same match and what decides beside; x_free becomes
/// what is free on all of them: they open with the same hints.
bool OpenTuning::agree(uint64_t match) {
    uint64_t hash[2];
    plans::halves_of(plan_of_process(), hash);
    if (match != 0) {
        match = with(match, is_proven() ? 1 : 0);
        match = with(match, is_ompio() ? 1 : 0);
        match = with(match, static_cast<uint64_t>(x_call.mode & mode_create));
    }
    // The bits that all have of a number and of its complement: each bit is in one of them where
    // the number is the same.
    const uint64_t own[8] = {hash[0], ~hash[0], hash[1],   ~hash[1],
                             match,   ~match,   x_free[0], x_free[1]};
    uint64_t common[8] = {};
    if (all_reduce(own, common, 8, objects::number(), objects::all_bits(), x_call.communicator) !=
        success) {
        return false;
    }
    x_free[0] = common[6];
    x_free[1] = common[7];
    bool same = true;
    for (int at = 0; at < 6; at += 2) same = same && (common[at] | common[at + 1]) == all_ones;
    return same;
}

/// Puts those that nothing speaks against into a copy of the program's info.
void OpenTuning::give_hints() {
    const plan::PlanView& of = plan_of_process();
    const bool proven = is_proven();
    for (unsigned number = 0; number < x_count; ++number) {
        HintChoice& choice = x_all[number];
        const std::string_view key = of.text(choice.setting->name);
        if ((x_free[number / 64] >> (number % 64) & 1) == 0) {
            choice.became = spool::became_kept;
            if (choice.reason[0] == '\0')
                choice.reason = "the program set it itself on another rank";
        } else if (key.size() >= abi().most_key ||
                   of.text(choice.setting->text).size() >= abi().most_value) {
            choice.became = spool::became_misfit;
            choice.reason = "it is longer than this MPI takes";
        } else if (!proven &&
                   choice.setting->cls == static_cast<uint16_t>(plan::Class::collective)) {
            choice.became = spool::became_held;
            choice.reason = "this MPI is not that of the proven run";
        } else if (is_ompio() && key == "cb_nodes") {
            // Also where the program gives it itself: what is known is in docs/reference/apply.md.
            choice.became = spool::became_held;
            choice.reason = "OMPIO has been seen to write wrong data with several aggregators";
        } else {
            x_tuned = true;
        }
    }
    if (!x_tuned) return;
    const bool made =
        (is_null(x_call.info) ? make_info(&x_info) : copy_info(x_call.info, &x_info)) == success;
    for (unsigned number = 0; number < x_count; ++number) {
        HintChoice& choice = x_all[number];
        if (choice.became != 0) continue;
        const bool given = made && set_info(x_info, of.text(choice.setting->name).data(),
                                            of.text(choice.setting->text).data()) == success;
        choice.became = given ? spool::became_applied : spool::became_refused;
        if (!given) choice.reason = "MPI does not take it";
    }
    // All ranks go on alike, also one without memory.
    x_has_info = made;
    x_was_there = x_path != nullptr && access(x_path, F_OK) == 0;
}

/// Whether the call is to be made once more with the program's info: on all ranks or on none.
bool OpenTuning::again(int error) {
    // A file that must not be there yet may have been made before the call failed.
    const bool in_the_way =
        (x_call.mode & mode_excl) != 0 && !x_was_there && access(x_path, F_OK) == 0;
    const uint64_t own = error != success && !in_the_way ? 1 : 0;
    if (x_ranks == 1) return own == 1;
    uint64_t common = 0;
    return all_reduce(&own, &common, 1, objects::number(), objects::all_bits(),
                      x_call.communicator) == success &&
           common == 1;
}

void OpenTuning::refused() {
    for (unsigned number = 0; number < x_count; ++number) {
        if (x_all[number].became != spool::became_applied) continue;
        x_all[number].became = spool::became_refused;
        x_all[number].reason = "the file was opened with the program's own hints";
    }
    say_once(said_refused, x_path,
             "MPI-IO did not open it with the hints of the plan; the program's own are used");
}

/// The hints of an open file; false: MPI does not tell them.
bool OpenTuning::ask_hints(File file, Wide& info) {
    if (info_of_file(file, &info) == success && !is_null(info)) return true;
    for (unsigned number = 0; number < x_count; ++number) {
        if (x_all[number].became != spool::became_applied) continue;
        x_all[number].became = spool::became_unavailable;
        x_all[number].reason = hints_not_known;
    }
    return false;
}

/// A hint that the MPI does not know is silently left out: what is in force says the truth.
void OpenTuning::check(File file) {
    Wide info{};
    if (!ask_hints(file, info)) return;
    const plan::PlanView& of = plan_of_process();
    // Open MPI tells what was given, whether its MPI-IO has such a hint or not.
    const bool without_romio = is_ompio() && !may_be_romio(mpi_io(), x_path);
    for (unsigned number = 0; number < x_count; ++number) {
        HintChoice& choice = x_all[number];
        if (choice.became != spool::became_applied) continue;
        const char* key = of.text(choice.setting->name).data();
        char value[room_for_value] = {};
        int there = 0;
        if (get_info(info, key, most_value(), value, &there) != success || there == 0) {
            choice.became = spool::became_unavailable;
            choice.reason = hint_not_listed;
        } else if (of.text(choice.setting->text) != value) {
            choice.became = spool::became_unavailable;
            choice.reason = hint_has_other_value;
            snprintf(choice.in_force, sizeof choice.in_force, ": %.60s", value);
        } else if (without_romio && core::only_romio_reads(key)) {
            choice.became = spool::became_unavailable;
            choice.reason = hint_of_romio;
        }
    }
    free_info(&info);
}

/// The file was opened: notes down what became of the hints.
void OpenTuning::note(File file) {
    if (!x_matches) return;
    if (x_tuned) check(file);
    say_outcome(spool::became_met, "");
    const plan::PlanView& of = plan_of_process();
    for (unsigned number = 0; number < x_count; ++number) {
        const HintChoice& choice = x_all[number];
        char key[300];
        char reason[256];
        snprintf(reason, sizeof reason, "%s%s", choice.reason, choice.in_force);
        outcome({static_cast<spool::Became>(choice.became), of.text(choice.setting->rule).data(),
                 plans::name_of(of, *choice.setting, key), x_path, "",
                 of.text(choice.setting->text).data(), reason});
    }
}

void OpenTuning::say_outcome(spool::Became became, const char* reason) const {
    outcome({became, "", "", x_path != nullptr ? x_path : x_call.name, "", "", reason});
}

}  // namespace tailrace::hooks::mpiio
