// SPDX-License-Identifier: Apache-2.0
// Each option is looked for in the file, by serial HDF5 calls, and in the report.
#include <cmath>
#include <cstring>
#include <functional>

#include "netcdf4_support.hpp"

using namespace netcdf4_test;
using formats::netcdf4::DataModel;
using formats::netcdf4::Endian;
using formats::netcdf4::Quantize;

namespace {

const Extents dims{2, 16, 6, 5};

/// An open dataset and its creation list, closed at the end.
struct Opened {
    explicit Opened(const std::string& path)
        : file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)),
          set(H5Dopen2(file, "/chunked", H5P_DEFAULT)) {}
    ~Opened() {
        H5Dclose(set);
        H5Fclose(file);
    }
    [[nodiscard]] H5T_order_t order() const {
        const hid_t type = H5Dget_type(set);
        const H5T_order_t order = H5Tget_order(type);
        H5Tclose(type);
        return order;
    }
    [[nodiscard]] bool has_attribute(const char* object, const char* name) const {
        return H5Aexists_by_name(file, object, name, H5P_DEFAULT) > 0;
    }
    hid_t file, set;
};

netcdf4::Options chunked_collective() {
    netcdf4::Options options;
    options.collective = true;
    options.chunks["/chunked"] = {1, 4, 6, 5};
    return options;
}

std::uint32_t bits_of(double value) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/// Trailing bits of the mantissa that are 0 in every element, or 1 where `ones`.
int common_trailing(const std::vector<double>& values, bool ones, std::size_t first,
                    std::size_t stride) {
    std::uint32_t any = 0;
    for (std::size_t i = first; i < values.size(); i += stride)
        any |= ones ? ~bits_of(values[i]) : bits_of(values[i]);
    int count = 0;
    while (count < 23 && (any >> count & 1U) == 0) ++count;
    return count;
}

double greatest_error(const std::vector<double>& values) {
    double greatest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double written = static_cast<double>(value_at(i));
        greatest = std::max(greatest, std::abs(values[i] - written) / written);
    }
    return greatest;
}

}  // namespace

TAILRACE_MPI_TEST("netcdf4: fill, chunks, byte order, growth and data model are in the file") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    int number = 0;
    using Settings = std::map<std::string, std::string>;
    const auto check = [&](const netcdf4::Options& options,
                           const std::function<void(const oracle::Dataset&, const Opened&,
                                                    const Settings&)>& look) {
        const std::string path = folder + "/" + std::to_string(number++) + ".nc";
        const auto report =
            write_steps(comm, path, options, dims, phases, {{"/", "n", std::uint64_t{1} << 40}});
        on_rank_0(comm, [&] {
            const auto set = oracle::read(path, "/chunked");
            CHECK(wrong_elements(set) == 0);
            look(set, Opened(path), report.settings);
        });
    };
    check({}, [](const auto& set, const Opened& open, const Settings& settings) {
        CHECK(set.chunk.empty());
        CHECK(set.fill_time == H5D_FILL_TIME_IFSET);
        CHECK(open.order() == H5T_ORDER_LE);
        CHECK(!open.has_attribute("/", "_nc3_strict"));
        CHECK(settings.at("layout") == "contiguous");
        CHECK(settings.at("fill") == "on");
        CHECK(settings.at("data_model") == "netcdf4");
        CHECK(settings.at("dimensions") == "chunked_0 chunked_1 chunked_2 chunked_3");
    });
    netcdf4::Options options;
    options.never_fill = true;
    check(options, [](const auto& set, const Opened&, const Settings& settings) {
        CHECK(set.fill_time == H5D_FILL_TIME_NEVER);
        CHECK(settings.at("fill") == "off");
        CHECK(settings.at("fill_time") == "never");
    });
    options = {};
    options.library_chunks = true;
    options.endian = Endian::big;
    check(options, [](const auto& set, const Opened& open, const Settings& settings) {
        CHECK(!set.chunk.empty());
        CHECK(open.order() == H5T_ORDER_BE);
        CHECK(settings.at("endian") == "big");
        CHECK(settings.at("layout") == "chunked");
    });
    options = chunked_collective();
    options.unlimited = true;
    options.model = DataModel::classic;
    check(options, [](const auto& set, const Opened& open, const Settings& settings) {
        CHECK(set.limits[0] == H5S_UNLIMITED);
        CHECK(set.limits[1] == 16);
        CHECK(set.dims[0] == 2);
        CHECK(set.chunk == std::vector<hsize_t>{1, 4, 6, 5});
        CHECK(open.has_attribute("/", "_nc3_strict"));
        CHECK(settings.at("data_model") == "classic-model");
        CHECK(settings.at("dimensions") == "record (unlimited) chunked_1 chunked_2 chunked_3");
    });
}

