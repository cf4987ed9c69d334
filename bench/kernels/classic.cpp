// SPDX-License-Identifier: Apache-2.0
// The comparator of the goals: writes in the way in which the published kernels do, with HDF5 and
// MPI alone, nothing of ours between. What that way is stands in docs/developer/benchmarks.md. Two
// things are added: repetitions, and a sync of the closed file, told apart.
//
//   tailrace_bench_classic seism GX GY GZ  DX DY DZ  CX CY CZ  STEPS  REPETITIONS FILE
//   tailrace_bench_classic slab  N1 N2 T|F pair|short-split  REPETITIONS FILE
//   tailrace_bench_classic particle DIM_1 STEPS T|F  REPETITIONS FILE
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 1;

/// A comparator that fails must not look fast.
template <class T>
T checked(T result, const char* what) {
    if (result >= 0) return result;
    std::fprintf(stderr, "classic: %s failed on rank %d\n", what, rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return result;
}

double slowest(double seconds) {
    double most = 0;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

struct Times {
    double create = 0, write = 0, close = 0, sync = 0;
    std::vector<double> writes;
};

/// Not in the originals: without it the figures are those of the page cache.
double synced(const std::string& name) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0) {
        const int fd = checked(::open(name.c_str(), O_RDWR), "open for the sync");
        checked(::fsync(fd), "fsync");
        ::close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return slowest(MPI_Wtime() - start);
}

hid_t parallel_access(MPI_Info info, bool collective_metadata) {
    const hid_t list = checked(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    checked(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, info), "H5Pset_fapl_mpio");
    if (collective_metadata)
        checked(H5Pset_all_coll_metadata_ops(list, true), "H5Pset_all_coll_metadata_ops");
    return list;
}

hid_t transfer_list(bool collective) {
    const hid_t list = checked(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    checked(H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
            "H5Pset_dxpl_mpio");
    return list;
}

struct Seism {
    hsize_t grid[3], domain[3], chunk[3], steps;

    [[nodiscard]] hsize_t elements() const { return domain[0] * domain[1] * domain[2]; }

    /// One rank creates the file, with all storage, and closes it.
    void precreate(const std::string& name) const {
        const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
        checked(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "libver");
        const hid_t file =
            checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
        const hsize_t dims[4] = {steps, grid[0] * domain[0], grid[1] * domain[1],
                                 grid[2] * domain[2]};
        const hsize_t cut[4] = {1, chunk[0], chunk[1], chunk[2]};
        const hid_t space = checked(H5Screate_simple(4, dims, nullptr), "H5Screate");
        const hid_t create = checked(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
        checked(H5Pset_chunk(create, 4, cut), "H5Pset_chunk");
        checked(H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
        checked(H5Pset_fill_time(create, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
        const hid_t set = checked(
            H5Dcreate2(file, "chunked", H5T_IEEE_F32LE, space, H5P_DEFAULT, create, H5P_DEFAULT),
            "H5Dcreate");
        H5Dclose(set), H5Pclose(create), H5Sclose(space), H5Fclose(file), H5Pclose(access);
    }

    Times write(const std::string& name) const {
        Times times;
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_cb_write", "enable");
        MPI_Info_set(info, "romio_ds_write", "disable");
        MPI_Info_set(info, "cb_buffer_size", std::to_string(elements() * 4).c_str());
        const std::vector<float> values(elements(), static_cast<float>(rank));
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (rank == 0) precreate(name);
        MPI_Barrier(MPI_COMM_WORLD);
        const hid_t access = parallel_access(info, true);
        const hid_t file = checked(H5Fopen(name.c_str(), H5F_ACC_RDWR, access), "H5Fopen");
        const hid_t set = checked(H5Dopen2(file, "chunked", H5P_DEFAULT), "H5Dopen");
        times.create = slowest(MPI_Wtime() - start);
        write_steps(set, values, times);
        const double closing = MPI_Wtime();
        H5Dclose(set);
        checked(H5Fclose(file), "H5Fclose");
        times.close = slowest(MPI_Wtime() - closing);
        H5Pclose(access);
        MPI_Info_free(&info);
        times.sync = synced(name);
        return times;
    }

    void write_steps(hid_t set, const std::vector<float>& values, Times& times) const {
        const hsize_t k = static_cast<hsize_t>(rank) % grid[2];
        const hsize_t j = static_cast<hsize_t>(rank) / grid[2] % grid[1];
        const hsize_t i = static_cast<hsize_t>(rank) / (grid[2] * grid[1]);
        const hid_t transfer = transfer_list(true);
        const hsize_t count[4] = {1, domain[0], domain[1], domain[2]};
        const hid_t memory = checked(H5Screate_simple(4, count, nullptr), "H5Screate");
        const hid_t space = checked(H5Dget_space(set), "H5Dget_space");
        for (hsize_t step = 0; step < steps; ++step) {
            const hsize_t offset[4] = {step, i * domain[0], j * domain[1], k * domain[2]};
            checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, nullptr, count, nullptr),
                    "H5Sselect_hyperslab");
            const double start = MPI_Wtime();
            checked(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, transfer, values.data()),
                    "H5Dwrite");
            times.writes.push_back(slowest(MPI_Wtime() - start));
            times.write += times.writes.back();
        }
        H5Sclose(space), H5Sclose(memory), H5Pclose(transfer);
    }

    [[nodiscard]] double bytes() const {
        return 4.0 * static_cast<double>(elements() * steps) * ranks;
    }
};

/// One dataset of a slab: its extents in the file, and which of them the ranks share.
struct Cut {
    const char* name;
    bool long_is_fast, ranks_share_short;
};

struct Slab {
    hsize_t n1, n2;
    bool collective;
    std::vector<Cut> cuts;

    static std::vector<Cut> cuts_of(bool short_split) {
        if (short_split) return {{"dset_3", false, true}};
        return {{"dset_1", true, false}, {"dset_2", false, false}};
    }

    /// Contiguous datasets with early allocation.
    void precreate(const std::string& name) const {
        const hid_t file =
            checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
        const hid_t create = checked(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
        checked(H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
        for (const Cut& cut : cuts) {
            const hsize_t dims[2] = {cut.long_is_fast ? n2 : n1, cut.long_is_fast ? n1 : n2};
            const hid_t space = checked(H5Screate_simple(2, dims, nullptr), "H5Screate");
            const hid_t set = checked(
                H5Dcreate2(file, cut.name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT),
                "H5Dcreate");
            H5Dclose(set), H5Sclose(space);
        }
        H5Pclose(create), H5Fclose(file);
    }

    Times write(const std::string& name) const {
        Times times;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (rank == 0) precreate(name);
        MPI_Barrier(MPI_COMM_WORLD);
        times.create = slowest(MPI_Wtime() - start);
        for (const Cut& cut : cuts) {
            times.writes.push_back(write_one(name, cut));
            times.write += times.writes.back();
        }
        times.sync = synced(name);
        return times;
    }

    /// Each dataset is timed from the open to the close of the file.
    [[nodiscard]] double write_one(const std::string& name, const Cut& cut) const {
        const hsize_t shared = cut.ranks_share_short ? n2 : n1,
                      whole = cut.ranks_share_short ? n1 : n2;
        const hsize_t block =
            (shared + static_cast<hsize_t>(ranks) - 1) / static_cast<hsize_t>(ranks);
        const hsize_t first = std::min(static_cast<hsize_t>(rank) * block, shared);
        const hsize_t mine = std::min(block, shared - first);
        const std::vector<double> values(std::max<hsize_t>(mine * whole, 1), rank);
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const hid_t access = parallel_access(MPI_INFO_NULL, false);
        const hid_t file = checked(H5Fopen(name.c_str(), H5F_ACC_RDWR, access), "H5Fopen");
        const hid_t set = checked(H5Dopen2(file, cut.name, H5P_DEFAULT), "H5Dopen");
        const bool second = cut.long_is_fast != cut.ranks_share_short;  // axis that is shared
        const hsize_t offset[2] = {second ? 0 : first, second ? first : 0};
        const hsize_t count[2] = {second ? whole : mine, second ? mine : whole};
        const hid_t space = checked(H5Dget_space(set), "H5Dget_space");
        const hid_t memory = checked(H5Screate_simple(2, count, nullptr), "H5Screate");
        if (mine > 0)
            checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, nullptr, count, nullptr),
                    "H5Sselect_hyperslab");
        else
            H5Sselect_none(space), H5Sselect_none(memory);
        const hid_t transfer = transfer_list(collective);
        checked(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, values.data()),
                "H5Dwrite");
        H5Pclose(transfer), H5Sclose(memory), H5Sclose(space), H5Dclose(set);
        checked(H5Fclose(file), "H5Fclose");
        H5Pclose(access);
        return slowest(MPI_Wtime() - start);
    }

    [[nodiscard]] double bytes() const {
        return 8.0 * static_cast<double>(cuts.size()) * static_cast<double>(n1 * n2);
    }
};

/// h5bench's particles, contiguous in memory and interleaved in the file.
struct Particles {
    hsize_t mine, steps;
    bool collective;

    static hid_t compound(int first, int count) {
        static const char* const names[] = {"x", "y", "z", "px", "py", "pz", "id_1", "id_2"};
        const hid_t type =
            checked(H5Tcreate(H5T_COMPOUND, 4 * static_cast<size_t>(count)), "H5Tcreate");
        for (int i = 0; i < count; ++i)
            checked(H5Tinsert(type, names[first + i], 4 * static_cast<size_t>(i),
                              first + i == 6 ? H5T_NATIVE_INT : H5T_NATIVE_FLOAT),
                    "H5Tinsert");
        return type;
    }

    Times write(const std::string& name) const {
        Times times;
        const std::vector<float> values(8 * mine, static_cast<float>(rank));
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        const hid_t access = parallel_access(MPI_INFO_NULL, false);
        const hid_t file =
            checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
        times.create = slowest(MPI_Wtime() - start);
        for (hsize_t step = 0; step < steps; ++step) {
            times.writes.push_back(write_step(file, step, values));
            times.write += times.writes.back();
        }
        const double closing = MPI_Wtime();
        checked(H5Fflush(file, H5F_SCOPE_LOCAL), "H5Fflush");
        checked(H5Fclose(file), "H5Fclose");
        times.close = slowest(MPI_Wtime() - closing);
        H5Pclose(access);
        times.sync = synced(name);
        return times;
    }

    [[nodiscard]] double write_step(hid_t file, hsize_t step,
                                    const std::vector<float>& values) const {
        const double start = MPI_Wtime();
        const hsize_t all = mine * static_cast<hsize_t>(ranks);
        const hsize_t first = mine * static_cast<hsize_t>(rank);
        const std::string name = "Timestep_" + std::to_string(step);
        const hid_t group = checked(
            H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Gcreate");
        const hid_t space = checked(H5Screate_simple(1, &all, nullptr), "H5Screate");
        const hid_t memory = checked(H5Screate_simple(1, &mine, nullptr), "H5Screate");
        checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &mine, nullptr),
                "H5Sselect_hyperslab");
        const hid_t whole = compound(0, 8), transfer = transfer_list(collective);
        const hid_t set = checked(
            H5Dcreate2(group, "particles", whole, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            "H5Dcreate");
        for (int variable = 0; variable < 8; ++variable) {
            const hid_t one = compound(variable, 1);
            checked(H5Dwrite(set, one, memory, space, transfer,
                             &values[static_cast<hsize_t>(variable) * mine]),
                    "H5Dwrite");
            H5Tclose(one);
        }
        H5Dclose(set), H5Tclose(whole), H5Pclose(transfer), H5Sclose(memory), H5Sclose(space);
        H5Gclose(group);
        return slowest(MPI_Wtime() - start);
    }

    [[nodiscard]] double bytes() const { return 32.0 * static_cast<double>(mine * steps) * ranks; }
};

template <class Kernel>
void repeat(const Kernel& kernel, int repetitions, const std::string& name) {
    for (int i = 0; i <= repetitions; ++i) {
        const Times times = kernel.write(name);
        if (rank == 0) ::unlink(name.c_str());
        if (rank != 0 || i == 0) continue;  // the first one warms up
        std::printf(
            "{\"bytes\": %.0f, \"create_s\": %.9f, \"write_s\": %.9f, \"close_s\": %.9f, "
            "\"durable_s\": %.9f}\n",
            kernel.bytes(), times.create, times.write, times.close,
            times.create + times.write + times.close + times.sync);
        std::fflush(stdout);
    }
}

hsize_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string which = argc > 1 ? argv[1] : "";
    if (which == "seism" && argc == 14) {
        Seism kernel{};
        for (int d = 0; d < 3; ++d) {
            kernel.grid[d] = number(argv[2 + d]);
            kernel.domain[d] = number(argv[5 + d]);
            kernel.chunk[d] = number(argv[8 + d]);
        }
        kernel.steps = number(argv[11]);
        repeat(kernel, std::atoi(argv[12]), argv[13]);
    } else if (which == "slab" && argc == 8) {
        const bool short_split = std::string(argv[5]) == "short-split";
        const Slab kernel{number(argv[2]), number(argv[3]), argv[4][0] == 'T',
                          Slab::cuts_of(short_split)};
        repeat(kernel, std::atoi(argv[6]), argv[7]);
    } else if (which == "particle" && argc == 7) {
        const Particles kernel{number(argv[2]), number(argv[3]), argv[4][0] == 'T'};
        repeat(kernel, std::atoi(argv[5]), argv[6]);
    } else {
        if (rank == 0) std::fprintf(stderr, "classic: what it takes stands at its head\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Finalize();
    return 0;
}
