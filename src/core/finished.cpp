// SPDX-License-Identifier: Apache-2.0
#include "core/finished.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tailrace::core {

namespace {

using Json = nlohmann::json;

/// Variables that choose and steer what writes; others may differ from job to job.
constexpr std::array<std::string_view, 10> steering{
    "OMPI_MCA_io", "OMPI_MCA_fs", "OMPI_MCA_fcoll", "OMPI_MCA_fbtl", "OMPI_MCA_sharedfp",
    "MPICH_",      "MPIR_CVAR_",  "ROMIO_",         "HDF5_",         "H5FD_"};

Json steering_of(const Json& environment) {
    Json kept = Json::object();
    for (const auto& [name, value] : environment.items())
        if (std::any_of(steering.begin(), steering.end(),
                        [&name = name](std::string_view begin) { return name.starts_with(begin); }))
            kept[name] = value;
    return kept;
}

/// More repetitions may be asked for of a run that is there; but one without any had no warm-up.
/// The results are the file that is read, whatever it is called.
Json but_how_often(Json configuration) {
    if (!configuration.value("repeat", Json()).is_null()) configuration["repeat"] = "any";
    configuration.erase("results");
    return configuration;
}

/// What must be equal for two Records to be of one run.
Json identity(const Json& record) {
    const Json& context = record.at("context");
    return {record.at("schema"),
            record.at("kernel"),
            but_how_often(record.at("configuration")),
            context.at("ranks"),
            context.at("commit"),
            context.at("mpi_library"),
            context.at("hdf5_version"),
            steering_of(context.at("environment"))};
}

}  // namespace

Finished finished_run(const std::filesystem::path& results, const Record& frame) {
    Finished found;
    std::error_code failed;
    if (!std::filesystem::exists(results, failed)) return found;
    std::ifstream lines(results);
    if (!lines)
        throw Error(Code::not_writable, "the results cannot be read", results.string(),
                    "check its permissions, or start without --resume");
    const Json wanted = identity(Json::parse(to_json_line(frame)));
    std::map<std::string, std::set<std::uint64_t>> repetitions;  // runs may append in turns
    for (std::string line; std::getline(lines, line);) {
        const Json record = Json::parse(line, nullptr, false);
        try {
            if (record.is_discarded() || identity(record) != wanted) continue;
            found.run_id = record.at("run_id");
            found.host = record.at("context").at("host");
            if (record.at("status") == "ok" && record.at("warm_up") == false)
                repetitions[found.run_id].insert(record.at("repetition").get<std::uint64_t>());
        } catch (const Json::exception&) {  // JSON, but no Record
        }
    }
    found.repetitions = repetitions[found.run_id];
    return found;
}

}  // namespace tailrace::core
