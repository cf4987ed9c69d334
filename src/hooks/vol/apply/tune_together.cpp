// SPDX-License-Identifier: Apache-2.0
// The plan at a file that ranks open together: its hints for MPI-IO, or another driver.
#include <stdlib.h>

#include "core/mpi_hints.hpp"
#include "hooks/common/mpi_choice.hpp"
#include "hooks/vol/apply/subfiles.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {

/// Never with the null info: of a file opened with that HDF5 2.2.0 cannot give the list back.
bool FileTuning::take_subfiling(uint64_t stripe_bytes) {
    const Mpi& mpi = x_ranks.mpi();
    Mpi::Handle info = x_ranks.info();
    const bool ours = mpi.no_info.is(info);
    if (x_library.H5Pset_fapl_mpio == nullptr || (ours && mpi.make_info(&info) != 0)) return false;
    const bool good = x_library.H5Pset_fapl_mpio(x_own_access, x_ranks.communicator(), info) >= 0 &&
                      put_subfiles(x_library, x_own_access, stripe_bytes);
    if (ours) mpi.forget_info(&info);
    return good;
}

/// One file for another driver's several: where all ranks can, and where the file has them.
void FileTuning::put_subfiling() {
    const Choice* driver = x_choices.open(Key::driver);
    if (driver == nullptr || !x_parallel) return;
    const Choice* stripe = x_choices.open(Key::subfiling_stripe_bytes);
    const Choice* concentrators = x_choices.open(Key::subfiling_concentrators_per_node);
    const auto settle = [&](spool::Became became, const char* reason) {
        for (const Key key :
             {Key::driver, Key::subfiling_stripe_bytes, Key::subfiling_concentrators_per_node})
            x_choices.settle(key, became, reason);
    };
    if (!x_threads) {
        settle(
            spool::became_held,
            "the subfiling driver needs MPI_THREAD_MULTIPLE, and the program did not ask for it");
        return;
    }
    // The one rank would wait for a message from its own thread, which MPICH never delivers.
    if (x_ranks.count() == 1 && !x_ranks.mpi().open_mpi) {
        settle(spool::became_held, "the subfiling driver hangs on a single rank under MPICH");
        return;
    }
    if (x_creation < 0 && !x_subfiles) {
        settle(spool::became_held, "the file is there already, and has no subfiles");
        return;
    }
    // HDF5's own variables win over what a list says.
    if (getenv("H5FD_SUBFILING_STRIPE_SIZE") != nullptr)  // NOLINT(concurrency-mt-unsafe)
        x_choices.settle(Key::subfiling_stripe_bytes, spool::became_kept,
                         "the environment sets it");
    if (concentrators != nullptr && concentrators->number != 1)
        x_choices.settle(Key::subfiling_concentrators_per_node, spool::became_held,
                         "HDF5 takes several per node only from H5FD_SUBFILING_IOC_PER_NODE");
    // One rank with another driver would leave the others waiting.
    x_subfiled = x_ranks.all(take_subfiling(stripe != nullptr ? stripe->number : 0));
    if (!x_subfiled && x_library.H5Pset_fapl_mpio != nullptr)
        x_library.H5Pset_fapl_mpio(x_own_access, x_ranks.communicator(), x_ranks.info());
    settle(x_subfiled ? spool::became_applied : spool::became_unavailable,
           x_subfiled ? "" : "this HDF5 was built without the subfiling driver");
}

/// Whether the program gives this hint, and another value than the plan. HDF5 puts what was in
/// force, ours too, into the list that a program asks of an open file.
bool FileTuning::program_gives(const plan::PlanSetting& hint) const {
    const plan::PlanView& of = plan_of_process();
    const Mpi& mpi = x_ranks.mpi();
    const std::string_view key = of.text(hint.name);
    if (mpi.no_info.is(x_ranks.info()) || !mpi.takes(key, "")) return false;
    char own[1024] = {};
    int there = 0;
    return mpi.get_info(x_ranks.info(), key.data(), static_cast<int>(sizeof own) - 1, own,
                        &there) == 0 &&
           there != 0 && of.text(hint.text) != own;
}

void FileTuning::find_free_hints(uint64_t (&free)[2]) const {
    for (size_t at = 0; at < x_found.count; ++at) {
        const plan::PlanSetting& one = *x_found.settings[at];
        if (one.key == 0 && !program_gives(one)) free[at / 64] |= uint64_t{1} << (at % 64);
    }
}

