// SPDX-License-Identifier: Apache-2.0
// Fuzzing target for the inputs of tailrace-seism: any text either becomes a plan or an Error.
//
//   with clang: cmake -DCMAKE_CXX_COMPILER=clang++ -DTAILRACE_FUZZ=ON
//               -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link ..., then
//   fuzz_seism_grammar <a folder that grows> tests/fuzz/corpus/seism_grammar
//
// Built without libFuzzer it replays the files and folders that it is given, as a normal test.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/seism/inputs.hpp"
#include "kernels/seism/schema.hpp"

using namespace tailrace;

namespace {

void demand(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken property: %s\n", what);
    std::abort();
}

/// What must hold for every plan that is accepted.
void check_plan(const kernels::seism::Inputs& inputs, std::uint64_t ranks) {
    const auto& geometry = inputs.geometry;
    demand(geometry.ranks() == ranks, "the grid has as many blocks as there are ranks");
    demand(geometry.bytes() >= 4, "something is written");
    demand(inputs.reserve_bytes() == 0 || inputs.reserve_bytes() >= geometry.bytes(),
           "the reservation holds the data");
    for (std::uint64_t rank : {std::uint64_t{0}, ranks - 1})
        demand(geometry.place_of(rank, geometry.steps - 1).inside(geometry.dims()),
               "blocks lie inside");
    (void)kernels::seism::schema_of(inputs).hash();
}

core::Config parsed(const std::string& text) {
    static const core::KeyTable keys = kernels::seism::key_table();
    core::Config config(keys);
    config.add_lines(text, "<fuzz>", false);
    config.finish();
    return config;
}

void run_one(const std::string& text) {
    for (std::uint64_t ranks : {1, 8}) try {
            const auto inputs = kernels::seism::inputs_from(parsed(text), ranks);
            check_plan(inputs, ranks);
            // What is echoed means the same again.
            const auto again = kernels::seism::inputs_from(parsed(inputs.config.listing()), ranks);
            demand(again.config.listing().size() > 0, "a listing");
            demand(again.geometry.dims() == inputs.geometry.dims(), "the listing means the same");
        } catch (const core::Error& error) {
            demand(core::exit_code(error.code()) == 2 || error.code() == core::Code::unsupported,
                   "bad input ends with exit code 2 or 4");
            demand(!error.message().empty(), "an Error says something");
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    run_one(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}

#ifndef TAILRACE_LIBFUZZER
int main(int argc, char** argv) {
    namespace fs = std::filesystem;
    std::size_t files = 0;
    const auto replay = [&files](const fs::path& file) {
        std::ifstream stream(file, std::ios::binary);
        run_one({std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()});
        ++files;
    };
    for (int i = 1; i < argc; ++i) {
        if (!fs::is_directory(argv[i])) {
            replay(argv[i]);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(argv[i]))
            if (entry.is_regular_file()) replay(entry.path());
    }
    std::printf("%zu inputs\n", files);
    return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
