// SPDX-License-Identifier: Apache-2.0
// Second user: a native AMR layout. Byte objects whose sizes are planned from the boxes, and a
// header whose text is known only after the data: define() is called again for it.
#include <doctest/doctest.h>

#include <numeric>

#include "memory_sink.hpp"

using namespace tailrace;

namespace {

struct Fab {
    std::string head;
    std::vector<double> cells;
    [[nodiscard]] std::uint64_t bytes() const {
        return head.size() + cells.size() * sizeof(double);
    }
};

core::Write piece(core::ObjectId object, std::uint64_t at, const void* data, std::uint64_t bytes) {
    return {.object = object,
            .place = {{at}, {bytes}},
            .data = static_cast<const std::byte*>(data),
            .memory = {},
            .type = core::Scalar::u8};
}

core::Object bytes_object(const std::string& path, std::uint64_t bytes) {
    core::Object object{.path = path, .type = core::Scalar::u8};
    object.dims = {{bytes}};
    object.kind = core::Kind::bytes;
    return object;
}

void plotfile(core::Sink& sink, const std::vector<Fab>& fabs) {
    const std::uint64_t total =
        std::accumulate(fabs.begin(), fabs.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Fab& fab) { return sum + fab.bytes(); });
    const auto data = sink.define({{bytes_object("/Level_0/Cell_D_00000", total)}, {}});
    std::vector<core::Write> pieces;
    std::string index;
    std::uint64_t at = 0;
    for (const Fab& fab : fabs) {
        index += "FabOnDisk: Cell_D_00000 " + std::to_string(at) + "\n";
        pieces.push_back(piece(data[0], at, fab.head.data(), fab.head.size()));
        pieces.push_back(piece(data[0], at + fab.head.size(), fab.cells.data(),
                               fab.cells.size() * sizeof(double)));
        at += fab.bytes();
    }
    sink.write(pieces);
    sink.complete(0);
    const auto header = sink.define({{bytes_object("/Level_0/Cell_H", index.size())}, {}});
    const core::Write text = piece(header[0], 0, index.data(), index.size());
    sink.write({&text, 1});
    sink.complete(1);
}

}  // namespace

TEST_SUITE("sink_users.amr_native") {
    TEST_CASE("fabs lie where the index says") {
        auto file = std::make_shared<tests::MemoryFile>();
        tests::MemorySink sink(file, {});
        const std::vector<Fab> fabs{{"FAB a\n", {1, 2, 3}}, {"FAB bb\n", {4, 5}}, {"FAB c\n", {}}};
        plotfile(sink, fabs);
        sink.close(core::Outcome::publish);
        REQUIRE(file->data.size() == 2);
        const auto* text = reinterpret_cast<const char*>(file->data[1].data());
        CHECK(std::string(text, file->data[1].size()) ==
              "FabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00000 30\n"
              "FabOnDisk: Cell_D_00000 53\n");
        double value = 0;
        std::memcpy(&value, file->data[0].data() + 30 + 7 + 8, sizeof value);
        CHECK(value == 5);
    }
}
