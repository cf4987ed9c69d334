// SPDX-License-Identifier: Apache-2.0
// The comparator of the amr kernel: writes in the way in which AMReX's PnetCDF benchmark does, with
// PnetCDF and MPI alone (docs/developer/benchmarks.md), or plain files of the ranks. Two things are
// added: repetitions, and a sync, told apart. The cells along an axis are a multiple of the box's.
//
//   tailrace_bench_classic_amr pnetcdf CELLS BOX COMPONENTS T|F  REPETITIONS FILE
//   tailrace_bench_classic_amr plain   CELLS BOX COMPONENTS F    REPETITIONS FILE
#include <fcntl.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 1;

void check(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "classic: %s failed on rank %d\n", what, rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
void check(int status, const char* what) {
    if (status != NC_NOERR) std::fprintf(stderr, "%s\n", ncmpi_strerror(status));
    check(status == NC_NOERR, what);
}

double slowest(double seconds) {
    double most = 0;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

struct Times {
    double create = 0, write = 0, close = 0, sync = 0;
};

struct Plot {
    long long cells, box, components;
    bool collective;
    std::vector<std::vector<double>> mine;  ///< this rank's boxes

    [[nodiscard]] long long side() const { return cells / box; }
    [[nodiscard]] long long boxes() const { return side() * side() * side(); }
    [[nodiscard]] long long in_box() const { return box * box * box * components; }
    [[nodiscard]] long long first(int of) const { return boxes() * of / ranks; }
    [[nodiscard]] long long count() const { return first(rank + 1) - first(rank); }
    [[nodiscard]] double bytes() const { return 8.0 * static_cast<double>(boxes() * in_box()); }

    void fill() {
        for (long long b = first(rank); b < first(rank + 1); ++b) {
            std::vector<double> values(static_cast<size_t>(in_box()));
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<double>(b) + 1e-6 * static_cast<double>(i);
            mine.push_back(std::move(values));
        }
    }

    void put_text(int file, const std::string& name, const std::string& text) const {
        check(ncmpi_put_att_text(file, NC_GLOBAL, name.c_str(),
                                 static_cast<MPI_Offset>(text.size()), text.c_str()),
              "ncmpi_put_att_text");
    }
    void put_ints(int file, const std::string& name, const std::vector<int>& values) const {
        check(ncmpi_put_att_int(file, NC_GLOBAL, name.c_str(), NC_INT,
                                static_cast<MPI_Offset>(values.size()), values.data()),
              "ncmpi_put_att_int");
    }
    void put_real(int file, const std::string& name, double value) const {
        check(ncmpi_put_att_double(file, NC_GLOBAL, name.c_str(), NC_DOUBLE, 1, &value),
              "ncmpi_put_att_double");
    }

    void put_attributes(int file) const {
        put_ints(file, "Chombo_globalSpaceDim", {3});
        put_real(file, "Chombo_globaltestReal", 0);
        put_text(file, "Chombo_globaltestString", "vMString::testString");
        put_ints(file, "num_components", {static_cast<int>(components)});
        put_ints(file, "num_levels", {1});
        for (long long c = 0; c < components; ++c)
            put_text(file, "component_" + std::to_string(c), "component_" + std::to_string(c));
        put_text(file, "filetype", "VanillaAMRFileType");
        put_text(file, "testString", "vMString::testString");
        const std::string level = "level_0.";
        put_ints(file, level + "data_attributes.comps", {static_cast<int>(components)});
        put_ints(file, level + "data_attributes.ghost", {0, 0, 0});
        put_real(file, level + "dt", 0);
        put_real(file, level + "dx", 1.0 / static_cast<double>(cells));
        put_real(file, level + "time", 0);
        const int last = static_cast<int>(cells) - 1;
        put_ints(file, level + "prob_domain", {0, 0, 0, last, last, last});
        put_ints(file, level + "ref_ratio", {1});
    }

    static int dimension(int file, const char* name, long long size) {
        int id = -1;
        check(ncmpi_def_dim(file, name, size, &id), "ncmpi_def_dim");
        return id;
    }
    static int variable(int file, const char* name, nc_type type, std::vector<int> dims) {
        int id = -1;
        check(ncmpi_def_var(file, name, type, static_cast<int>(dims.size()), dims.data(), &id),
              "ncmpi_def_var");
        return id;
    }

    /// Rank 0 alone writes them, as independent data.
    void put_tables(int file, int owners, int corners, int offsets) const {
        check(ncmpi_begin_indep_data(file), "ncmpi_begin_indep_data");
        if (rank == 0) {
            std::vector<int> owner, corner;
            std::vector<long long> offset{0};
            for (int r = 0; r < ranks; ++r)
                for (long long b = first(r); b < first(r + 1); ++b) {
                    owner.push_back(r);
                    const long long at[] = {b % side(), b / side() % side(), b / side() / side()};
                    for (const long long low : at) corner.push_back(static_cast<int>(low * box));
                    for (const long long low : at)
                        corner.push_back(static_cast<int>((low + 1) * box - 1));
                    offset.push_back(offset.back() + in_box());
                }
            const MPI_Offset zero[] = {0, 0}, all[] = {boxes(), 6}, more[] = {boxes() + 1};
            check(ncmpi_put_vara_longlong(file, offsets, zero, more, offset.data()), "put offsets");
            check(ncmpi_put_vara_int(file, corners, zero, all, corner.data()), "put boxes");
            check(ncmpi_put_vara_int(file, owners, zero, all, owner.data()), "put owners");
        }
        check(ncmpi_end_indep_data(file), "ncmpi_end_indep_data");
    }

    /// One buffer of all boxes: filled with -1 first, then element by element.
    [[nodiscard]] std::vector<double> packed() const {
        std::vector<double> all(static_cast<size_t>(count() * in_box()), -1.0);
        size_t at = 0;
        for (const auto& values : mine)
            for (size_t i = 0; i < values.size(); ++i) all[at++] = values[i];
        return all;
    }

    Times pnetcdf(const std::string& name) const {
        Times times;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        int file = -1;
        check(ncmpi_create(MPI_COMM_WORLD, name.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                           &file),
              "ncmpi_create");
        put_attributes(file);
        const int processors = dimension(file, "procdataspace_0", boxes());
        const int rows = dimension(file, "boxdataspace_0", boxes());
        const int six = dimension(file, "boxdataspace_1", 6);
        const int ends = dimension(file, "offsetdataspace_0", boxes() + 1);
        const int owners = variable(file, "level_0.Processors", NC_INT, {processors});
        const int corners = variable(file, "level_0.boxes", NC_INT, {rows, six});
        const int offsets = variable(file, "level_0.data:offsets=0", NC_INT64, {ends});
        check(ncmpi_enddef(file), "ncmpi_enddef");
        put_tables(file, owners, corners, offsets);
        check(ncmpi_redef(file), "ncmpi_redef");
        const int elements = dimension(file, "dataspace", boxes() * in_box());
        const int data = variable(file, "level_0.data:datatype=0", NC_DOUBLE, {elements});
        check(ncmpi_enddef(file), "ncmpi_enddef");
        times.create = slowest(MPI_Wtime() - start);
        const double writing = MPI_Wtime();
        const std::vector<double> all = packed();
        const MPI_Offset at = first(rank) * in_box(), length = count() * in_box();
        if (collective) {
            check(ncmpi_put_vara_double_all(file, data, &at, &length, all.data()), "put data");
        } else {
            check(ncmpi_begin_indep_data(file), "ncmpi_begin_indep_data");
            check(ncmpi_put_vara_double(file, data, &at, &length, all.data()), "put data");
            check(ncmpi_end_indep_data(file), "ncmpi_end_indep_data");
        }
        times.write = slowest(MPI_Wtime() - writing);
        const double closing = MPI_Wtime();
        check(ncmpi_close(file), "ncmpi_close");
        times.close = slowest(MPI_Wtime() - closing);
        const double syncing = MPI_Wtime();
        if (rank == 0) {
            const int fd = ::open(name.c_str(), O_RDWR);
            check(fd >= 0 && ::fsync(fd) == 0 && ::close(fd) == 0, "fsync");
        }
        times.sync = slowest(MPI_Wtime() - syncing);
        return times;
    }

    /// A file of its own for each rank, one pwrite for each box.
    Times plain(const std::string& name) const {
        Times times;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const std::string own = name + "." + std::to_string(rank);
        const int fd = ::open(own.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        check(fd >= 0, "open");
        times.create = slowest(MPI_Wtime() - start);
        const double writing = MPI_Wtime();
        off_t at = 0;
        for (const auto& values : mine) {
            const auto bytes = static_cast<ssize_t>(values.size() * sizeof(double));
            for (ssize_t done = 0; done < bytes;) {
                const ssize_t now =
                    ::pwrite(fd, reinterpret_cast<const char*>(values.data()) + done,
                             static_cast<size_t>(bytes - done), at + done);
                check(now > 0, "pwrite");
                done += now;
            }
            at += bytes;
        }
        times.write = slowest(MPI_Wtime() - writing);
        const double syncing = MPI_Wtime();
        check(::fsync(fd) == 0, "fsync");
        times.sync = slowest(MPI_Wtime() - syncing);
        const double closing = MPI_Wtime();
        check(::close(fd) == 0, "close");
        times.close = slowest(MPI_Wtime() - closing);
        return times;
    }
};

void repeat(const Plot& plot, bool plain, int repetitions, const std::string& name) {
    for (int i = 0; i <= repetitions; ++i) {
        const Times times = plain ? plot.plain(name) : plot.pnetcdf(name);
        MPI_Barrier(MPI_COMM_WORLD);
        if (plain) ::unlink((name + "." + std::to_string(rank)).c_str());
        if (!plain && rank == 0) ::unlink(name.c_str());
        if (rank != 0 || i == 0) continue;  // the first one warms up
        std::printf(
            "{\"bytes\": %.0f, \"create_s\": %.9f, \"write_s\": %.9f, \"close_s\": %.9f, "
            "\"durable_s\": %.9f}\n",
            plot.bytes(), times.create, times.write, times.close,
            times.create + times.write + times.close + times.sync);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string which = argc == 8 ? argv[1] : "";
    if (which != "pnetcdf" && which != "plain") {
        if (rank == 0) std::fprintf(stderr, "classic: what it takes stands at its head\n");
        MPI_Finalize();
        return 2;
    }
    Plot plot{std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]), argv[5][0] == 'T', {}};
    plot.fill();
    repeat(plot, which == "plain", std::atoi(argv[6]), argv[7]);
    MPI_Finalize();
    return 0;
}
