// SPDX-License-Identifier: Apache-2.0
// Raw files that were cut or changed, read by the Source: an Error or the data, never anything
// else; and what a read of a file in many pieces looks at.
#include <doctest/doctest.h>

#include <fstream>

#include "comm/comm.hpp"
#include "formats/raw/box_index.hpp"
#include "formats_test.hpp"

using namespace tailrace;
using namespace tailrace::test;
using core::Box;
using core::Extents;
using core::Outcome;
using core::Scalar;

namespace {

const Extents dims{3, 4, 5};

Variant variant(bool per_rank) { return variants()[per_rank ? 1 : 0]; }

/// Two steps in pieces, by one process.
void write_file(const std::string& path, bool per_rank) {
    core::Phases phases;
    const auto sink = formats::open_sink(comm::Comm::self(), core::Target{path},
                                         variant(per_rank).options, phases);
    sink->define(schema_of(dense("/data", Scalar::u64, dims)));
    for (std::uint64_t step = 0; step < dims[0]; ++step) {
        const Box box{{step, 0, 0}, {1, dims[1], dims[2]}};
        const auto data = filled<std::uint64_t>(box, dims, {}, 7);
        const std::vector<core::Write> pieces{piece(0, box, data, Scalar::u64)};
        sink->write(pieces);
        sink->complete(step);
    }
    sink->close(Outcome::publish);
}

enum class End { data, error, other_data };

/// Opens and reads everything; anything but an Error that names the file fails the test.
End read_all(const std::string& path, bool per_rank, std::string& text) {
    core::Phases phases;
    const Box all{{0, 0, 0}, dims};
    std::vector<std::uint64_t> data(60);
    text.clear();
    try {
        const auto source =
            formats::open_source(comm::Comm::self(), path, variant(per_rank).options, phases);
        core::Read read{0, all, reinterpret_cast<std::byte*>(data.data()), Scalar::u64};
        source->read(std::span(&read, 1));
    } catch (const core::Error& error) {
        text = error.what();
        return End::error;
    }
    return data == filled<std::uint64_t>(all, dims, {}, 7) ? End::data : End::other_data;
}

void rewrite(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

struct Case {
    std::string name;
    bool per_rank;
    std::string damaged;  ///< suffix of the file that is changed
};
const std::vector<Case> cases{
    {"shared", false, ""}, {"manifest", true, ""}, {"set", true, ".00000"}};

}  // namespace

TEST_SUITE("raw_damaged") {
    TAILRACE_MPI_TEST("cut at any byte") {
        const std::string folder = shared_folder();
        for (const Case& one : cases) {
            const std::string path = folder + "/" + one.name;
            write_file(path, one.per_rank);
            std::string text;
            REQUIRE(read_all(path, one.per_rank, text) == End::data);
            const std::string whole = slurp(path + one.damaged);
            CAPTURE(one.name);
            for (std::size_t length = 0; length < whole.size(); ++length) {
                CAPTURE(length);
                rewrite(path + one.damaged, whole.substr(0, length));
                const End end = read_all(path, one.per_rank, text);
                CAPTURE(text);
                // A manifest without its last line break is whole.
                const bool whole_json = one.per_rank && one.damaged.empty() &&
                                        length + 1 == whole.size() && whole.back() == '\n';
                CHECK(end == (whole_json ? End::data : End::error));
                if (end == End::error) {
                    CHECK(text.find(path) != std::string::npos);
                    CHECK(text.find("hint") != std::string::npos);
                }
            }
            rewrite(path + one.damaged, whole);
            fs::remove(path + one.damaged);
            CHECK(read_all(path, one.per_rank, text) == End::error);
            CHECK(text.find(path + one.damaged) != std::string::npos);
        }
    }

    TAILRACE_MPI_TEST("one byte of the description changed") {
        const std::string folder = shared_folder();
        for (const Case& one : cases) {
            const std::string path = folder + "/" + one.name;
            write_file(path, one.per_rank);
            std::string text;
            const std::string whole = slurp(path + one.damaged);
            const bool has_data = !(one.per_rank && one.damaged.empty());
            const std::size_t begin = has_data ? 60 * sizeof(std::uint64_t) : 0;
            CAPTURE(one.name);
            for (std::size_t at = begin; at < whole.size(); ++at)
                for (const char to : {'\0', '9', '"', '\xff'}) {
                    CAPTURE(at);
                    std::string changed = whole;
                    changed[at] = to;
                    rewrite(path + one.damaged, changed);
                    // Some changes give another valid description: then other data, never a crash
                    // nor an exception that is none of ours.
                    (void)read_all(path, one.per_rank, text);
                }
            rewrite(path + one.damaged, whole);
        }
    }

    TAILRACE_MPI_TEST("places beyond the data are damage") {
        const std::string folder = shared_folder(), path = folder + "/f";
        const auto describe = [&](const std::string& file, const std::string& json) {
            const std::string data(60 * 8, 'x');
            std::string bytes = data + json;
            const std::uint64_t numbers[2] = {data.size(), json.size()};
            bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
            rewrite(file, bytes + "TAILRACE");
        };
        std::string text;
        for (const std::string place : {R"("offset":8,"bytes":480)", R"("offset":0,"bytes":488)",
                                        R"("offset":18446744073709551615,"bytes":480)"}) {
            describe(path,
                     R"({"format":"tailrace-raw/1","kind":"shared","attributes":[],"objects":)"
                     R"([{"path":"/data","type":"u64","dims":[3,4,5],"chunk":null,)" +
                         place + "}]}");
            CAPTURE(place);
            CHECK(read_all(path, false, text) == End::error);
        }
        rewrite(path, R"({"format":"tailrace-raw/1","kind":"per-rank","attributes":[],"objects":)"
                      R"([{"path":"/data","type":"u64","dims":[3,4,5]}],"parts":["f.00000"]})");
        const auto piece = [&](const std::string& place) {
            describe(path + ".00000", R"({"format":"tailrace-raw/1","kind":"part","rank":0,)"
                                      R"("pieces":[{"object":0,)" +
                                          place + "}]}");
        };
        piece(R"("offset":[0,0,0],"count":[3,4,5],"at":0)");
        CHECK(read_all(path, true, text) == End::other_data);
        for (const std::string place : {R"("offset":[0,0,0],"count":[3,4,5],"at":8)",
                                        R"("offset":[0,0,0],"count":[1,4,5],"at":321)",
                                        R"("offset":[0,0,0],"count":[1,4,5],"at":-1)",
                                        R"("offset":[0,0,0],"count":[1,4,6],"at":0)",
                                        R"("offset":[0,0],"count":[1,4],"at":0)"}) {
            CAPTURE(place);
            piece(place);
            CHECK(read_all(path, true, text) == End::error);
            CAPTURE(text);
            CHECK(text.find("f.00000") != std::string::npos);
        }
    }

    TAILRACE_MPI_TEST("a read looks at few of many pieces") {
        constexpr std::uint64_t steps = 12500, ranks = 8;  // 100000 pieces
        std::vector<Box> boxes;
        for (std::uint64_t r = 0; r < ranks; ++r)
            for (std::uint64_t step = 0; step < steps; ++step)
                boxes.push_back({{step, r * 4, 0}, {1, 4, 16}});
        const formats::raw::BoxIndex index(boxes);
        std::uint64_t found = 0;
        for (std::uint64_t step = 0; step < steps; ++step)
            found += index.meeting({{step, 2, 0}, {1, 8, 16}}).size();
        CHECK(found == 3 * steps);  // of three ranks
        const double each = static_cast<double>(index.looked_at()) / steps;
        MESSAGE("looked at " << each << " of " << boxes.size() << " per read");
        CHECK(each < 300);
        CHECK(index.meeting({{0, 0, 0}, {steps, ranks * 4, 16}}).size() == boxes.size());
        CHECK(index.meeting({{steps, 0, 0}, {1, 4, 16}}).empty());
        CHECK(index.meeting({{0, 0, 0}, {0, 4, 16}}).empty());
    }

    TAILRACE_MPI_TEST("the same pieces as a look at all of them") {
        Dice dice(11);
        for (int round = 0; round < 200; ++round) {
            const std::size_t rank = dice.between(0, 3);
            const auto any = [&] {
                Box box;
                for (std::size_t d = 0; d < rank; ++d) {
                    box.offset.push_back(dice.between(0, 12));
                    box.count.push_back(dice.between(0, 5));
                }
                return box;
            };
            std::vector<Box> boxes;
            for (std::uint64_t n = dice.between(0, 60); n > 0; --n) boxes.push_back(any());
            const formats::raw::BoxIndex index(boxes);
            for (int tries = 0; tries < 20; ++tries) {
                const Box place = any();
                std::vector<std::size_t> expected;
                for (std::size_t i = 0; i < boxes.size(); ++i)
                    if (!boxes[i].empty() && !place.empty() &&
                        !core::intersect(boxes[i], place).empty())
                        expected.push_back(i);
                CHECK(index.meeting(place) == expected);
            }
        }
    }
}
