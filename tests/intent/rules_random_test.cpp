// SPDX-License-Identifier: Apache-2.0
// Whatever the evidence, a plan holds valid settings only, and the same for every rank.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "core/hash.hpp"
#include "intent/plan/compile.hpp"
#include "intent/plan/lookup.hpp"
#include "rule_cases.hpp"

using namespace tailrace::intent;
using namespace tailrace::intent::rules;

namespace {

class Random {
public:
    explicit Random(unsigned seed) : x_engine(seed) {}
    /// Small numbers often, huge ones sometimes.
    std::uint64_t number() { return x_engine() >> (x_engine() % 64); }
    std::uint64_t below(std::uint64_t most) { return x_engine() % most; }
    bool often() { return below(3) != 0; }
    Count count() { return often() ? Count(number() >> 16U) : std::nullopt; }

private:
    std::mt19937_64 x_engine;
};

std::optional<Transfers> some_transfers(Random& random, const Dataset& dataset,
                                        std::uint64_t ranks) {
    if (random.below(4) == 0) return std::nullopt;
    Transfers made;
    made.calls = random.count();
    made.bytes = random.count();
    made.requested_collective = random.count();
    made.requested_independent = random.often() ? made.calls : random.count();
    if (random.often()) made.coverage = Coverage{random.count(), random.often(), {}};
    if (random.often())
        made.order = Order{random.count(), random.count(), random.count(), random.count(), {}};
    for (std::uint64_t n = random.below(3); n > 0; --n) {
        Shape shape;
        shape.selection = static_cast<Selection>(random.below(5));
        for (std::size_t d = 0; d < dataset.dims.size(); ++d) {
            shape.length.push_back(random.often() ? random.below(dataset.dims[d] + 1)
                                                  : random.number());
            if (random.below(4) == 0) shape.stride.push_back(random.number());
        }
        shape.calls = random.number() >> 20U;
        shape.call_bytes = random.count();
        made.shapes.push_back(shape);
    }
    // The block of a rank, where one dimension divides.
    if (const std::size_t d = random.below(8);
        d < dataset.dims.size() && dataset.dims[d] % ranks == 0) {
        Extents block = dataset.dims;
        block[d] /= ranks;
        made.shapes.clear();
        made.shapes.push_back({Selection::hyperslab, block, {}, {}, {}, ranks, {}});
    }
    if (random.often() && made.calls)
        for (std::uint64_t r = 0; r < std::min<std::uint64_t>(ranks, 8); ++r)
            made.by_process.push_back({r, *made.calls / ranks, made.bytes, {}, {}});
    return made;
}

Dataset some_dataset(Random& random, std::size_t number, std::uint64_t ranks) {
    Dataset made = tests::dataset("/d" + std::to_string(number), 1, 1);
    made.dims.clear();
    for (std::uint64_t n = random.below(5); n > 0; --n) {
        made.dims.push_back(random.below(8) == 0 ? random.number() : random.below(5000));
        if (random.below(3) == 0) made.max_dims.push_back(std::nullopt);
    }
    if (made.max_dims.size() != made.dims.size()) made.max_dims.clear();
    made.ndims = made.dims.size();
    made.elements = random.often() ? std::nullopt : random.count();
    made.type->bytes = random.below(10) == 0 ? random.count() : Count(1ULL << random.below(5));
    made.layout = random.often() ? "contiguous" : "chunked";
    if (*made.layout == "chunked")
        for (const std::uint64_t extent : made.dims)
            made.chunk.push_back(random.often() ? random.below(extent + 2) : random.number());
    if (random.below(3) == 0) made.filters.push_back({1, "deflate", {}});
    made.creates = random.below(2);
    made.allocation = random.often() ? "early" : "late";
    if (random.below(4) == 0) made.extensions = Extensions{random.count(), {}};
    made.reads = some_transfers(random, made, ranks);
    made.writes = some_transfers(random, made, ranks);
    return made;
}

Profile some_profile(Random& random) {
    Profile made = tests::plain_run();
    const std::uint64_t ranks = random.often() ? 1 + random.below(8) : 1 + random.below(5000);
    made.run.node_memory_bytes = random.count();
    const char* types[] = {"ext4", "lustre", "nfs", "gpfs", ""};
    if (random.often()) tests::together(made, ranks);
    made.run.ranks = ranks;
    made.run.nodes = random.count();
    made.run.file_systems[0].type = types[random.below(5)];
    made.run.file_systems[0].block_bytes = random.count();
    made.run.processes[0].hdf5_version = random.often() ? "2.2.0" : "1.10.8";
    File& file = made.files[0];
    for (const char* kind : {"dataset", "attribute", "link", "group"})
        file.hdf5->metadata[kind] = {
            random.count(), random.count(), random.count(), random.count(), {}, {}, {}};
    file.hdf5->opens = random.count();
    if (random.often()) {
        file.posix = PosixFile{};
        file.posix->not_aligned_in_file = random.count();
        file.posix->file_alignment_bytes = random.count();
        file.posix->writes = PosixTransfers{};
        file.posix->writes->calls = random.count();
        file.posix->writes->bytes = random.count();
        file.posix->writes->sequential = random.count();
    }
    if (random.often()) {
        file.mpiio = MpiioFile{};
        file.mpiio->views = random.count();
        file.mpiio->writes = MpiioTransfers{};
        file.mpiio->writes->collective = random.count();
        file.mpiio->writes->bytes = random.count();
        if (random.often()) file.lustre = Lustre{random.count(), random.count(), {}};
    }
    if (random.below(4) == 0) {
        file.pnetcdf = PnetcdfFile{};
        file.pnetcdf->creates = 1;
        file.pnetcdf->redefinitions = random.count();
        file.pnetcdf->collective_waits = random.count();
    }
    file.datasets.clear();
    for (std::size_t n = random.below(4); n > 0; --n)
        file.datasets.push_back(some_dataset(random, n, ranks));
    return made;
}

/// The value at another place than the one that was profiled: good and valid, or dropped.
void check_elsewhere(Random& random, const plan::PlanView& view, const plan::PlanSetting& setting) {
    Extents dims, most, chunk;
    for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
        dims.push_back(random.often() ? random.below(5000) : random.number());
        chunk.push_back(random.below(100));
        most.push_back(dims.back());
        if (random.below(6) != 0) continue;
        dims.back() = 0;  // as netCDF creates what grows
        most.back() = plan::unlimited;
    }
    plan::Surroundings around{
        dims,           most, chunk, 1 + random.below(16), 1 + random.below(64), random.number(),
        random.number()};
    const plan::Value value = value_of(view, setting, around);
    if (value.state != plan::Value::State::good) return;
    const plan::KeyInfo& info = plan::keys()[setting.key];
    // With 1 the cache would have no bound.
    if (info.key == plan::Key::chunk_cache_preemption)
        REQUIRE(std::bit_cast<double>(value.number) < 1);
    if (info.shape == plan::Shape::number) {
        REQUIRE(static_cast<double>(value.number) >= info.low);
        REQUIRE(static_cast<double>(value.number) <= info.high);
        if (info.key == plan::Key::chunk_cache_slots && around.memory_bytes != 0)
            REQUIRE(value.number <= std::max<std::uint64_t>(around.memory_bytes / 64, 2));
        if (info.key == plan::Key::chunk_cache_slots)
            REQUIRE(plan::next_prime(value.number) == value.number);
    }
    if (info.shape != plan::Shape::extents) return;
    if (static_cast<plan::Function>(setting.function) == plan::Function::block_per_rank)
        REQUIRE(dims == most);
    std::uint64_t bytes = around.type_bytes;
    REQUIRE(value.ndims == dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
        REQUIRE(value.extents[d] >= 1);
        REQUIRE(value.extents[d] <= most[d]);
        bytes = plan::times(bytes, value.extents[d]);
    }
    REQUIRE(bytes <= plan::largest_chunk);
}

