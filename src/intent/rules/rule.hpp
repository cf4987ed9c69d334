// SPDX-License-Identifier: Apache-2.0
// A rule: data, and three pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intent/rules/guard.hpp"
#include "intent/rules/subject.hpp"

namespace tailrace::intent::rules {

enum class Scope { file, dataset, run };  ///< run: once, of all files together

/// Why, with the numbers.
struct Reason {
    std::string text;
    std::vector<plan::Fact> evidence;
    std::string effect{};  ///< that is expected here; empty: as the rule says

    Reason& note(std::string name, std::uint64_t value, std::string unit = {}) {
        evidence.push_back({std::move(name), Setting(value), std::move(unit)});
        return *this;
    }
    Reason& note(std::string name, double value, std::string unit = {}) {
        evidence.push_back({std::move(name), Setting(value), std::move(unit)});
        return *this;
    }
    Reason& note(std::string name, const std::string& value) {
        evidence.push_back({std::move(name), Setting(value), {}});
        return *this;
    }
};
struct Held {
    Guard guard;
    std::string text;
    [[nodiscard]] std::string guard_name() const { return std::string(name(guard)); }
};
struct Set {
    std::string key;
    std::optional<Setting> value{};
    std::optional<plan::Call> function{};
    std::optional<Setting> profiled = {};  ///< of a function where the profile was taken
};
/// What a rule wants.
struct Proposal {
    std::vector<Set> settings{};
    plan::When when = plan::When::any;
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string advice{};
    std::vector<std::string> commands{};
    Extents chunk{};       ///< of advice: those that the program should create the dataset with
    std::string effect{};  ///< where it is known better than the rule's own
};
/// One that sets nothing, and says so.  [local]
[[nodiscard]] inline Proposal advice(std::string text, std::vector<std::string> commands = {}) {
    return {.advice = std::move(text), .commands = std::move(commands)};
}

/// Conditions that many rules share; the engine checks them in this order.
struct Needs {
    bool serial = false;       ///< the file is not opened with MPI-IO
    bool parallel = false;     ///< it is
    std::uint64_t ranks = 0;   ///< at least so many share it
    bool parallel_fs = false;  ///< lustre, gpfs, beegfs and the like
    std::string_view fs = {};  ///< exactly this type of file system
    bool created = false;      ///< the file (the dataset) is created by the run
    bool same_order = false;   ///< all ranks made the same calls on structure, counted
    bool delays = false;       ///< delays durability: not for durable files
    bool romio = false;        ///< hints that only ROMIO understands
    int hdf5_major = 0, hdf5_minor = 0;
    std::string_view keys = {};   ///< what the program may not have set itself, blanks between
    bool aggregators = false;     ///< more than one: not with OMPIO, which then wrote wrong data
    bool opt_in = false;          ///< a collective one that opt-in has to be allowed for as well
    bool same_transfers = false;  ///< all ranks made the same reads and writes too, counted
    bool same_accesses = false;   ///< and opened and asked for the same, counted
    bool extents = false;         ///< the extent of each dimension of the dataset is known
};

struct Rule {
    std::string_view id, title;
    Scope scope;
    plan::Class cls;
    std::string_view trigger, guard, action, effect, source;  ///< for a person
    Needs needs;
    /// The evidence that it is about this subject, or nothing.
    std::optional<Reason> (*fires)(const Subject&);
    /// What holds it back besides `needs`; null: nothing.
    std::optional<Held> (*held)(const Subject&);
    /// What it sets or says; only asked where it fires and nothing holds it back.
    Proposal (*act)(const Subject&);
    bool failing = false;           ///< it is about what makes the program fail as it is
    std::string_view instead = {};  ///< advice, if it is failing and a plan cannot mend it
};

/// Where rules come from; a rule names letters, "A, S".
struct Source {
    std::string_view letter, title, address;
};
[[nodiscard]] std::span<const Source> sources();  ///< [local]
/// Titles of the sources with these letters.  [local]
[[nodiscard]] std::string source_titles(std::string_view letters);

/// A written order: where both apply to the same file or dataset, `loser` gives way.
struct Conflict {
    std::string_view winner, loser, why;
};

[[nodiscard]] std::span<const Rule> metadata_rules();        ///< [local]
[[nodiscard]] std::span<const Rule> metadata_cache_rules();  ///< [local]
[[nodiscard]] std::span<const Rule> cache_rules();           ///< [local]
[[nodiscard]] std::span<const Rule> sieve_rules();           ///< [local]
[[nodiscard]] std::span<const Rule> layout_rules();          ///< [local]
[[nodiscard]] std::span<const Rule> written_rules();         ///< [local]
[[nodiscard]] std::span<const Rule> storage_rules();         ///< [local]
[[nodiscard]] std::span<const Rule> transfer_rules();        ///< [local]
[[nodiscard]] std::span<const Rule> driver_rules();          ///< [local]
[[nodiscard]] std::span<const Rule> hint_rules();            ///< [local]
[[nodiscard]] std::span<const Rule> pnetcdf_rules();         ///< [local]
[[nodiscard]] std::span<const Rule> advice_rules();          ///< [local]
[[nodiscard]] std::span<const Rule> beyond_rules();          ///< [local]
[[nodiscard]] std::span<const Rule> access_rules();          ///< [local]
[[nodiscard]] std::span<const Rule> plain_rules();           ///< [local]
[[nodiscard]] std::span<const Rule> run_rules();             ///< [local]
[[nodiscard]] std::span<const Rule> mpi_io_rules();          ///< [local]
/// All 77, by number.  [local]
[[nodiscard]] std::span<const Rule* const> all_rules();
[[nodiscard]] std::span<const Conflict> conflicts();  ///< [local]

/// Of rules that only watch over others: it proposes nothing.  [local]
[[nodiscard]] inline Proposal leave(const Subject&) { return {}; }

/// A dataset with the chunks that it is to have, and the rule that gives them.
struct Anew {
    Dataset dataset;
    std::string_view rule;
};
/// As rules 17 and 18 make it; nothing where they leave it as it is.  [local]
[[nodiscard]] std::optional<Anew> laid_out_anew(const Subject& s);
/// A node each, at most as many as the file has stripes, or gets by rule 47.  [local]
[[nodiscard]] std::uint64_t aggregators(const Subject& s);
/// What of `needs` is not met.  [local]
[[nodiscard]] std::optional<Held> unmet(const Needs& needs, const Subject& s);
/// What holds back that which delays.  [local]
[[nodiscard]] Held held_for_durable();
/// `needs` in words, for the reference.  [local]
[[nodiscard]] std::vector<std::string> words_of(const Needs& needs);

}  // namespace tailrace::intent::rules