bool FileTuning::is_free(const plan::PlanSetting& hint) const {
    for (size_t at = 0; at < x_found.count; ++at)
        if (x_found.settings[at] == &hint) return (x_free_hints[at / 64] >> (at % 64) & 1) != 0;
    return false;
}

void FileTuning::put_hints() {
    if (x_choices.open(Key::hint) == nullptr) return;
    const Mpi& mpi = x_ranks.mpi();
    if (x_subfiled || !x_parallel || x_library.H5Pset_fapl_mpio == nullptr) {
        x_choices.settle(Key::hint, spool::became_held,
                         x_subfiled ? "subfiles are not written with MPI-IO" : only_parallel);
        return;
    }
    Mpi::Handle communicator = 0;
    Mpi::Handle info = 0;
    bool good = x_library.H5Pget_fapl_mpio(x_own_access, &communicator, &info) >= 0;
    if (good && mpi.no_info.is(info)) good = mpi.make_info(&info) == 0;
    const plan::PlanView& of = plan_of_process();
    for (Choice& choice : x_choices) {
        if (!good || choice.became != 0 || choice.setting->key != 0) continue;
        const std::string_view key = of.text(choice.setting->name);
        const std::string_view value = of.text(choice.setting->text);
        if (!is_free(*choice.setting)) {
            choice.became = spool::became_kept;
            choice.reason = program_gives(*choice.setting)
                                ? program_set_it
                                : "the program gives hints itself, not the same on all ranks";
        } else if (!mpi.takes(key, value)) {
            choice.became = spool::became_misfit;
            choice.reason = "it is longer than this MPI takes";
        } else if (mpi.is_ompio() && key == "cb_nodes") {
            // Also where the program gives it itself: what is known is in docs/reference/apply.md.
            choice.became = spool::became_held;
            choice.reason = "OMPIO has been seen to write wrong data with several aggregators";
        } else if (mpi.set_info(info, key.data(), value.data()) == 0) {
            choice.became = spool::became_applied;
        }
    }
    if (good && x_library.H5Pset_fapl_mpio(x_own_access, communicator, info) < 0) good = false;
    if (!good) {
        for (Choice& choice : x_choices) {
            if (choice.setting->key != 0) continue;
            choice.became = spool::became_refused;
            choice.reason = not_taken;
        }
    }
    x_choices.settle(Key::hint, spool::became_refused, not_taken);
    mpi.let_go(communicator, info);
}

/// What MPI-IO says of the hints of an open file; a null info: it does not tell.
Mpi::Handle FileTuning::hints_of(Object& file) const {
    void* handle = nullptr;
    FileHandle asked{x_own_access, &handle};
    Optional question{native_file_handle, &asked};
    Mpi::Handle info = 0;
    if (x_library.H5VLfile_optional(file.inner, file.connector(), &question,
                                    x_library.default_transfer, nullptr) < 0 ||
        handle == nullptr)
        return 0;
    // An MPI_File is a pointer in both kinds of MPI.
    return x_ranks.mpi().info_of_file(*static_cast<Mpi::Handle*>(handle), &info) == 0 ? info : 0;
}

/// Why a hint that was given is not in force; nullptr: it is.
const char* FileTuning::why_not_in_force(const plan::PlanSetting& hint, Mpi::Handle info) const {
    const Mpi& mpi = x_ranks.mpi();
    if (mpi.no_info.is(info)) return hints_not_known;
    const plan::PlanView& of = plan_of_process();
    const char* key = of.text(hint.name).data();
    char value[1024] = {};
    int there = 0;
    if (mpi.get_info(info, key, static_cast<int>(sizeof value) - 1, value, &there) != 0 ||
        there == 0)
        return hint_not_listed;
    if (of.text(hint.text) != value) return hint_has_other_value;
    return mpi.is_ompio(x_plan->path) && core::only_romio_reads(key) ? hint_of_romio : nullptr;
}

/// A hint that the MPI does not know is silently left out: what is in force says the truth.
void FileTuning::check_hints(Object& file) {
    bool any = false;
    for (const Choice& choice : x_choices)
        any = any || (choice.setting->key == 0 && choice.became == spool::became_applied);
    if (!any) return;
    Mpi::Handle info = hints_of(file);
    for (Choice& choice : x_choices) {
        if (choice.setting->key != 0 || choice.became != spool::became_applied) continue;
        const char* const why = why_not_in_force(*choice.setting, info);
        if (why == nullptr) continue;
        choice.became = spool::became_unavailable;
        choice.reason = why;
    }
    if (!x_ranks.mpi().no_info.is(info)) x_ranks.mpi().forget_info(&info);
}

}  // namespace tailrace::hooks::vol
