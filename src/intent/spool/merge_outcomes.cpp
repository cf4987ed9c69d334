// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "intent/profile/process_set.hpp"
#include "intent/spool/merge.hpp"
#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

constexpr std::array<const char*, becames> names = {
    "",          "applied",     "kept",      "misfit", "held",  "refused",
    "disagreed", "unavailable", "unmatched", "met",    "failed"};

struct Joined {
    const DecodedOutcome* first = nullptr;
    std::uint64_t count = 0;
    ProcessSet processes;
};

/// What reads gave, of all processes together.
nlohmann::ordered_json delivered_of(const std::vector<NamedSpool>& spools) {
    std::map<std::pair<std::string, std::string>, DeliveredRecord> all;
    for (const NamedSpool& named : spools) {
        for (const DecodedDelivered& one : named.spool.delivered) {
            DeliveredRecord& sum = all[{one.file, one.dataset}];
            sum.calls += one.record.calls;
            sum.bytes += one.record.bytes;
            sum.sum += one.record.sum;
            sum.not_hashed += one.record.not_hashed;
        }
    }
    nlohmann::ordered_json made = nlohmann::ordered_json::array();
    for (const auto& [place, record] : all) {
        made.push_back({{"file", place.first},
                        {"dataset", place.second},
                        {"calls", record.calls},
                        {"bytes", record.bytes},
                        {"hash", hexadecimal(record.sum)},
                        {"not_hashed", record.not_hashed}});
    }
    return made;
}

}  // namespace

std::string outcomes_of_folder(const std::filesystem::path& folder) {
    using Json = nlohmann::ordered_json;
    std::vector<std::string> notes;
    const std::vector<NamedSpool> spools = read_folder(folder, notes);
    Json made = {{"processes", Json::array()}, {"outcomes", Json::array()}};
    std::map<std::tuple<std::string, std::string, std::string, std::string, Became, std::string,
                        std::string>,
             Joined>
        all;
    std::uint64_t dropped = 0;
    ProcessIds ids;
    for (const NamedSpool& named : spools) {
        const Spool& spool = named.spool;
        const auto [id, is_new] = ids.of(spool);
        if (is_new) {
            Json process = {{"id", id}, {"host", spool.host}, {"pid", spool.header.pid}};
            if (spool.header.rank >= 0) process["rank"] = spool.header.rank;
            process["layers"] = Json::array();
            made["processes"].push_back(std::move(process));
        }
        for (const auto& [hook, name] : {std::pair{hook_hdf5, "hdf5"}, {hook_mpiio, "mpiio"}})
            if ((spool.header.hooks & hook) != 0) made["processes"][id]["layers"].push_back(name);
        dropped += spool.header.dropped[kind_outcome];
        dropped += spool.header.dropped[kind_delivered];
        for (const DecodedOutcome& one : spool.outcomes) {
            Joined& joined = all[{one.file, one.dataset, one.rule, one.setting, one.became,
                                  one.value, one.reason}];
            joined.first = &one;
            joined.count += one.count;
            joined.processes.add(id);
        }
    }
    for (const auto& [key, joined] : all) {
        const DecodedOutcome& one = *joined.first;
        Json outcome = {{"became", names[one.became]}};
        const std::pair<const char*, const std::string&> texts[] = {
            {"rule", one.rule},     {"setting", one.setting}, {"value", one.value},
            {"reason", one.reason}, {"file", one.file},       {"dataset", one.dataset}};
        for (const auto& [name, text] : texts)
            if (!text.empty()) outcome[name] = text;
        outcome["count"] = joined.count;
        outcome["processes"] = joined.processes.text();
        made["outcomes"].push_back(std::move(outcome));
    }
    made["delivered"] = delivered_of(spools);
    made["dropped"] = dropped;
    made["notes"] = notes;
    // Paths are bytes; what is no UTF-8 is shown as such.
    return made.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tailrace::intent::spool
