// SPDX-License-Identifier: Apache-2.0
// What would be set, where and why: the plan, as data. The JSON of it:
// schemas/plan-1.schema.json; what a hook reads of it: compiled.hpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intent/plan/keys.hpp"
#include "intent/profile/model.hpp"

namespace tailrace::intent::plan {

/// One number that a rule decided by.
struct Fact {
    std::string name;  ///< "dataset.reads.calls"
    Setting value;
    std::string unit;  ///< "bytes", "calls", ...; empty: a text or a plain number
};
/// A named function with its arguments.
struct Call {
    std::string name;
    std::map<std::string, std::uint64_t> numbers;
    Extents extents;
};
struct Because {
    std::string rule;  ///< "13", or the id of a site's own
    std::string text;  ///< the reason, with its numbers
    std::vector<Fact> evidence;
    std::string effect, source;
};
struct Planned {
    std::string key;
    std::optional<Setting> value{};     ///< either this
    std::optional<Call> function{};     ///< or that
    std::optional<Setting> profiled{};  ///< what the function gives where the profile was taken
    Class cls = Class::safe;
    Count ranks{};  ///< only with so many ranks: what was proven for those
    Because because{};
};
enum class When { any, create, open };
/// Settings of what a pattern matches.
struct Entry {
    std::string file;     ///< a path, or a pattern for fnmatch(3); without a slash: of the name
    std::string dataset;  ///< the same of a dataset; empty: the file itself
    When when = When::any;
    std::vector<Planned> settings;
};
struct Variable {
    std::string name, value;
    Because because;
    std::optional<Class> cls{};  ///< absent: safe
};
struct Advice {
    std::string file, dataset, text;
    std::vector<std::string> commands;  ///< to type, or lines to write
    Because because;
    Extents chunk{};                ///< to create the dataset with; empty: about something else
    std::optional<bool> failing{};  ///< true: the program fails as it is
};
/// A rule whose trigger was seen but which sets nothing.
struct HeldBack {
    std::string file, dataset, guard;
    Because because;
};
struct Origin {
    std::string version;
    std::vector<std::string> sources;  ///< profiles and intents that it follows from
    std::vector<std::string> rules;    ///< files of a site's own rules
    std::vector<Class> classes;        ///< allowed
    std::vector<std::string> notes;
};

/// A file that a run used, as it was.
struct ProvenFile {
    std::string name;  ///< as the command has it
    std::uint64_t bytes = 0;
    std::optional<std::string> hash;  ///< XXH3-128 of its content; of a very large one:
    Count modified_ns;                ///< when it was last changed, since 1970
};
/// A run that went well with the plan's collective settings: they are for that run alone.
struct Proof {
    std::string plan;  ///< the hash of the plan
    std::vector<std::string> argv;
    Count ranks;
    std::vector<ProvenFile> files;  ///< launcher, program, script, inputs, shared libraries
    Texts environment;              ///< variables that change what MPI and the formats do
    std::optional<std::string> hdf5_version, mpi_version;
};

struct Plan {
    Origin origin;
    std::optional<Proof> proof;
    std::vector<Entry> entries;
    std::vector<Variable> environment;
    std::vector<Advice> advice;
    std::vector<HeldBack> held_back;
};

}  // namespace tailrace::intent::plan
