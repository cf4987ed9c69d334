// SPDX-License-Identifier: Apache-2.0
// vol_holes_of_ranks all|FAULT: ranks write parts of datasets that have a fill value, each element
// by its place; each way in a file of its name. Prints on rank 0 what the calls of interest
// returned on each rank.
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr hsize_t rows = 240;
constexpr hsize_t columns = 70;
int rank = 0;
int ranks = 1;

void tell(const char* what, long long found) {
    std::vector<long long> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&found, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::printf("%s", what);
    for (const long long one : all) std::printf(" %lld", one);
    std::printf("\n");
    std::fflush(stdout);
}

hid_t make_space() {
    const hsize_t dims[2] = {rows, columns};
    return H5Screate_simple(2, dims, nullptr);
}

hid_t make(hid_t file, const char* name, hid_t space) {
    const int fill = -7;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_value(creation, H5T_NATIVE_INT, &fill);
    const hid_t made =
        H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(creation);
    return made;
}

hid_t make(hid_t file, const char* name) { return make(file, name, make_space()); }

hid_t make_file(const std::string& name, H5F_close_degree_t degree = H5F_CLOSE_DEFAULT) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_fclose_degree(access, degree);
    const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

/// Writes what is selected, each element its number in the dataset, and `more`.
herr_t put(hid_t dataset, hid_t space, int more = 0, hid_t list = H5P_DEFAULT) {
    // As large in memory as in the file: the same selection picks the same numbers.
    std::vector<int> values(rows * columns);
    std::iota(values.begin(), values.end(), more);
    const hid_t memory = H5Scopy(space);
    hssize_t none[2] = {0, 0};
    H5Soffset_simple(memory, none);
    const herr_t status = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, list, values.data());
    H5Sclose(memory);
    return status;
}

hid_t box(hsize_t row, hsize_t column, hsize_t height, hsize_t width) {
    const hsize_t start[2] = {row, column};
    const hsize_t count[2] = {height, width};
    const hid_t space = make_space();
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    return space;
}

/// The rows of a rank.
hid_t own(hsize_t height = 0) {
    const hsize_t each = rows / static_cast<hsize_t>(ranks);
    return box(each * static_cast<hsize_t>(rank), 0, height == 0 ? each : height, columns);
}

void put_and_close(hid_t dataset, hid_t space, int more = 0) {
    put(dataset, space, more);
    H5Sclose(space);
    H5Dclose(dataset);
}

hid_t collective() {
    const hid_t list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    return list;
}

// --- ways to write -------------------------------------------------------------------------------

void whole(hid_t file) { put_and_close(make(file, "d"), own()); }

void gaps(hid_t file) {
    put_and_close(make(file, "rows"), own(7));
    put_and_close(make(file, "box"), box(3 * static_cast<hsize_t>(rank), 5, 2, 9));
    H5Dclose(make(file, "none"));
    const hid_t dataset = make(file, "one");
    const hid_t last = own(1);
    if (rank == ranks - 1) put(dataset, last);
    H5Sclose(last);
    H5Dclose(dataset);
}

void all_of_one(hid_t file) {
    const hid_t dataset = make(file, "d");
    std::vector<int> values(rows * columns, 3);
    if (rank == ranks - 1)
        H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
}

void strides(hid_t file) {
    const hsize_t start[2] = {static_cast<hsize_t>(rank), 2};
    const hsize_t stride[2] = {static_cast<hsize_t>(ranks) + 1, 5};
    const hsize_t count[2] = {rows / stride[0], 13};
    const hsize_t block[2] = {1, 3};
    const hid_t space = make_space();
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
    put_and_close(make(file, "d"), space);
}

void points(hid_t file) {
    std::vector<hsize_t> at;
    for (hsize_t n = 0; n < 3000; ++n) {
        at.push_back((7 * n + static_cast<hsize_t>(rank)) % rows);
        at.push_back((11 * n) % columns);
    }
    const hid_t space = make_space();
    H5Sselect_elements(space, H5S_SELECT_SET, at.size() / 2, at.data());
    put_and_close(make(file, "d"), space);
}

void irregular(hid_t file) {
    const hid_t space = own(3);
    for (hsize_t n = 0; n < 20; ++n) {
        const hsize_t start[2] = {(13 * n + static_cast<hsize_t>(rank)) % rows, (3 * n) % columns};
        const hsize_t count[2] = {1, 1};
        H5Sselect_hyperslab(space, H5S_SELECT_OR, start, nullptr, count, nullptr);
    }
    put_and_close(make(file, "d"), space);
}

