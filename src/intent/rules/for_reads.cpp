// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/for_reads.hpp"

#include <algorithm>

#include "intent/profile/profile_json.hpp"
#include "intent/rules/read_cost.hpp"

namespace tailrace::intent::rules {

namespace {

/// As the profile knows it, with what the file says.
Dataset as_in_file(Dataset dataset, const InFile& stored) {
    dataset.dims = stored.dims;
    dataset.ndims = stored.dims.size();
    dataset.elements.reset();
    dataset.chunk = stored.chunk;
    dataset.layout = stored.layout;
    dataset.type = ElementType{"", stored.item_bytes, {}};
    dataset.filters.assign(stored.packed ? 1 : 0, Filter{});
    return dataset;
}

}  // namespace

std::vector<std::optional<ForReads>> chunks_for_reads(const Document& profile,
                                                      const std::string& file,
                                                      const std::vector<InFile>& datasets) {
    const Profile of = profile_from_json(profile.text, profile.name);
    std::vector<std::optional<ForReads>> all(datasets.size());
    const auto seen = std::ranges::find(of.files, file, &File::path);
    if (seen == of.files.end()) return all;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        const auto known = std::ranges::find_if(seen->datasets, [&](const Dataset& one) {
            return std::ranges::find(datasets[i].paths, one.path) != datasets[i].paths.end();
        });
        if (known == seen->datasets.end()) continue;
        const Dataset dataset = as_in_file(*known, datasets[i]);
        const std::optional<Access> most = dominant(dataset.reads, dataset);
        if (!most) continue;
        all[i] = ForReads{{}, most->length, most->calls};
        Subject subject{of, *seen};
        subject.dataset = &dataset;
        if (const auto relaid = relaid_for_reads(subject)) all[i]->chunk = relaid->chunk;
    }
    return all;
}

std::vector<BadlyRead> badly_read(const Document& profile) {
    const Profile of = profile_from_json(profile.text, profile.name);
    std::vector<BadlyRead> all;
    for (const File& file : of.files) {
        const std::vector<Relaid> relaid = relaid_for_reads_of_file({of, file});
        if (relaid.empty()) continue;
        const Saving saving = saving_of(relaid);
        all.push_back({file.path, saving.times, saving.seconds});
    }
    std::ranges::stable_sort(all, [](const BadlyRead& a, const BadlyRead& b) {
        return a.saved_s.value_or(0) > b.saved_s.value_or(0);
    });
    return all;
}

}  // namespace tailrace::intent::rules
