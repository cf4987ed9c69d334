// SPDX-License-Identifier: Apache-2.0
#include "intent/profile/profile_json.hpp"

#include <set>

#include "core/json/schema.hpp"
#include "intent/declare/into_profile.hpp"
#include "intent/profile/file_fields.hpp"

namespace tailrace::intent {

namespace {

constexpr json::Kind profile_kind{
    "tailrace-profile/1", "profile",
    "`tailrace profile -- command` makes one; a Darshan log is read as it is"};

constexpr std::uint64_t most_dims = 1024;  ///< netCDF's; HDF5 has 32
constexpr std::uint64_t most_processes = std::uint64_t{1} << 24;

/// What is listed one by one later must not be a wrong number.
void check_most(std::uint64_t number, std::uint64_t most, const std::string& what,
                const std::string& where, const std::string& place) {
    if (number > most)
        throw json::error_at(where, place,
                             std::to_string(number) + " " + what + ": at most " +
                                 std::to_string(most) + " are taken");
}

void check(const std::vector<Declared>& all, declare::Of of, const std::string& where,
           const std::string& place) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string here = place + ".declared[" + std::to_string(i) + "]";
        if (declare::strength_of(all[i].from) > declare::strength_of(declare::from_list))
            throw json::error_at(where, here, "nothing is declared from \"" + all[i].from + "\"");
        declare::check(all[i].intents, of, where, here + ".intents");
    }
}

/// What the types cannot say: ids are unique, and the rest refers to processes that are listed.
void check(const Profile& profile, const std::string& where) {
    std::set<std::uint64_t> ids;
    for (std::size_t i = 0; i < profile.run.processes.size(); ++i) {
        const std::uint64_t id = profile.run.processes[i].id;
        if (!ids.insert(id).second)
            throw json::error_at(where, "run.processes[" + std::to_string(i) + "]",
                                 "the id " + std::to_string(id) + " stands there twice");
    }
    std::set<std::string> paths;
    for (std::size_t i = 0; i < profile.files.size(); ++i) {
        const std::string place = "files[" + std::to_string(i) + "]";
        const File& file = profile.files[i];
        if (file.path.empty()) throw json::error_at(where, place, "the path is empty");
        if (!paths.insert(file.path).second)
            throw json::error_at(where, place, "the file \"" + file.path + "\" stands there twice");
        check(file.declared, declare::Of::file, where, place);
        check_most(file.processes.size(), most_processes, "processes", where, place);
        std::set<std::string> datasets;
        for (std::size_t k = 0; k < file.datasets.size(); ++k) {
            const Dataset& dataset = file.datasets[k];
            const std::string here = place + ".datasets[" + std::to_string(k) + "]";
            if (!datasets.insert(dataset.path).second)
                throw json::error_at(where, here,
                                     "the dataset \"" + dataset.path + "\" stands there twice");
            check(dataset.declared, declare::Of::dataset, where, here);
            check_most(dataset.processes.size(), most_processes, "processes", where, here);
            check_most(dataset.ndims.value_or(0), most_dims, "dimensions", where, here);
            if (!dataset.dims.empty() &&
                dataset.ndims.value_or(dataset.dims.size()) != dataset.dims.size())
                throw json::error_at(where, here,
                                     "ndims is " + std::to_string(*dataset.ndims) +
                                         ", and dims has " + std::to_string(dataset.dims.size()) +
                                         " numbers");
        }
    }
}

}  // namespace

std::string to_json(const Profile& profile) {
    return json::text_of(json::document_of(profile_kind.schema, profile));
}

Profile profile_from_json(std::string_view text, const std::string& where) {
    Profile profile;
    json::read(json::parse(text, where, profile_kind), profile, where, "");
    check(profile, where);
    return profile;
}

std::string profile_schema() {
    return json::text_of(json::document_schema<Profile>(
        std::string(profile_kind.schema),
        "What a run of a program did with its files, as a hook or Darshan recorded it. Units stand "
        "in the names; times count from the start of the run. What the source cannot know is "
        "absent or null, never 0."));
}

}  // namespace tailrace::intent