/// A chunk where what can grow is empty when it is created: none, or no sliver.
void check_created_empty(const Dataset& dataset, const plan::Planned& planned) {
    if (planned.key != "chunk" || !planned.function || !planned.profiled) return;
    const plan::FunctionInfo& function = *plan::find_function(planned.function->name);
    const Extents& wanted = planned.function->extents;
    if (std::find(wanted.begin(), wanted.end(), std::uint64_t{0}) != wanted.end())
        return;  // the whole extent: of chunks that are none
    Extents numbers, dims = dataset.dims, most = dataset.dims;
    for (const std::string_view& name : function.numbers)
        if (!name.empty()) numbers.push_back(planned.function->numbers.at(std::string(name)));
    for (std::size_t d = 0; d < dataset.max_dims.size(); ++d) {
        if (dataset.max_dims[d]) continue;
        dims[d] = 0;
        most[d] = plan::unlimited;
    }
    if (dims == most) return;  // nothing can
    const std::uint64_t type = dataset.type->bytes.value_or(0);
    const plan::Surroundings around{dims, most, {}, type, 4, 0, 0};
    const plan::Value value = plan::evaluate(function.function, numbers, wanted, around);
    if (value.state != plan::Value::State::good) return;
    const auto bytes_of = [type](const auto& chunk, std::size_t ndims) {
        std::uint64_t bytes = type;
        for (std::size_t d = 0; d < ndims; ++d) bytes = plan::times(bytes, chunk[d]);
        return bytes;
    };
    const Extents& profiled = std::get<Extents>(*planned.profiled);
    if (bytes_of(profiled, profiled.size()) < 4096) return;
    CAPTURE(planned.function->name);
    REQUIRE(bytes_of(value.extents, value.ndims) >= 4096);
}

}  // namespace

