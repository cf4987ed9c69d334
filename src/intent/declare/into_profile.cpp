// SPDX-License-Identifier: Apache-2.0
#include "intent/declare/into_profile.hpp"

#include <algorithm>
#include <array>

#include "core/config.hpp"
#include "core/error.hpp"
#include "intent/declare/match.hpp"

namespace tailrace::intent::declare {

namespace {

void add(std::vector<Declared>& all, const Values& values, const std::string& from,
         const ProcessSet& processes) {
    if (values.empty()) return;
    for (Declared& one : all) {
        if (one.from != from || one.intents != values) continue;
        one.processes.add(processes);
        return;
    }
    all.push_back({from, processes, values});
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "declared of chk_*.h5, which no file matches; the nearest is chk_0.hdf5".
std::string no_match(const std::string& pattern, const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) names.push_back(last_part(path));
    std::string nearest = core::nearest(last_part(pattern), names);
    if (nearest.empty() && !names.empty()) nearest = names.front();
    return "declared of " + core::in_quotes(pattern) + ", which no file matches" +
           (nearest.empty() ? std::string() : "; there is " + core::in_quotes(nearest));
}

}  // namespace

std::size_t strength_of(const std::string& from) {
    static constexpr std::array<const char*, 5> sources{from_environment, from_file,
                                                        from_command_line, from_context, from_list};
    return static_cast<std::size_t>(std::find(sources.begin(), sources.end(), from) -
                                    sources.begin());
}

void add(Dataset& dataset, const Values& values, const std::string& from,
         const ProcessSet& processes) {
    add(dataset.declared, values, from, processes);
}

void add(File& file, const OfFile& of, const std::string& from, const ProcessSet& processes) {
    add(file.declared, of.values, from, processes);
    for (Dataset& dataset : file.datasets) add(dataset, resolve(of, dataset.path), from, processes);
}

std::vector<std::string> declare(Profile& profile, const Document& document,
                                 const std::string& from, const ProcessSet& processes) {
    std::vector<std::string> paths;
    for (File& file : profile.files) {
        if (!processes.empty() && !processes.meets(file.processes)) continue;
        paths.push_back(file.path);
        add(file, resolve(document, file.path), from, processes);
    }
    std::vector<std::string> notes;
    for (const std::string& pattern : without_match(document, paths))
        notes.push_back(no_match(pattern, paths));
    return notes;
}

}  // namespace tailrace::intent::declare
