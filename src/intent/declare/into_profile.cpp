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

/// ", which no file matches; there is chk_0.hdf5".
std::string no_match(const std::string& pattern, const std::string& noun,
                     const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) names.push_back(last_part(path));
    std::string nearest = core::nearest(last_part(pattern), names);
    if (nearest.empty() && !names.empty()) nearest = names.front();
    // Of the same name it is the folder that differs.
    const auto same = std::find(names.begin(), names.end(), last_part(pattern));
    if (same != names.end()) nearest = paths[static_cast<std::size_t>(same - names.begin())];
    return ", which no " + noun + " matches" +
           (nearest.empty() ? std::string() : "; there is " + core::in_quotes(nearest));
}

/// The datasets of the files that a pattern is for.
std::vector<std::string> datasets_in(const std::vector<const File*>& files,
                                     const std::string& pattern) {
    std::vector<std::string> paths;
    for (const File* file : files)
        if (matches(pattern, file->path))
            for (const Dataset& dataset : file->datasets) paths.push_back(dataset.path);
    return paths;
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
    std::vector<const File*> files;
    for (File& file : profile.files) {
        if (!processes.empty() && !processes.meets(file.processes)) continue;
        files.push_back(&file);
        add(file, resolve(document, Names{file.path}), from, processes);
    }
    return unmatched(document, files);
}

std::vector<std::string> unmatched(const Document& document,
                                   const std::vector<const File*>& files) {
    std::vector<std::string> paths;
    for (const File* file : files) paths.push_back(file->path);
    const std::vector<std::string> lonely = without_match(document, paths);
    std::vector<std::string> notes;
    for (const OfFiles& one : document.files) {
        const std::string of = "declared of " + core::in_quotes(one.pattern);
        if (std::find(lonely.begin(), lonely.end(), one.pattern) != lonely.end()) {
            notes.push_back(of + no_match(one.pattern, "file", paths));
            continue;
        }
        const std::vector<std::string> datasets = datasets_in(files, one.pattern);
        for (const OfDatasets& inner : one.of.datasets)
            if (std::none_of(datasets.begin(), datasets.end(),
                             [&](const std::string& path) { return matches(inner.pattern, path); }))
                notes.push_back(of + ": " + core::in_quotes(inner.pattern) +
                                no_match(inner.pattern, "dataset", datasets));
    }
    return notes;
}

}  // namespace tailrace::intent::declare