TAILRACE_MPI_TEST("netcdf4: filters store less, quantisation sets bits, within its promise") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    netcdf4::Options options = chunked_collective();
    options.deflate = 5;
    options.shuffle = true;
    options.filters = {{3, "", {}}};  // fletcher32, which netCDF puts first
    const auto small = write_steps(comm, folder + "/d.nc", options, dims, phases);
    CHECK(small.settings.at("filters") == "fletcher32, shuffle 4, deflate 5");
    const auto plain = write_steps(comm, folder + "/p.nc", chunked_collective(), dims, phases);
    CHECK(std::stoull(small.settings.at("storage_bytes")) <
          std::stoull(plain.settings.at("storage_bytes")));
    on_rank_0(comm, [&] {
        const auto set = oracle::read(folder + "/d.nc", "/chunked");
        CHECK(set.filters == std::vector<int>{3, 2, 1});
        CHECK(set.storage_bytes < small.bytes_logical);
        CHECK(wrong_elements(set) == 0);
    });
    options = {};
    options.deflate = 1;
    if (comm.size() > 1)
        TAILRACE_CHECK_ALL_THROW(core::Code::bad_input,
                                 write_steps(comm, folder + "/x.nc", options, dims, phases));

    struct Case {
        Quantize how;
        int digits;
        double bound;
        const char* attribute;
    };
    for (const Case& one : {Case{Quantize::bit_round, 4, std::ldexp(1, -5),
                                 "_QuantizeBitRoundNumberOfSignificantBits"},
                            Case{Quantize::bit_groom, 2, std::ldexp(1, -8),
                                 "_QuantizeBitGroomNumberOfSignificantDigits"},
                            Case{Quantize::granular_bit_round, 2, 0.05,
                                 "_QuantizeGranularBitRoundNumberOfSignificantDigits"}}) {
        netcdf4::Options lossy;
        lossy.quantize = one.how;
        lossy.quantize_digits = one.digits;
        const std::string path = folder + "/q.nc";
        const auto report = write_steps(comm, path, lossy, dims, phases);
        CHECK(report.settings.at("quantize").ends_with(std::to_string(one.digits)));
        on_rank_0(comm, [&] {
            const auto set = oracle::read(path, "/chunked");
            CHECK(Opened(path).has_attribute("/chunked", one.attribute));
            CHECK(wrong_elements(set) > set.values.size() / 2);
            CHECK(greatest_error(set.values) <= one.bound);
            CHECK(greatest_error(set.values) > one.bound / 16);
            if (one.how == Quantize::bit_round)
                CHECK(common_trailing(set.values, false, 0, 1) == 19);
            // Each rank's part has an even number of elements: 0 and 1 take turns in the file too.
            if (one.how == Quantize::bit_groom && 16 % comm.size() == 0) {
                CHECK(common_trailing(set.values, false, 0, 2) >= 15);
                CHECK(common_trailing(set.values, true, 1, 2) == 15);
            }
        });
    }
    netcdf4::Options many;
    many.quantize = Quantize::bit_groom;
    many.quantize_digits = 7;  // of a float32, which has 6
    TAILRACE_CHECK_ALL_THROW(core::Code::bad_input,
                             write_steps(comm, folder + "/x.nc", many, dims, phases));
}

TAILRACE_MPI_TEST("netcdf4: alignment, block size, hints and who wrote are what is in force") {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::string folder = test::shared_folder();
    core::Phases phases;
    netcdf4::Options options;
    options.alignment_bytes = 65536;
    options.alignment_threshold_bytes = 1000;
    options.metadata_block_bytes = 8192;
    options.hints["cb_nodes"] = "1";
    const auto aligned = write_steps(comm, folder + "/a.nc", options, dims, phases);
    CHECK(aligned.settings.at("alignment_bytes") == "65536");
    CHECK(aligned.settings.at("alignment_threshold_bytes") == "1000");
    CHECK(aligned.settings.at("metadata_block_bytes") == "8192");
    CHECK(aligned.settings.at("driver") == "mpio");
    CHECK(!aligned.mpi_io.empty());
    if (aligned.mpi_io.starts_with("ROMIO")) CHECK(aligned.hints_in_force.at("cb_nodes") == "1");
    // What one file asked for is not left to the next.
    const auto next = write_steps(comm, folder + "/b.nc", netcdf4::Options{}, dims, phases);
    CHECK(next.settings.at("alignment_bytes") == "1");
    CHECK(next.settings.at("metadata_block_bytes") == "2048");
    on_rank_0(comm, [&] {
        const auto set = oracle::read(folder + "/a.nc", "/chunked");
        CHECK(set.offset % 65536 == 0);
        CHECK(set.offset != 0);
        CHECK(oracle::read(folder + "/b.nc", "/chunked").offset % 65536 != 0);
        CHECK(wrong_elements(set) == 0);
    });
    // Who wrote: every rank its own, or one for all.
    for (netcdf4::Options mode : both_modes()) {
        mode.never_fill = true;
        if (mode.collective) mode.hints = {{"romio_cb_write", "enable"}, {"cb_nodes", "1"}};
        const auto report = write_steps(comm, folder + "/w.nc", mode, dims, phases);
        CHECK(report.writers_measured);
        if (!mode.collective) CHECK(report.data_collective == false);
        if (comm.size() == 1) continue;
        if (mode.collective) CHECK(report.data_collective == true);
        if (comm.rank() != 0) continue;
        int wrote = 0;
        for (const core::WriterReport& writer : report.writers)
            if (const auto found = writer.by_phase.find("write"); found != writer.by_phase.end())
                wrote += found->second.write.bytes_done > 0 ? 1 : 0;
        CHECK(wrote == (mode.collective ? 1 : std::min(comm.size(), 16)));
    }
}
