// SPDX-License-Identifier: Apache-2.0
// Random evidence: whatever a source leaves out or exaggerates, intents are made, are consistent
// with themselves and come back from their JSON.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "intent/intents/intents_json.hpp"
#include "intent/profile/profile_json.hpp"
#include "profiles.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::tests;

namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : x_random(seed) {}
    std::uint64_t below(std::uint64_t n) { return x_random() % n; }
    bool maybe() { return below(2) == 0; }
    /// Absent, small, or as large as it gets.
    Count count() {
        switch (below(4)) {
            case 0:
                return std::nullopt;
            case 1:
                return 0;
            case 2:
                return below(1000);
            default:
                return below(std::uint64_t{1} << 40);
        }
    }
    std::optional<Span> span() {
        if (maybe()) return std::nullopt;
        const double start = static_cast<double>(below(100));
        return Span{start, start + static_cast<double>(below(50))};
    }

private:
    std::mt19937_64 x_random;
};

Extents extents(Dice& dice, std::uint64_t ndims) {
    Extents made;
    for (std::uint64_t d = 0; d < ndims; ++d) made.push_back(dice.below(100));
    return made;
}

std::optional<Transfers> some_transfers(Dice& dice, std::uint64_t ndims) {
    if (dice.below(3) == 0) return std::nullopt;
    Transfers made;
    made.calls = dice.count();
    made.bytes = dice.count();
    made.whole = dice.count();
    made.requested_collective = dice.count();
    made.requested_independent = dice.count();
    made.active = dice.span();
    if (dice.maybe()) {
        made.actual = Actual{};
        made.actual->collective = dice.count();
        made.actual->independent = dice.count();
    }
    if (dice.maybe())
        made.order = Order{dice.count(), dice.count(), dice.count(), dice.count(), {}};
    for (std::uint64_t k = dice.below(4); k > 0; --k) {
        Shape shape;
        shape.selection = static_cast<Selection>(dice.below(5));
        if (dice.maybe()) shape.length = extents(dice, ndims);
        shape.calls = dice.below(100);
        shape.call_bytes = dice.count();
        made.shapes.push_back(shape);
    }
    for (std::uint64_t k = dice.below(4); k > 0; --k) {
        ProcessShare share;
        share.process = k;
        share.first = CoveredBox{extents(dice, ndims), extents(dice, dice.below(4))};
        made.by_process.push_back(share);
    }
    return made;
}

Dataset some_dataset(Dice& dice, std::uint64_t number, std::uint64_t ranks) {
    const std::uint64_t ndims = dice.below(7);
    Dataset made;
    made.path = "/step_" + std::to_string(number) + "/x";
    if (dice.maybe()) made.processes = ProcessSet(0, dice.below(ranks));
    if (dice.maybe()) made.type = ElementType{"", dice.count(), std::nullopt};
    made.elements = dice.count();
    if (dice.maybe()) made.dims = extents(dice, ndims);
    if (dice.maybe()) made.ndims = made.dims.empty() ? ndims : made.dims.size();
    made.reads = some_transfers(dice, ndims);
    made.writes = some_transfers(dice, ndims);
    if (dice.maybe()) made.requested_collective = dice.maybe();
    if (dice.maybe()) made.extensions = Extensions{dice.count(), {}};
    return made;
}

PosixFile some_calls(Dice& dice) {
    PosixFile made;
    made.opens = dice.count();
    made.syncs = dice.count();
    made.not_aligned_in_file = dice.count();
    for (auto* transfers : {&made.reads, &made.writes}) {
        if (dice.maybe()) continue;
        *transfers = PosixTransfers{};
        (*transfers)->calls = dice.count();
        (*transfers)->bytes = dice.count();
        (*transfers)->consecutive = dice.count();
        (*transfers)->sequential = dice.count();
        (*transfers)->highest_byte = dice.count();
        (*transfers)->active = dice.span();
    }
    return made;
}

Profile some_profile(Dice& dice) {
    Profile made;
    const std::uint64_t ranks = 1 + dice.below(8);
    if (dice.maybe()) made.run.ranks = ranks;
    if (dice.maybe()) made.run.elapsed_s = static_cast<double>(dice.below(200));
    for (std::uint64_t k = 1 + dice.below(5); k > 0; --k) {
        File one;
        one.path = "/job_" + std::to_string(dice.below(3)) + "/f." + std::to_string(k) + ".h5";
        if (dice.maybe()) one.processes = ProcessSet(dice.below(ranks), ranks);
        if (dice.maybe()) one.hdf5 = Hdf5File{};
        if (dice.maybe()) one.posix = some_calls(dice);
        if (dice.maybe()) one.stdio = some_calls(dice);
        if (dice.maybe()) one.mpiio = MpiioFile{};
        for (std::uint64_t d = dice.below(4); d > 0; --d)
            one.datasets.push_back(some_dataset(dice, d, ranks));
        made.files.push_back(one);
    }
    return made;
}

const std::set<std::string>& types() {
    static const std::set<std::string> all{
        "write_only",        "read_only",  "read_after_write", "write_once_read_many",
        "read_before_write", "read_write", "no_data",          "not known"};
    return all;
}

void check(const DatasetIntent& one) {
    CHECK(types().count(one.type.value) == 1);
    const bool wrote =
        one.volume.write_calls.value_or(0) + one.volume.bytes_written.value_or(0) > 0;
    const bool read = one.volume.read_calls.value_or(0) + one.volume.bytes_read.value_or(0) > 0;
    CHECK_FALSE((one.type.value == "write_only" && (read || !wrote)));
    CHECK_FALSE((one.type.value == "read_only" && (wrote || !read)));
    CHECK_FALSE((one.full_coverage.value == "yes" && !wrote));
    CHECK_FALSE((one.sharing_pattern.value == "shared" && one.process_sharing.size() < 2));
    CHECK(one.top_accessed_segments.size() <= 8);
    for (std::size_t i = 1; i < one.transfer_size_dist.size(); ++i)
        CHECK(one.transfer_size_dist[i - 1].calls >= one.transfer_size_dist[i].calls);
}

}  // namespace

TEST_CASE("random evidence: intents of one profile") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Dice dice(seed);
        const Profile given = some_profile(dice);
        const std::string text = to_json(given);
        CHECK(to_json(profile_from_json(text, "p")) == text);
        const Intents found = intents(given);
        for (const auto& [key, one] : found.datasets) check(one);
        CHECK(found.files.size() == given.files.size());
        const std::string json = to_json(found);
        CHECK(to_json(intents_from_json(json, "i")) == json);
        CHECK_FALSE(to_classic_json(found).empty());
    }
}

TEST_CASE("random evidence: several profiles") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        Dice dice(seed + 1000);
        std::vector<NamedProfile> given;
        for (std::uint64_t k = 2 + dice.below(2); k > 0; --k)
            given.push_back({"p" + std::to_string(k), some_profile(dice)});
        const Intents found = intents_of(given);
        CHECK(found.profiles.size() == given.size());
        for (const auto& [key, one] : found.datasets) {
            CHECK(key == one.dataset_name);
            CHECK(found.files.count(one.filename) == 1);
            CHECK_FALSE((one.type.changes && one.type.by_profile.size() < 2));
            for (const std::uint64_t profile : one.profiles) CHECK(profile < given.size());
        }
        const std::string json = to_json(found);
        CHECK(to_json(intents_from_json(json, "i")) == json);
    }
}
