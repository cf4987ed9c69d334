// SPDX-License-Identifier: Apache-2.0
// The plan at a file that is opened: its hints go into an MPI_Info of our own. Where MPI cannot
// open the file with it, the call is made with the program's.
#pragma once

#include "hooks/common/files.hpp"
#include "hooks/mpiio/plan.hpp"
#include "hooks/mpiio/real.hpp"

namespace tailrace::hooks::mpiio {

/// Which of Open MPI's two implementations opens a file, as far as can be told.  [local]
spool::MpiIoKind opens_by(const char* path);

/// What MPI_File_open was called with.
struct OpenCall {
    Wide communicator;
    const char* name;
    int mode;
    Wide info;
};

/// A hint of the plan for this file. `became` 0: nothing yet.
struct HintChoice {
    const plan::PlanSetting* setting;
    uint32_t became;
    const char* reason;
    char in_force[64];  ///< where it is another value: as much of it as is shown
};

/// One call of MPI_File_open.
class OpenTuning {
public:
    /// Looks the file up, where ranks agree; of several ranks [collective].
    explicit OpenTuning(const OpenCall& call);
    ~OpenTuning();
    OpenTuning(const OpenTuning&) = delete;
    OpenTuning& operator=(const OpenTuning&) = delete;

    /// Makes the call: `open(info)` gives the error of MPI_File_open.
    template <typename Open>
    int make(File* file, Open&& open) {
        int error = success;
        if (x_tuned) {
            begin_quiet();
            error = open(x_has_info ? x_info : x_call.info);
            if (error == success) give_handler(*file);
            end_quiet();
            if (again(error)) {
                error = open(x_call.info);
                if (error == success) refused();
            } else if (error != success) {
                tell_handler(error);
            }
        } else {
            error = open(x_call.info);
            // Another thread may be quiet.
            if (error == success) give_handler(*file);
        }
        if (error == success) note(*file);
        return error;
    }

private:
    bool look_up();
    void choose();
    bool agree(uint64_t match);
    void give_hints();
    bool again(int error);
    void refused();
    bool ask_hints(File file, Wide& info);
    void check(File file);
    void note(File file);
    void say_outcome(spool::Became became, const char* reason) const;
    static void begin_quiet();
    static void end_quiet();
    static void give_handler(File file);
    /// Our call failed, and the program's handler has not heard of it.
    static void tell_handler(int error);

    OpenCall x_call;
    char* x_path = nullptr;
    int x_ranks = 1;
    bool x_counts = false;  ///< it stands in no other call
    bool x_matches = false;
    bool x_tuned = false;  ///< the call is made with an info of ours; on all ranks
    bool x_has_info = false;
    bool x_was_there = false;
    uint64_t x_free[2] = {0, 0};  ///< by bit: hints that the program has not set
    Wide x_info{};
    HintChoice x_all[plan::Found::most];
    unsigned x_count = 0;
};

}  // namespace tailrace::hooks::mpiio