void moved(hid_t file) {
    const hssize_t offset[2] = {2, 1};
    const hid_t blocks = box(3 * static_cast<hsize_t>(rank), 4, 1, 6);
    H5Soffset_simple(blocks, offset);
    put_and_close(make(file, "blocks"), blocks);
    const hsize_t at[4] = {static_cast<hsize_t>(rank), 3, static_cast<hsize_t>(rank) + 20, 9};
    const hid_t some = make_space();
    H5Sselect_elements(some, H5S_SELECT_SET, 2, at);
    H5Soffset_simple(some, offset);
    const hid_t rest = own(1);
    const hsize_t start[2] = {100 + 4 * static_cast<hsize_t>(rank), 7};
    const hsize_t count[2] = {3, 5};
    H5Sselect_hyperslab(rest, H5S_SELECT_OR, start, nullptr, count, nullptr);
    const hssize_t back[2] = {1, 0};
    H5Soffset_simple(rest, back);
    const hsize_t elements = static_cast<hsize_t>(H5Sget_select_npoints(rest));
    const hid_t line = H5Screate_simple(1, &elements, nullptr);
    const std::vector<int> ones(elements, rank + 1);
    const hid_t parts = make(file, "parts");
    H5Dwrite(parts, H5T_NATIVE_INT, line, rest, H5P_DEFAULT, ones.data());
    H5Dclose(parts);
    H5Sclose(line);
    H5Sclose(rest);
    const hid_t dataset = make(file, "points");
    std::vector<int> values(2, rank);
    const hsize_t two = 2;
    const hid_t memory = H5Screate_simple(1, &two, nullptr);
    H5Dwrite(dataset, H5T_NATIVE_INT, memory, some, H5P_DEFAULT, values.data());
    H5Sclose(memory);
    H5Sclose(some);
    H5Dclose(dataset);
}

/// One element at a time, in no order: more places than are kept as such.
void many_writes(hid_t file) {
    const hid_t dataset = make(file, "d");
    for (hsize_t n = 0; n < 1500; ++n) {
        const hsize_t number = (n * 4099 + static_cast<hsize_t>(rank) * 31) % (rows * columns);
        const hid_t space = box(number / columns, number % columns, 1, 1);
        put(dataset, space);
        H5Sclose(space);
    }
    H5Dclose(dataset);
}

/// Single elements that do not touch, in an array of more dimensions.
void put_single(hid_t dataset, const std::vector<hsize_t>& dims, hsize_t writes) {
    hsize_t all = 1;
    for (const hsize_t one : dims) all *= one;
    const int dimensions = static_cast<int>(dims.size());
    const hid_t space = H5Screate_simple(dimensions, dims.data(), nullptr);
    const hsize_t one = 1;
    const hid_t memory = H5Screate_simple(1, &one, nullptr);
    for (hsize_t n = 0; n < writes; ++n) {
        const hsize_t number = (n * 377 + static_cast<hsize_t>(rank) * 31) % all;
        std::vector<hsize_t> start(dims.size());
        const std::vector<hsize_t> count(dims.size(), 1);
        hsize_t left = number;
        for (std::size_t d = dims.size(); d-- > 0; left /= dims[d]) start[d] = left % dims[d];
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
        const int value = static_cast<int>(number);
        H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value);
    }
    H5Sclose(memory);
    H5Sclose(space);
}

/// So many places that a rank tells them in several messages, and in five dimensions as many as
/// there are room for.
void dimensions(hid_t file) {
    const std::vector<hsize_t> three = {10, 40, 50};
    const std::vector<hsize_t> five = {3, 5, 7, 11, 13};
    const hid_t cube = make(file, "three", H5Screate_simple(3, three.data(), nullptr));
    put_single(cube, three, 500);
    H5Dclose(cube);
    const hid_t more = make(file, "five", H5Screate_simple(5, five.data(), nullptr));
    put_single(more, five, rank == ranks - 1 ? 409 : 3);
    H5Dclose(more);
}

/// A link leads to another file.
void linked(hid_t file) {
    H5Fclose(make_file("linked_to.h5"));
    H5Lcreate_external("linked_to.h5", "/", file, "link", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_and_close(make(file, "g/here"), own(3));
    H5Dclose(make(file, "link/d"));
    put_and_close(H5Dopen2(file, "link/d", H5P_DEFAULT), own(9));
}

/// Two at a time, and in a second file.
void several(hid_t file) {
    const hid_t other = make_file("several_too.h5");
    const hid_t space = own(4);
    const hid_t both[2] = {make(file, "a"), make(other, "b")};
    for (const hid_t one : both) put(one, space);
    const hid_t two[2] = {make(file, "c"), make(file, "d")};
    std::vector<int> values(rows * columns);
    std::iota(values.begin(), values.end(), 9);
    const hid_t types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT};
    const hid_t spaces[2] = {space, space};
    const void* buffers[2] = {values.data(), values.data()};
    H5Dwrite_multi(2, const_cast<hid_t*>(two), const_cast<hid_t*>(types),
                   const_cast<hid_t*>(spaces), const_cast<hid_t*>(spaces), H5P_DEFAULT, buffers);
    for (const hid_t one : two) H5Dclose(one);
    for (const hid_t one : both) H5Dclose(one);
    H5Sclose(space);
    H5Fclose(other);
}

