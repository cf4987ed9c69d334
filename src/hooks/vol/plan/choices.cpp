// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/plan/choices.hpp"

#include <stdio.h>
#include <string.h>

namespace tailrace::hooks::vol {
namespace {

/// Words as HDF5 counts them.
constexpr struct {
    Key key;
    const char* word;
    uint64_t number;
} words[] = {
    {Key::file_space_strategy, "page", 1},
    {Key::libver_low, "v18", 1},
    {Key::libver_low, "v110", 2},
    {Key::libver_low, "v112", 3},
    {Key::libver_low, "v114", 4},
    {Key::libver_low, "v200", 5},
    {Key::layout, "compact", 0},
    {Key::layout, "chunked", 2},
    {Key::fill_time, "never", 1},
    {Key::fill_time, "ifset", 2},
    {Key::allocation_time, "early", 1},
    {Key::allocation_time, "late", 2},
    {Key::allocation_time, "incremental", 3},
    {Key::write_mode, "independent", 0},
    {Key::write_mode, "collective", 1},
    {Key::collective_io, "collective", 0},
    {Key::collective_io, "individual", 1},
    {Key::chunk_io, "one_io", 1},
    {Key::chunk_io, "multi_io", 2},
};

/// Whoever puts them there knows the words of drivers, and what "latest" is.
uint64_t number_of(Key key, std::string_view word) {
    if (key == Key::libver_high) key = Key::libver_low;
    if (key == Key::read_mode) key = Key::write_mode;
    for (const auto& one : words)
        if (one.key == key && word == one.word) return one.number;
    return ~uint64_t{0};
}

void add_text(char* line, size_t bytes, const char* format, unsigned long long number) {
    const size_t used = strlen(line);
    snprintf(line + used, bytes - used, format, number);
}

/// A value for a person.
void print(const Choice& choice, const plan::Value& chunk, char* line, size_t bytes) {
    const plan::PlanSetting& setting = *choice.setting;
    const plan::KeyInfo& info = plan::keys()[setting.key];
    line[0] = '\0';
    double real = 0;
    switch (info.shape) {
        case plan::Shape::flag:
            snprintf(line, bytes, "%s", choice.number != 0 ? "true" : "false");
            break;
        case plan::Shape::number:
            add_text(line, bytes, "%llu", choice.number);
            break;
        case plan::Shape::real:
            memcpy(&real, &choice.number, sizeof real);
            snprintf(line, bytes, "%g", real);
            break;
        case plan::Shape::word:
            snprintf(line, bytes, "%s", plan_of_process().text(setting.text).data());
            break;
        case plan::Shape::extents:
            for (size_t d = 0; d < chunk.ndims; ++d)
                add_text(line, bytes, d == 0 ? "%llu" : "x%llu", chunk.extents[d]);
    }
}

}  // namespace

void Choices::choose(const plan::Found& found, const plan::Surroundings& around,
                     std::initializer_list<plan::Level> levels) {
    x_count = 0;
    const plan::PlanView& of = plan_of_process();
    for (const plan::PlanSetting* setting : found.all()) {
        const plan::KeyInfo& info = plan::keys()[setting->key];
        bool wanted = false;
        for (const plan::Level level : levels) wanted = wanted || info.level == level;
        if (!wanted) continue;
        Choice& choice = x_all[x_count++];
        choice = {setting, 0, 0, "", ""};
        const plan::Value value = value_of(of, *setting, around);
        if (value.state != plan::Value::State::good) {
            choice.became = spool::became_misfit;
            choice.reason = text(value.state).data();
        } else if (info.shape == plan::Shape::extents) {
            x_chunk = value;
        } else if (info.shape == plan::Shape::word && info.key != Key::hint) {
            choice.number = number_of(info.key, of.text(setting->text));
        } else {
            choice.number = value.number;
        }
    }
}

Choice* Choices::open(Key key) {
    for (Choice& choice : *this) {
        if (choice.became == 0 && choice.setting->key == static_cast<uint16_t>(key)) return &choice;
    }
    return nullptr;
}

void Choices::settle(Key key, spool::Became became, const char* reason) {
    for (Choice* choice = open(key); choice != nullptr; choice = open(key)) {
        choice->became = became;
        choice->reason = reason;
    }
}

void Choices::hold_collective(const char* reason) {
    for (Choice& choice : *this) {
        if (choice.became != 0 ||
            choice.setting->cls != static_cast<uint16_t>(plan::Class::collective))
            continue;
        choice.became = spool::became_held;
        choice.reason = reason;
    }
}

bool Choices::any_applied() const {
    for (size_t at = 0; at < x_count; ++at)
        if (x_all[at].became == spool::became_applied) return true;
    return false;
}

void Choices::instead_of_applied(spool::Became became, const char* reason) {
    for (Choice& choice : *this) {
        if (choice.became != spool::became_applied) continue;
        choice.became = became;
        choice.reason = reason;
    }
}

void Choices::note(const Where& where) const {
    for (size_t at = 0; at < x_count; ++at) {
        const Choice& choice = x_all[at];
        if (choice.became == 0) continue;
        char value[256];
        const bool fits = choice.became != spool::became_misfit;
        print(choice, x_chunk, value, sizeof value);
        note_outcome(*choice.setting, where, static_cast<spool::Became>(choice.became),
                     fits ? value : "", choice.reason);
    }
}

}  // namespace tailrace::hooks::vol
