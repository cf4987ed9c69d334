// SPDX-License-Identifier: Apache-2.0
// Which files get their names, and whose steps fail early.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "server/writer/writer.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

std::vector<std::byte> spec() {
    FileSpec all;
    all.options.format = FileFormat::hdf5;
    all.options.durability = core::Durability::none;
    all.metadata.add_dimension("time", 0);
    all.metadata.add({"v", Element::int8, {"time"}});
    return all.to_bytes();
}

struct Written {
    Written() { REQUIRE(::mkdtemp(name.data()) != nullptr); }
    ~Written() { std::filesystem::remove_all(name); }
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;

    std::string name = std::filesystem::temp_directory_path() / "files.XXXXXX";
    Files files{0, 1, {}};
    std::vector<std::byte> body = spec();

    std::string path(std::uint64_t file) { return name + "/f" + std::to_string(file) + ".h5"; }
    void write(std::uint64_t file, std::uint64_t record) {
        const std::array value{std::byte{7}};
        files.of(0, file, path(file), body);
        const std::array records{FieldRecord{0, record, value.data()}};
        files.write(0, records);
    }
    bool there(std::uint64_t file) { return std::filesystem::exists(path(file)); }
};

const core::Error early(core::Code::no_space, "the queue is full");

}  // namespace

TEST_CASE("files: a step that fails early takes its own file alone") {
    Written w;
    w.write(1, 0);
    w.files.give_up(0, 2, early);  // before the first file has ended
    w.write(1, 1);
    w.files.publish(0, 1);
    CHECK(w.there(1));
    CHECK_THROWS_WITH_AS(w.write(2, 1), "the queue is full", core::Error);
    CHECK_THROWS_WITH_AS(w.files.publish(0, 2), "the queue is full", core::Error);
    CHECK_FALSE(w.there(2));
    w.write(3, 0);
    w.files.publish(0, 3);
    CHECK(w.there(3));
}

TEST_CASE("files: of one that was lost, no later step begins it anew") {
    Written w;
    w.write(1, 0);
    w.files.give_up(0, 1, early);
    CHECK_THROWS_WITH_AS(w.write(1, 2), "the queue is full", core::Error);
    CHECK_THROWS_WITH_AS(w.files.publish(0, 1), "the queue is full", core::Error);
    CHECK_FALSE(w.there(1));
}

TEST_CASE("files: one whose only step fails gets no name in silence") {
    Written w;
    w.files.give_up(0, 1, early);
    CHECK_THROWS_WITH_AS(w.files.publish(0, 1), "the queue is full", core::Error);
    w.files.give_up(0, 2, early);
    w.write(3, 0);
    w.files.publish(0, 3);
    CHECK(w.there(3));
}
