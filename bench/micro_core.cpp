// SPDX-License-Identifier: Apache-2.0
// What core's inner loops cost, so that none of them becomes a part of what is measured.
#include <benchmark/benchmark.h>

#include <vector>

#include "core/box.hpp"
#include "core/hash.hpp"
#include "core/phases.hpp"
#include "core/statistics.hpp"

namespace {

using namespace tailrace::core;

void phase_scope(benchmark::State& state) {
    Phases phases;
    for (auto _ : state) {
        const auto scope = phases.enter("write");
        benchmark::DoNotOptimize(&scope);
    }
}

/// Runs of a block of 64^3 in an array of 128^3: 4096 of 256 bytes.
void runs_of_a_block(benchmark::State& state) {
    const Extents dims{128, 128, 128};
    const Box box{{64, 64, 64}, {64, 64, 64}};
    std::uint64_t elements = 0;
    for (auto _ : state)
        for_each_run(box, dims,
                     [&](std::uint64_t, std::uint64_t, std::uint64_t count) { elements += count; });
    state.SetItemsProcessed(static_cast<std::int64_t>(elements));
}

void hash_of_memory(benchmark::State& state) {
    const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(hash_hex(data));
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void decision_on_16_pairs(benchmark::State& state) {
    Pairs pairs;
    for (int k = 0; k < 16; ++k) {
        pairs.baseline.push_back(1 + 0.01 * k);
        pairs.candidate.push_back(1 + 0.013 * (16 - k));
    }
    for (auto _ : state) benchmark::DoNotOptimize(compare(pairs, Better::smaller));
}

}  // namespace

BENCHMARK(phase_scope)->Iterations(1 << 20);
BENCHMARK(runs_of_a_block);
BENCHMARK(hash_of_memory)->Arg(4096)->Arg(16 << 20);
BENCHMARK(decision_on_16_pairs)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
