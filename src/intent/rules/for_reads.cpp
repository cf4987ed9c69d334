// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/for_reads.hpp"

#include <algorithm>

#include "intent/plan/resolve.hpp"
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

/// By the rule of the chunk cache; what is there is opened, not made.
Count planned_cache(const plan::PlanView& plan, const Subject& s) {
    const Dataset& dataset = *s.dataset;
    const plan::Surroundings around{dataset.dims,  {}, dataset.chunk,       type_bytes(dataset),
                                    file_ranks(s), 0,  memory_of_process(s)};
    for (const plan::Resolved& one :
         plan::resolve(plan, s.file.path, dataset.path, around, plan::Moment::open))
        if (one.key == "chunk_cache_bytes" && one.value)
            return std::max(std::get<std::uint64_t>(*one.value), cache_in_force(s));
    return {};
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

std::vector<BadlyRead> badly_read(const Document& profile, const plan::PlanView* kept) {
    const Profile of = profile_from_json(profile.text, profile.name);
    PlannedCache planned;
    if (kept != nullptr) planned = [kept](const Subject& s) { return planned_cache(*kept, s); };
    std::vector<BadlyRead> all;
    for (const File& file : of.files) {
        const std::vector<Relaid> relaid = relaid_for_reads_of_file({of, file}, planned);
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