/// The selection counts the elements of rows that are shorter.
void other_extents(hid_t file) {
    const hsize_t dims[2] = {rows, columns - 6};
    const hsize_t start[2] = {4 * static_cast<hsize_t>(rank), 0};
    const hsize_t count[2] = {4, columns - 6};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hid_t dataset = make(file, "d");
    const std::vector<int> values(rows * columns, rank);
    const hid_t memory = box(0, 0, 4, columns - 6);
    H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values.data());
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
}

/// The file goes on until its objects are closed, too.
void weak(hid_t /*unused*/) {
    const hid_t file = make_file("weakly.h5", H5F_CLOSE_WEAK);
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    put_and_close(make(group, "d"), own(6));
    H5Gclose(group);
}

void together(hid_t file) {
    const hid_t list = collective();
    const hid_t dataset = make(file, "d");
    const hid_t space = rank == 1 ? make_space() : own(5);
    if (rank == 1) H5Sselect_none(space);
    put(dataset, space, 0, list);
    H5Sclose(space);
    H5Pclose(list);
    H5Dclose(dataset);
}

void opened_again(hid_t file) {
    H5Dclose(make(file, "d"));
    const hid_t again = H5Dopen2(file, "d", H5P_DEFAULT);
    put_and_close(again, own(9));
}

void reopened(hid_t file) {
    H5Dclose(make(file, "d"));
    const hid_t other = H5Freopen(file);
    put_and_close(H5Dopen2(other, "d", H5P_DEFAULT), own(9));
    H5Fclose(other);
}

void flushed(hid_t file) {
    const hid_t dataset = make(file, "d");
    const hid_t first = own(6);
    put(dataset, first);
    H5Sclose(first);
    tell("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
    const hid_t list = collective();
    std::vector<int> values(rows * columns);
    H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, list, values.data());
    H5Pclose(list);
    long long sum = 0;
    for (const int one : values) sum += one;
    tell("sum", sum);
    put_and_close(dataset, own(8), 5);
    put_and_close(make(file, "after"), own(2));
}

void copied(hid_t file) {
    const hid_t dataset = make(file, "d");
    const hid_t first = own(6);
    put(dataset, first);
    H5Sclose(first);
    MPI_Barrier(MPI_COMM_WORLD);  // HDF5 itself waits for nobody here
    H5Ocopy(file, "d", file, "copy", H5P_DEFAULT, H5P_DEFAULT);
    MPI_Barrier(MPI_COMM_WORLD);
    put_and_close(dataset, own(8), 5);
}

void deleted(hid_t file) {
    put_and_close(make(file, "old"), own(6));
    MPI_Barrier(MPI_COMM_WORLD);  // the next one lies where this one was
    H5Ldelete(file, "old", H5P_DEFAULT);
    put_and_close(make(file, "d"), own(5));
}

void still_open(hid_t file) {
    const hid_t dataset = make(file, "d");
    const hid_t first = own(6);
    put(dataset, first);
    H5Sclose(first);
    H5Idec_ref(file);  // MPI_Finalize closes the library, and that the dataset
}

void read_before(hid_t file) {
    const hid_t dataset = make(file, "d");
    const hid_t first = own(6);
    put(dataset, first);
    std::vector<int> values(rows * columns);
    H5Dread(dataset, H5T_NATIVE_INT, first, first, H5P_DEFAULT, values.data());
    H5Sclose(first);
    H5Dclose(dataset);
}

/// Rank 0 cannot write beyond what the ranks have written.
void full(hid_t file) {
    const hid_t dataset = make(file, "d");
    const hid_t first = box(static_cast<hsize_t>(rank), 0, 1, columns);
    put(dataset, first);
    H5Sclose(first);
    H5Dclose(dataset);
    signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit little{4096, before.rlim_max};
    if (rank == 0) setrlimit(RLIMIT_FSIZE, &little);
    tell("flush", H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : 0);
    setrlimit(RLIMIT_FSIZE, &before);
}

struct Way {
    const char* name;
    void (*write)(hid_t);
    bool closes = true;
};
constexpr Way ways[] = {
    {"whole", whole},
    {"gaps", gaps},
    {"all_of_one", all_of_one},
    {"strides", strides},
    {"points", points},
    {"irregular", irregular},
    {"moved", moved},
    {"many_writes", many_writes},
    {"together", together},
    {"opened_again", opened_again},
    {"reopened", reopened},
    {"flushed", flushed},
    {"copied", copied},
    {"deleted", deleted},
    {"dimensions", dimensions},
    {"linked", linked},
    {"several", several},
    {"weak", weak},
    {"still_open", still_open, false},
    {"not_closed", gaps, false},
};
constexpr Way faults[] = {
    {"read_before", read_before}, {"full", full}, {"other_extents", other_extents}};

void go(const Way& way) {
    const hid_t file = make_file(std::string(way.name) + ".h5");
    way.write(file);
    if (way.closes) tell("close", H5Fclose(file));
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string wanted = count > 1 ? words[1] : "";
    for (const Way& way : ways)
        if (wanted == "all") go(way);
    for (const Way& way : faults)
        if (wanted == way.name) go(way);
    MPI_Finalize();
    return 0;
}