TEST_CASE("random evidence gives valid plans") {
    Random random(20260);
    std::size_t settings = 0, rules_seen = 0;
    std::set<std::string> seen;
    for (int round = 0; round < 4000; ++round) {
        const Profile profile = some_profile(random);
        Options options;
        options.allowed = {plan::Class::safe, plan::Class::layout, plan::Class::collective,
                           plan::Class::opt_in};
        if (random.often()) options.reliability["/data/f.h5"] = Reliability::scratch;
        const plan::Plan plan = plan_of({profile}, options, {"random"});
        for (const plan::Entry& entry : plan.entries)
            for (const plan::Planned& planned : entry.settings)
                for (const Dataset& dataset : profile.files[0].datasets)
                    if (dataset.path == entry.dataset) check_created_empty(dataset, planned);
        const auto bytes = plan::compile(plan, "random", tailrace::core::hash_hex);  // checks all
        std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
        std::memcpy(words.data(), bytes.data(), bytes.size());
        std::string_view problem;
        const plan::PlanView view =
            plan::PlanView::decode(std::as_bytes(std::span(words)).first(bytes.size()), problem);
        REQUIRE(problem.empty());
        for (const plan::PlanEntry& entry : view.entries())
            for (const plan::PlanSetting& setting : view.settings(entry)) {
                ++settings;
                seen.insert(std::string(view.text(setting.rule)));
                for (int place = 0; place < 4; ++place) check_elsewhere(random, view, setting);
            }
    }
    rules_seen = seen.size();
    CAPTURE(settings);
    CHECK(settings > 4000);
    CHECK(rules_seen > 20);
}

TEST_CASE("a plan does not depend on the rank that makes it") {
    Random random(99);
    for (int round = 0; round < 500; ++round) {
        Profile profile = some_profile(random);
        const plan::Plan one = plan_of({profile}, Options{}, {"x"});
        // The same run, with its processes listed by another one of them.
        std::reverse(profile.run.processes.begin(), profile.run.processes.end());
        for (Dataset& dataset : profile.files[0].datasets)
            for (auto* side : {&dataset.reads, &dataset.writes})
                if (*side) std::reverse((*side)->by_process.begin(), (*side)->by_process.end());
        const plan::Plan other = plan_of({profile}, Options{}, {"x"});
        REQUIRE(plan::hash_of(one, "x", tailrace::core::hash_hex) ==
                plan::hash_of(other, "x", tailrace::core::hash_hex));
    }
}
