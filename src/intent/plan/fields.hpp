// SPDX-License-Identifier: Apache-2.0
// Keys of the plan. Internal to src/intent.
#pragma once

#include "core/json/fields.hpp"
#include "intent/plan/model.hpp"

namespace tailrace::json {

template <>
struct Names<intent::plan::Class> {
    static constexpr std::pair<intent::plan::Class, std::string_view> all[] = {
        {intent::plan::Class::safe, "safe"},
        {intent::plan::Class::layout, "layout"},
        {intent::plan::Class::collective, "collective"},
        {intent::plan::Class::opt_in, "opt_in"},
        {intent::plan::Class::advice, "advice"},
    };
};

template <>
struct Names<intent::plan::When> {
    static constexpr std::pair<intent::plan::When, std::string_view> all[] = {
        {intent::plan::When::any, "any"},
        {intent::plan::When::create, "create"},
        {intent::plan::When::open, "open"},
    };
};

template <>
struct Fields<intent::plan::Fact> {
    static constexpr std::string_view name = "fact";
    static void visit(auto& v, auto& s) {
        v("name", s.name, "What it is.");
        v("value", s.value, "How much.");
        v("unit", s.unit, "Its unit; empty: a text or a plain number.");
    }
};

template <>
struct Fields<intent::plan::Call> {
    static constexpr std::string_view name = "call";
    static void visit(auto& v, auto& s) {
        v("name", s.name,
          "tile, block_per_rank, rows_of_bytes, fs_blocks, cache_of_selection or "
          "slots_of_selection.");
        v("numbers", s.numbers, "Its arguments.");
        v("extents", s.extents, "One number per dimension, slowest first, where it takes them.");
    }
};

template <>
struct Fields<intent::plan::Because> {
    static constexpr std::string_view name = "because";
    static void visit(auto& v, auto& s) {
        v("rule", s.rule, "Id of the rule: tailrace rules show ID.");
        v("text", s.text, "The reason, with its numbers.");
        v("evidence", s.evidence, "The numbers that it was decided by.");
        v("effect", s.effect, "What is expected of it.");
        v("source", s.source, "Where the rule comes from.");
    }
};

template <>
struct Fields<intent::plan::Planned> {
    static constexpr std::string_view name = "planned";
    static void visit(auto& v, auto& s) {
        v("key", s.key, "The setting; hint.NAME for an MPI-IO hint.");
        v("value", s.value, "Its value, unless a function gives it.");
        v("function", s.function, "The function that gives it where it is applied.");
        v("profiled", s.profiled, "What the function gives where the profile was taken.");
        v("class", s.cls, "safe, layout, collective, opt_in.");
        v("ranks", s.ranks, "Only where the communicator has so many ranks.");
        v("because", s.because, "Why.");
    }
};

template <>
struct Fields<intent::plan::Entry> {
    static constexpr std::string_view name = "entry";
    static void visit(auto& v, auto& s) {
        v("file", s.file,
          "Path of the file, or a pattern for fnmatch with * that stays within a folder; without a "
          "slash it is held against the last part of the path.");
        v("dataset", s.dataset,
          "The same of a dataset, with * that matches slashes too; empty: the file.");
        v("when", s.when, "Only when it is created, or opened, or any.");
        v("settings", s.settings, "The settings.");
    }
};

template <>
struct Fields<intent::plan::Variable> {
    static constexpr std::string_view name = "variable";
    static void visit(auto& v, auto& s) {
        v("name", s.name, "The variable of the environment.");
        v("value", s.value, "Its value.");
        v("class", s.cls, "layout, collective, opt_in; absent: safe.");
        v("because", s.because, "Why.");
    }
};

template <>
struct Fields<intent::plan::Advice> {
    static constexpr std::string_view name = "advice";
    static void visit(auto& v, auto& s) {
        v("file", s.file, "The file, or its pattern; empty: the run.");
        v("dataset", s.dataset, "The dataset; empty: the file.");
        v("text", s.text, "What to do, as a plan cannot do it.");
        v("commands", s.commands, "Commands to type, or lines of a file to write.");
        v("because", s.because, "Why.");
        v("chunk", s.chunk, "Chunks for the program to create the dataset with.");
        v("failing", s.failing, "true: the program fails as it is.");
    }
};

template <>
struct Fields<intent::plan::HeldBack> {
    static constexpr std::string_view name = "held_back";
    static void visit(auto& v, auto& s) {
        v("file", s.file, "The file, or its pattern; empty: the run.");
        v("dataset", s.dataset, "The dataset; empty: the file.");
        v("guard", s.guard, "What held it back.");
        v("because", s.because, "The rule, and the numbers.");
    }
};

template <>
struct Fields<intent::plan::Origin> {
    static constexpr std::string_view name = "plan_origin";
    static void visit(auto& v, auto& s) {
        v("version", s.version, "Version of what made the plan.");
        v("sources", s.sources, "Profiles and intents that it follows from.");
        v("rules", s.rules, "Files of a site's own rules that took part.");
        v("classes", s.classes, "Classes of rules that were allowed.");
        v("notes", s.notes, "What was left out or is doubtful, in words.");
    }
};

template <>
struct Fields<intent::plan::ProvenFile> {
    static constexpr std::string_view name = "proven_file";
    static void visit(auto& v, auto& s) {
        v("name", s.name, "The word of the command that names it.");
        v("bytes", s.bytes, "Its size.");
        v("hash", s.hash, "XXH3-128 of its content, in hexadecimal digits.");
        v("modified_ns", s.modified_ns,
          "When it was last changed, in nanoseconds since 1970: of a file without a hash.");
    }
};

template <>
struct Fields<intent::plan::Proof> {
    static constexpr std::string_view name = "proof";
    static void visit(auto& v, auto& s) {
        v("plan", s.plan, "The hash of the plan that the run was made with.");
        v("argv", s.argv, "The command, with its launcher.");
        v("ranks", s.ranks, "The ranks that it had.");
        v("files", s.files,
          "Launcher, program, script, inputs and the programs' shared libraries, as they were.");
        v("environment", s.environment,
          "Variables that change what MPI, HDF5, netCDF and PnetCDF do, as they were.");
        v("hdf5_version", s.hdf5_version, "Version of the HDF5 library in it.");
        v("mpi_version", s.mpi_version, "Version of the MPI library in it.");
    }
};

template <>
struct Fields<intent::plan::Plan> {
    static constexpr std::string_view name = "plan";
    static void visit(auto& v, auto& s) {
        v("origin", s.origin, "Where the plan comes from.");
        v("proof", s.proof,
          "A run that went well with the collective settings: they are applied to that run alone.");
        v("entries", s.entries, "Settings by pattern.");
        v("environment", s.environment, "Variables of the environment.");
        v("advice", s.advice, "What a plan cannot do.");
        v("held_back", s.held_back, "Rules that set nothing, and why.");
    }
};

}  // namespace tailrace::json
