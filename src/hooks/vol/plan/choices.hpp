// SPDX-License-Identifier: Apache-2.0
// The settings that the plan has for one thing, their values at this place, and what became of
// them.
#pragma once

#include <initializer_list>

#include "hooks/vol/plan/plan.hpp"

namespace tailrace::hooks::vol {

using plan::Key;

/// One setting. `became` 0: nothing yet.
struct Choice {
    const plan::PlanSetting* setting;
    uint64_t number;  ///< a flag, a number, a word as HDF5 counts it, the bits of a real one
    uint32_t became;
    const char* reason;
    const char* changed;  ///< why there is another number than the plan's, where it is applied
};

class Choices {
public:
    /// Takes those of `found` that are at one of the levels; what has no value here is a misfit.
    /// [local]
    void choose(const plan::Found& found, const plan::Surroundings& around,
                std::initializer_list<plan::Level> levels);

    [[nodiscard]] bool empty() const { return x_count == 0; }
    /// Of a key that is still to be settled; nullptr: the plan has none, or it is settled.
    [[nodiscard]] Choice* open(Key key);
    [[nodiscard]] Choice* begin() { return x_all; }
    [[nodiscard]] Choice* end() { return x_all + x_count; }
    [[nodiscard]] const Choice* begin() const { return x_all; }
    [[nodiscard]] const Choice* end() const { return x_all + x_count; }
    /// The chunk that is wanted.
    [[nodiscard]] const plan::Value& chunk() const { return x_chunk; }

    /// Settles what is still open of a key.
    void settle(Key key, spool::Became became, const char* reason);
    /// Holds back what is still open of settings that all ranks take part in.
    void hold_collective(const char* reason);
    /// Whether anything was put on a list.
    [[nodiscard]] bool any_applied() const;
    /// What was put on a list has become this instead: the library refused it.
    void instead_of_applied(spool::Became became, const char* reason);
    /// Notes down what became of all of them.
    void note(const Where& where) const;

private:
    Choice x_all[plan::Found::most];
    size_t x_count = 0;
    plan::Value x_chunk;
};

}  // namespace tailrace::hooks::vol
