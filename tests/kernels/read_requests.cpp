// SPDX-License-Identifier: Apache-2.0
// Which elements the reading patterns ask for: each one once over the ranks, however little room
// there is.
#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "core/error.hpp"
#include "kernels/seism/kernel.hpp"
#include "kernels/slab/kernel.hpp"
#include "runner/reads.hpp"

using namespace tailrace;
using runner::Kernel;
using runner::ReadPattern;

namespace {

std::unique_ptr<Kernel> slab(std::uint64_t ranks, std::initializer_list<const char*> words) {
    core::Config config(kernels::slab::key_table());
    for (const char* word : words) config.add_argument(word);
    config.finish();
    return kernels::slab::make_kernel(kernels::slab::inputs_from(std::move(config), ranks));
}

std::unique_ptr<Kernel> seism(std::uint64_t ranks, std::initializer_list<const char*> words) {
    core::Config config(kernels::seism::key_table());
    for (const char* word : words) config.add_argument(word);
    config.finish();
    return kernels::seism::make_kernel(kernels::seism::inputs_from(std::move(config), ranks));
}

using Element = std::pair<std::size_t, std::uint64_t>;  // object, row-major index

/// How often each element is asked for by all ranks; no request exceeds the room.
std::map<Element, int> asked(const Kernel& kernel, ReadPattern pattern, std::uint64_t room) {
    std::map<Element, int> counts;
    const std::vector<core::Object> objects = kernel.schema().objects;
    for (std::uint64_t rank = 0; rank < kernel.ranks(); ++rank)
        for (const auto& request : runner::requests_of(kernel, pattern, 0, rank, room)) {
            std::uint64_t bytes = 0;
            for (const auto& piece : request) {
                const core::Extents dims = objects[piece.object].sizes();
                CHECK(piece.place.inside(dims));
                CHECK_FALSE(piece.place.empty());
                bytes += piece.place.volume() * core::size_of(kernel.type(piece.object));
                core::for_each_run(piece.place, dims,
                                   [&](std::uint64_t at, std::uint64_t, std::uint64_t n) {
                                       for (std::uint64_t i = 0; i < n; ++i)
                                           ++counts[{piece.object, at + i}];
                                   });
            }
            CHECK(bytes <= room);
        }
    return counts;
}

void check_once(const std::map<Element, int>& counts, std::size_t elements) {
    CHECK(counts.size() == elements);
    for (const auto& [element, count] : counts) CHECK(count == 1);
}

}  // namespace

TEST_CASE("same, other and shuffled read everything once") {
    for (const std::uint64_t ranks : {1, 3, 7})
        for (const char* axis : {"axis=pair", "axis=short-split"}) {
            const auto kernel = slab(ranks, {"n1=11", "n2=5", axis});
            const std::size_t elements = kernel->schema().objects.size() * 55;
            for (const std::uint64_t room :
                 {std::uint64_t{8}, std::uint64_t{64}, std::uint64_t{1} << 20})
                for (const ReadPattern pattern :
                     {ReadPattern::same, ReadPattern::other, ReadPattern::shuffled})
                    check_once(asked(*kernel, pattern, room), elements);
        }
    const auto grid =
        seism(6, {"processor=1x2x3", "domain=3x2x2", "time=4", "filename=x", "fill=position"});
    for (const ReadPattern pattern : {ReadPattern::same, ReadPattern::other, ReadPattern::shuffled})
        check_once(asked(*grid, pattern, 28), 6 * 12 * 4);
}

TEST_CASE("a plane is the middle of the fastest dimension, each element once") {
    const auto kernel = slab(3, {"n1=11", "n2=5"});
    const auto counts = asked(*kernel, ReadPattern::plane, 1 << 20);
    check_once(counts, 5 + 11);
    for (const auto& [element, count] : counts) {
        const std::uint64_t width = element.first == 0 ? 11 : 5;
        CHECK(element.second % width == width / 2);
    }
}

TEST_CASE("points go along the whole first dimension") {
    const auto kernel = seism(2, {"processor=2x1x1", "domain=30x20x10", "time=7", "filename=x"});
    const auto counts = asked(*kernel, ReadPattern::points, 1 << 20);
    std::map<std::uint64_t, int> steps_of_point;
    for (const auto& [element, count] : counts) {
        CHECK(count == 1);
        ++steps_of_point[element.second % (60 * 20 * 10)];
    }
    CHECK(steps_of_point.size() == 16);
    for (const auto& [point, steps] : steps_of_point) CHECK(steps == 7);
}

TEST_CASE("samples are shuffled: not in the order of the file, and in the same order again") {
    const auto kernel = seism(1, {"processor=1x1x1", "domain=2x2x2", "time=40", "filename=x"});
    std::vector<std::uint64_t> order;
    for (const auto& request : runner::requests_of(*kernel, ReadPattern::shuffled, 0, 0, 1 << 20))
        order.push_back(request.front().place.offset[0]);
    CHECK(order.size() == 40);
    CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
    std::vector<std::uint64_t> again;
    for (const auto& request : runner::requests_of(*kernel, ReadPattern::shuffled, 0, 0, 1 << 20))
        again.push_back(request.front().place.offset[0]);
    CHECK(order == again);
}
