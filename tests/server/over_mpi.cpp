// SPDX-License-Identifier: Apache-2.0
// A model on MPI ranks whose files servers write, or it itself: every element, read by netCDF.
#include <netcdf.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>

#include "comm/mpi_comm.hpp"
#include "core/log.hpp"
#include "mpi_test.hpp"
#include "server/session.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

constexpr std::uint64_t ny = 13, nx = 3000, records = 3, days = 2;

FileMetadata metadata() {
    FileMetadata all;
    all.add_dimension("time", 0);
    all.add_dimension("y", ny);
    all.add_dimension("x", nx);
    Variable time{"time", Element::real64, {"time"}};
    time.attributes.push_back({"units", std::string("hours since 2000-01-01")});
    all.add(time);
    Variable lat{"y", Element::real32, {"y"}};
    std::vector<float> values(ny);
    std::iota(values.begin(), values.end(), -6.0F);
    lat.constant.resize(ny * 4);
    std::memcpy(lat.constant.data(), values.data(), ny * 4);
    all.add(lat);
    all.add({"T", Element::real32, {"time", "y", "x"}});
    all.add({"mask", Element::int16, {"y", "x"}});
    return all;
}

float value(std::uint64_t file, std::uint64_t record, std::uint64_t y, std::uint64_t x) {
    return static_cast<float>(((file * 10 + record) * ny + y) * nx + x);
}

/// Rows of a rank; the last one has none if there are several.
core::Box rows(std::uint64_t rank, std::uint64_t ranks) {
    const std::uint64_t with = ranks > 1 ? ranks - 1 : 1;
    if (rank >= with) return {{0, 0}, {0, nx}};
    const std::uint64_t begin = ny * rank / with, end = ny * (rank + 1) / with;
    return {{begin, 0}, {end - begin, nx}};
}

void check_file(const std::filesystem::path& path, std::uint64_t file) {
    int id = -1, var = -1;
    REQUIRE(nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR);
    std::vector<float> t(records * ny * nx);
    REQUIRE(nc_inq_varid(id, "T", &var) == NC_NOERR);
    REQUIRE(nc_get_var_float(id, var, t.data()) == NC_NOERR);
    std::size_t i = 0, wrong = 0;
    for (std::uint64_t r = 0; r < records; ++r)
        for (std::uint64_t y = 0; y < ny; ++y)
            for (std::uint64_t x = 0; x < nx; ++x) wrong += t[i++] != value(file, r, y, x) ? 1 : 0;
    CHECK(wrong == 0);
    std::vector<double> time(records);
    REQUIRE(nc_inq_varid(id, "time", &var) == NC_NOERR);
    REQUIRE(nc_get_var_double(id, var, time.data()) == NC_NOERR);
    CHECK(time == std::vector<double>{0.5, 1.5, 2.5});
    std::vector<float> lat(ny);
    REQUIRE(nc_inq_varid(id, "y", &var) == NC_NOERR);
    REQUIRE(nc_get_var_float(id, var, lat.data()) == NC_NOERR);
    CHECK(lat.back() == 6.0F);
    std::vector<short> mask(ny * nx);
    REQUIRE(nc_inq_varid(id, "mask", &var) == NC_NOERR);
    REQUIRE(nc_get_var_short(id, var, mask.data()) == NC_NOERR);
    CHECK(mask[0] == 0);
    CHECK(mask[ny * nx - 1] == NC_FILL_SHORT);
    nc_close(id);
}

void run_model(Session& session, const std::filesystem::path& folder) {
    Model& model = session.model();
    const auto rank = static_cast<std::uint64_t>(session.ranks().rank());
    const auto ranks = static_cast<std::uint64_t>(session.ranks().size());
    CollectionOptions options;
    options.file = (folder / "out.%Y%m%d.nc4").string();
    options.records_per_file = records;
    const std::uint64_t id = model.add_collection("out", metadata(), options);
    const core::Box mine = rows(rank, ranks);
    for (std::uint64_t day = 0; day < days; ++day) {
        model.set_date(id, {2000, 1, static_cast<int>(day + 1)});
        for (std::uint64_t r = 0; r < records; ++r) {
            std::vector<float> t;
            for (std::uint64_t y = 0; y < mine.count[0]; ++y)
                for (std::uint64_t x = 0; x < nx; ++x)
                    t.push_back(value(day, r, mine.offset[0] + y, x));
            model.put(id, "", "T", core::Scalar::f32, {mine, t.data()});
            if (r == 0) {
                const std::vector<std::int16_t> zero(nx, 0);
                model.put(id, "", "mask", core::Scalar::i16,
                          {{{0, 0}, {1, nx}}, zero.data(), true});
            }
            for (const Status& one : model.end_step(id, 0.5 + static_cast<double>(r)))
                CHECK_MESSAGE(!one.error, one.error->what());
        }
    }
    for (const Status& one : model.finalize()) CHECK_MESSAGE(!one.error, one.error->what());
}

void run(std::uint64_t servers, std::optional<std::uint64_t> shared = {}) {
    const comm::Comm world = comm::from_mpi(MPI_COMM_WORLD);
    const std::filesystem::path folder = test::shared_folder();
    Layout layout = plain_layout(static_cast<std::uint64_t>(world.size()), servers, "test");
    if (shared) layout.shared_bytes = *shared;
    {
        Session session(world, layout);
        if (session.is_model()) run_model(session, folder);
    }
    world.barrier();
    if (world.rank() == 0)
        for (std::uint64_t day = 0; day < days; ++day)
            check_file(folder / ("out.2000010" + std::to_string(day + 1) + ".nc4"), day);
    world.barrier();
}

}  // namespace

TAILRACE_MPI_TEST("files that the model writes itself hold every element") { run(0); }

TAILRACE_MPI_TEST("files that one server writes hold every element") { run(1); }

TAILRACE_MPI_TEST("files hold every element without shared memory, and with too little") {
    for (const std::uint64_t servers : {0, 1})
        for (const std::uint64_t shared : {0, 50'000}) run(servers, shared);
}

TAILRACE_MPI_TEST("what the node has no memory for travels in messages, and it is said") {
    std::string told;
    core::set_log_listener([&](core::LogLevel, std::string_view text) { told += text; });
    run(1, std::uint64_t{1} << 60U);
    core::set_log_listener({});
    INFO(told);
    CHECK(told.find("travels in messages: ") != std::string::npos);
}

TAILRACE_MPI_TEST(4, "files that two servers share hold every element") { run(2); }

TAILRACE_MPI_TEST(6, "files that four servers share hold every element") { run(4); }
