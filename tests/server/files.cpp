// SPDX-License-Identifier: Apache-2.0
// Which files get their names, and whose steps fail early.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "comm/comm.hpp"
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

/// Bytes of this process: its addresses, and what is in memory.
static std::pair<std::uint64_t, std::uint64_t> in_use() {
    std::ifstream about("/proc/self/statm");
    std::uint64_t size = 0, pages = 0;
    about >> size >> pages;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return {size * page, pages * page};
}

static std::uint64_t resident() { return in_use().second; }

TEST_CASE("files: what is written does not stay in memory until the file is closed") {
    constexpr std::uint64_t fields = 4, records = 8, bytes = std::uint64_t{1} << 20;
    FileSpec all;
    for (const FileFormat format : {FileFormat::netcdf4, FileFormat::hdf5}) {
        SUBCASE(format == FileFormat::hdf5 ? "hdf5" : "netcdf4") { all.options.format = format; }
    }
    all.options.durability = core::Durability::none;
    all.metadata.add_dimension("time", 0);
    all.metadata.add_dimension("x", bytes);
    for (std::uint64_t field = 0; field < fields; ++field)
        all.metadata.add({"v" + std::to_string(field), Element::int8, {"time", "x"}});
    Written w;
    w.body = all.to_bytes();
    const std::vector<std::byte> values(bytes, std::byte{7});
    std::uint64_t before = 0;
    for (std::uint64_t record = 0; record < records; ++record) {
        w.files.of(0, 1, w.path(1), w.body);
        std::vector<FieldRecord> step;
        for (std::uint64_t field = 0; field < fields; ++field)
            step.push_back({field, record, values.data()});
        w.files.write(0, step);
        if (record == 0) before = resident();
    }
    CHECK(resident() < before + 2 * fields * bytes);
    w.files.publish(0, 1);
    CHECK(w.there(1));
}

TEST_CASE("files: no memory is called so, with file and record, and is no matter of the disk") {
    constexpr std::uint64_t bytes = std::uint64_t{4} << 20;
    FileSpec all;
    for (const auto& [name, format] :
         {std::pair{"netcdf4", FileFormat::netcdf4}, std::pair{"hdf5", FileFormat::hdf5},
          std::pair{"cdf5", FileFormat::cdf5}}) {
        SUBCASE(name) { all.options.format = format; }
    }
    Variable variable{"v", Element::int8, {"time", "x"}};
    if (all.options.format != FileFormat::cdf5) {
        all.options.deflate = 1;
        variable.storage.chunks = {1, bytes};
    }
    all.metadata.add_dimension("time", 0);
    all.metadata.add_dimension("x", bytes);
    all.metadata.add(variable);
    Written w;
    w.body = all.to_bytes();
    std::vector<std::byte> values(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i * i >> 7);
    const auto write = [&](std::uint64_t file) {
        w.files.of(0, file, w.path(file), w.body);
        w.files.write(0, std::array{FieldRecord{0, 0, values.data()}});
    };
    write(1);  // what the libraries set up once, they have
    w.files.publish(0, 1);
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = in_use().first + (1 << 20);
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
    const auto error = comm::Comm::caught([&] { write(2); });
    limit.rlim_cur = limit.rlim_max;
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
    REQUIRE(error.has_value());
    const std::string text = error->what();
    INFO(text);
    CHECK(error->code() == core::Code::no_space);
    CHECK(text.find(w.path(2)) == 0);
    CHECK(text.find("memory") < text.find("hint: give the rank more memory"));
    CHECK(text.find("disk") == std::string::npos);
    CHECK(text.find("file system") == std::string::npos);
    CHECK_THROWS_AS(w.files.publish(0, 2), core::Error);
    CHECK_FALSE(w.there(2));
    write(3);  // there is memory again
    w.files.publish(0, 3);
    CHECK(w.there(3));
}

/// A filter that stands in for zstd, changes nothing, and counts.
struct Zstd {
    static constexpr H5Z_filter_t id = 32015;
    static inline int packed = 0, unpacked = 0;

