// SPDX-License-Identifier: Apache-2.0
// The conditions that rules share.
#include "intent/rules/rule.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

/// Calls `one` with each word of a text until it gives something.
template <class F>
std::optional<Held> first_of(std::string_view words, F one) {
    while (!words.empty()) {
        const std::size_t end = words.find(' ');
        if (auto found = one(std::string(words.substr(0, end)))) return found;
        words = end == std::string_view::npos ? std::string_view{} : words.substr(end + 1);
    }
    return std::nullopt;
}

std::string text_of(const Setting& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
    return extents(std::get<Extents>(value));
}

std::optional<Held> unmet_file_system(const Needs& needs, const Subject& s) {
    const std::string type = fs_type(s);
    const std::string seen = type.empty() ? "not known" : type;
    if (!needs.fs.empty() && type != needs.fs)
        return Held{Guard::file_system, say("only on ", needs.fs, "; the file system is ", seen)};
    if (needs.parallel_fs && !parallel_fs(s))
        return Held{Guard::file_system, say("only on a parallel file system; this one is ", seen)};
    return std::nullopt;
}

std::optional<Held> unmet_ranks(const Needs& needs, const Subject& s) {
    if (needs.serial && parallel(s))
        return Held{Guard::parallel,
                    say("only for serial files; ", file_ranks(s), " ranks open this one together")};
    if (needs.parallel && !parallel(s))
        return Held{Guard::serial, "only for files that ranks open together with MPI-IO"};
    if (file_ranks(s) < needs.ranks)
        return Held{Guard::ranks,
                    say("from ", needs.ranks, " ranks on; the file has ", file_ranks(s))};
    if (needs.same_order && !same_order(s))
        return Held{Guard::proof,
                    "it was not counted that all ranks make the same calls in the same "
                    "order"};
    if (needs.same_transfers && !same_transfers(s))
        return Held{Guard::proof,
                    "it was not counted that all ranks read and write the same datasets in the "
                    "same order"};
    if (needs.same_accesses && !same_accesses(s))
        return Held{Guard::proof,
                    "it was not counted that all ranks open and ask for the same in the same "
                    "order"};
    return std::nullopt;
}

}  // namespace

Held held_for_durable() {
    return {Guard::reliability,
            "it delays data on the way to the disk, and the file counts as durable"};
}

std::optional<Held> unmet(const Needs& needs, const Subject& s) {
    if (auto set = first_of(needs.keys, [&](const std::string& key) -> std::optional<Held> {
            const auto value = program_value(s, key);
            if (!value) return std::nullopt;
            return Held{Guard::program,
                        say("the program sets ", key, " itself, to ", text_of(*value))};
        }))
        return set;
    if (auto ranks = unmet_ranks(needs, s)) return ranks;
    if (auto system = unmet_file_system(needs, s)) return system;
    if (needs.created && !created(s)) {
        const std::string what = s.dataset != nullptr ? "dataset" : "file";
        return Held{Guard::existing,
                    say("only for ", what, "s that the program creates; ",
                        creation(s).value == "no" ? "it opened this one"
                                                  : "whether it created this one is not known")};
    }
    if (needs.extents && s.dataset != nullptr && !extents_known(*s.dataset))
        return Held{Guard::extents,
                    say("a Darshan log does not tell the extents of ", rank_of(*s.dataset),
                        " dimensions, only the number of elements: a profile taken by "
                        "tailrace says")};
    if (needs.delays && s.reliability == Reliability::durable) return held_for_durable();
    if (needs.romio && mpi_io(s) == MpiIo::ompio)
        return Held{Guard::mpi_io, "the MPI-IO in force is OMPIO, which does not know this hint"};
    if (needs.aggregators && mpi_io(s) == MpiIo::ompio)
        return Held{
            Guard::mpi_io,
            "the MPI-IO in force is OMPIO (Open MPI 4.1), which was seen to write wrong data "
            "with more than one aggregator; ROMIO takes it"};
    const auto version = hdf5_version(s);
    if (version.first > 0 && version < std::pair(needs.hdf5_major, needs.hdf5_minor))
        return Held{Guard::hdf5_version,
                    say("from HDF5 ", needs.hdf5_major, ".", needs.hdf5_minor,
                        " on; the program has ", version.first, ".", version.second)};
    return std::nullopt;
}

std::vector<std::string> words_of(const Needs& needs) {
    std::vector<std::string> words;
    if (!needs.keys.empty()) {
        std::string keys;
        (void)first_of(needs.keys, [&](const std::string& key) -> std::optional<Held> {
            keys += (keys.empty() ? "" : ", ") + key;
            return std::nullopt;
        });
        words.push_back("the program does not set " + keys + " itself");
    }
    if (needs.serial) words.emplace_back("the file is not opened with MPI-IO");
    if (needs.parallel) words.emplace_back("ranks open the file together with MPI-IO");
    if (needs.ranks > 0) words.push_back(say("at least ", needs.ranks, " ranks"));
    if (needs.same_order)
        words.emplace_back("counted: all ranks make the same calls in the same order");
    if (needs.same_transfers)
        words.emplace_back("counted: all ranks read and write the same datasets in the same order");
    if (needs.same_accesses)
        words.emplace_back("counted: all ranks open and ask for the same in the same order");
    if (needs.opt_in) words.emplace_back("opt-in rules are allowed as well");
    if (needs.parallel_fs) words.emplace_back("a parallel file system");
    if (!needs.fs.empty()) words.push_back(say("the file system is ", needs.fs));
    if (needs.created) words.emplace_back("the program creates it");
    if (needs.extents) words.emplace_back("the extents of its dimensions are known");
    if (needs.delays) words.emplace_back("the file is scratch or recomputable");
    if (needs.aggregators)
        words.emplace_back(
            "the MPI-IO in force is not OMPIO, which wrote wrong data with more "
            "than one aggregator");
    if (needs.romio) words.emplace_back("the MPI-IO in force is not OMPIO");
    if (needs.hdf5_major > 0)
        words.push_back(say("HDF5 ", needs.hdf5_major, ".", needs.hdf5_minor, " or newer"));
    return words;
}

}  // namespace tailrace::intent::rules
