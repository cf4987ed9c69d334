// SPDX-License-Identifier: Apache-2.0
// From profiles to intents.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "intent/intents/model.hpp"
#include "intent/intents/patterns.hpp"

namespace tailrace::intent {

/// A profile and the file that it came from, for messages and for `Intents::profiles`.
struct NamedProfile {
    std::string path;
    Profile profile;
};

/// What somebody declares of the profiles' files, given as name and text of each document; patterns
/// that no file of any profile matches are noted in the first one.  [local]
/// @throws Error{bad_input | unknown_key | missing_key} with the place
void declare_of(std::vector<NamedProfile>& profiles,
                const std::vector<std::pair<std::string, std::string>>& documents);

/// The intents of one program's runs, or of several programs that share files. Objects of
/// different profiles are one where their patterns are equal, and the numbers that tell the files
/// of a run apart; numbers are then those of the largest run (ranks, then bytes moved), and
/// statements tell where the runs do not agree.  [local]
/// @throws Error{Code::bad_input} where there is no profile, or none has a file
[[nodiscard]] Intents intents_of(const std::vector<NamedProfile>& profiles);
/// Files of one run that stand under the path of the same file in another, by their own paths.
using OtherPaths = std::map<std::string, std::string>;
/// The same; `others` gets those files.  [local]
[[nodiscard]] Intents intents_of(const std::vector<NamedProfile>& profiles, OtherPaths& others);

/// Where a profile's objects are described by patterns over the paths of all profiles. Internal to
/// src/intent.
struct Names {
    std::vector<PathUse> uses;
    std::vector<PathPattern> patterns;
    /// The pattern that a use is a member of.  [local]
    [[nodiscard]] const PathPattern& of(std::size_t use) const { return patterns[x_of[use]]; }
    /// Sorts the uses into patterns.  [local]
    void find_patterns();

private:
    std::vector<std::size_t> x_of;
};

/// Whether a program asked for a file and never got it: nothing is intended with it. Internal to
/// src/intent.  [local]
[[nodiscard]] bool never_opened(const File& file);
/// As many as are known of: started, or seen; at least 1. Internal to src/intent.  [local]
[[nodiscard]] std::uint64_t ranks_of(const Run& run);
/// The files and datasets of one profile; evidence and `profiles` carry its number. Internal to
/// src/intent.  [local]
/// @param first_use  place of its first file in `names.uses`; the others follow in order
[[nodiscard]] Intents intents_of_one(const Profile& profile, std::uint64_t number,
                                     const Names& names, std::size_t first_use);
/// What each path stands for: paths with the same text are one file in several runs. Internal to
/// src/intent.  [local]
[[nodiscard]] std::map<std::string, std::string> same_files(const Names& names);
/// The intents of several profiles as one. Internal to src/intent.  [local]
/// @param single  of each profile
[[nodiscard]] Intents joined(const std::vector<Intents>& single, const Names& names,
                             OtherPaths& others);
/// Numbers of the profiles, that of the largest run first. Internal to src/intent.  [local]
[[nodiscard]] std::vector<std::uint64_t> largest_first(const std::vector<Intents>& single);
/// Marks files that one profile writes and another reads, and puts the numbers of both together.
/// Internal to src/intent.  [local]
void find_producers(Intents& intents, const std::vector<Intents>& single);
/// Sentences on why, what and how for each object. Internal to src/intent.  [local]
void put_into_words(Intents& intents);

}  // namespace tailrace::intent