    Zstd() {
        const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id, 1, 1, "as it is", nullptr, nullptr, count};
        REQUIRE(H5Zregister(&filter) >= 0);
        packed = unpacked = 0;
    }
    ~Zstd() { H5Zunregister(id); }
    Zstd(const Zstd&) = delete;
    Zstd& operator=(const Zstd&) = delete;
    static std::size_t count(unsigned flags, std::size_t, const unsigned*, std::size_t bytes,
                             std::size_t*, void**) {
        ++((flags & H5Z_FLAG_REVERSE) == 0 ? packed : unpacked);
        return bytes;
    }
};

TEST_CASE("files: a record that is put again is packed once, and only read if parts of it stay") {
    constexpr std::uint64_t rows = 6, columns = 10;
    const Zstd zstd;
    FileSpec all;
    for (const FileFormat format : {FileFormat::netcdf4, FileFormat::hdf5}) {
        SUBCASE(format == FileFormat::hdf5 ? "hdf5" : "netcdf4") { all.options.format = format; }
    }
    all.options.zstd = 1;
    for (const auto& [name, size] :
         {std::pair{"time", std::uint64_t{0}}, std::pair{"y", rows}, std::pair{"x", columns}})
        all.metadata.add_dimension(name, size);
    all.metadata.add({"v", Element::int8, {"time", "y", "x"}});
    const Written w;
    Profiler profiler;
    Writer writer(0, 1, {}, profiler);
    const auto file = std::make_shared<const Meta>(
        Meta{.file_seq = 1, .collection_name = "c", .file = w.name + "/f", .body = all.to_bytes()});
    Item item = 0;
    const auto put = [&](std::byte value, const std::vector<core::Box>& blocks) {
        Work work{file, {0, 1, item++, Ending::step}, {}};
        WholeField& field = work.fields.emplace_back(WholeField{0, 0, {{rows, columns}, 1, "v"}});
        for (const core::Box& block : blocks)
            field.slab.place(block, std::vector<std::byte>(block.volume(), value));
        Zstd::packed = Zstd::unpacked = 0;
        writer(work);
        return std::pair(Zstd::packed, Zstd::unpacked);
    };
    std::vector<core::Box> blocks;
    for (std::uint64_t y = 0; y < rows; y += 2)
        for (const std::uint64_t x : {1, 6}) blocks.push_back({{y, x}, {1, 2}});
    const std::vector<core::Box> halves{{{0, 0}, {3, columns}}, {{3, 0}, {3, columns}}};
    CHECK(put(std::byte{1}, halves) == std::pair(1, 0));
    CHECK(put(std::byte{2}, halves) == std::pair(1, 0));  // whole again
    CHECK(put(std::byte{3}, blocks) == std::pair(1, 1));
    Work close{file, {0, 1, item, Ending::close_file}, {}};
    writer(close);
    std::array<std::int8_t, rows * columns> found{};
    const hid_t whole = H5Fopen(file->file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t variable = H5Dopen2(whole, "v", H5P_DEFAULT);
    REQUIRE(H5Dread(variable, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) >= 0);
    H5Dclose(variable);
    H5Fclose(whole);
    for (std::uint64_t i = 0; i < found.size(); ++i) {
        const std::uint64_t y = i / columns, x = i % columns;
        const bool again = y % 2 == 0 && (x == 1 || x == 2 || x == 6 || x == 7);
        CHECK(found[i] == (again ? 3 : 2));
    }
}

TEST_CASE("files: a record is cut evenly, since the last chunk is stored whole too") {
    constexpr std::uint64_t bytes = std::uint64_t{19} * 192 * 288 * 4;  // a little over a chunk
    FileSpec all;
    all.options.durability = core::Durability::none;
    for (const auto& [name, size] : {std::pair{"time", 0}, {"z", 19}, {"y", 192}, {"x", 288}})
        all.metadata.add_dimension(name, static_cast<std::uint64_t>(size));
    all.metadata.add({"v", Element::real32, {"time", "z", "y", "x"}});
    Written w;
    w.body = all.to_bytes();
    const std::vector<std::byte> values(bytes, std::byte{7});
    w.files.of(0, 1, w.path(1), w.body);
    w.files.write(0, std::array{FieldRecord{0, 0, values.data()}});
    w.files.publish(0, 1);
    CHECK(std::filesystem::file_size(w.path(1)) < bytes + bytes / 8);
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
