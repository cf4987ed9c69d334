// SPDX-License-Identifier: Apache-2.0
// Writes a file through MPI-IO or HDF5 with the interposer linked in; what was counted is told by
// TAILRACE_POSIX_REPORT. interposed_writer FILE {mpiio|hdf5} {collective|independent|nonblocking}
// [hold]: errors are held, and the observer's verdict is printed ("rank 1: asked A done D errno
// E").
#include <mpi.h>
#ifdef TAILRACE_TEST_HDF5
#include <hdf5.h>
#endif

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/io_observer.hpp"
#include "hooks/posix/observer.hpp"

namespace {

constexpr int rows = 4, row_elements = 40000;  // per rank; rows of the ranks alternate in the file

int rank = 0, size = 1;

tailrace::core::IoObserver& observer() { return *tailrace::core::io_observer(); }

/// All ranks hold the file's errors from its creation on.
void hold(const char* name) {
    MPI_Barrier(MPI_COMM_WORLD);
    observer().hold_errors(name, true);
    MPI_Barrier(MPI_COMM_WORLD);
}

void write_mpiio(const char* name, const std::string& mode, bool held) {
    MPI_File file;
    observer().enter_phase("create");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (held) hold(name);
    std::vector<float> data(static_cast<std::size_t>(rows) * row_elements,
                            static_cast<float>(rank));
    MPI_Datatype pieces;
    MPI_Type_vector(rows, row_elements, row_elements * size, MPI_FLOAT, &pieces);
    MPI_Type_commit(&pieces);
    const MPI_Offset start = static_cast<MPI_Offset>(rank) * row_elements * sizeof(float);
    observer().enter_phase("write");
    MPI_File_set_view(file, start, MPI_FLOAT, pieces, "native", MPI_INFO_NULL);
    const int count = rows * row_elements;
    MPI_Status status;
    if (mode == "collective") MPI_File_write_all(file, data.data(), count, MPI_FLOAT, &status);
    if (mode == "independent") MPI_File_write(file, data.data(), count, MPI_FLOAT, &status);
    if (mode == "nonblocking") {
        MPI_Request request;
        MPI_File_iwrite(file, data.data(), count, MPI_FLOAT, &request);
        MPI_Wait(&request, &status);
    }
    observer().enter_phase("read");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    if (!held) MPI_File_read(file, data.data(), count, MPI_FLOAT, &status);
    observer().enter_phase("close");
    MPI_File_close(&file);
    MPI_Type_free(&pieces);
}

#ifdef TAILRACE_TEST_HDF5
void write_hdf5(const char* name, const std::string& mode, bool held) {
    observer().enter_phase("create");
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (held) hold(name);
    const hsize_t dims[2] = {rows, static_cast<hsize_t>(row_elements) * size};
    const hsize_t chunk[2] = {1, row_elements};
    hid_t space = H5Screate_simple(2, dims, nullptr);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    hid_t dataset =
        H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const hsize_t start[2] = {0, static_cast<hsize_t>(row_elements) * rank};
    const hsize_t extent[2] = {rows, row_elements};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, extent, nullptr);
    hid_t memory = H5Screate_simple(2, extent, nullptr);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (mode == "collective") H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    std::vector<float> data(static_cast<std::size_t>(rows) * row_elements,
                            static_cast<float>(rank));
    observer().enter_phase("write");
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, transfer, data.data());
    observer().enter_phase("close");
    for (hid_t list : {transfer, creation, access}) H5Pclose(list);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}
#endif

void print_verdict(const char* name) {
    const auto writes = observer().tally(name).write;
    std::printf("rank %d: asked %llu done %llu failed %llu errno %d\n", rank,
                static_cast<unsigned long long>(writes.bytes_asked),
                static_cast<unsigned long long>(writes.bytes_done),
                static_cast<unsigned long long>(writes.failed_calls), writes.first_errno);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    tailrace::hooks::posix::install();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool held = argc > 4 && std::strcmp(argv[4], "hold") == 0;
    if (std::strcmp(argv[2], "mpiio") == 0) write_mpiio(argv[1], argv[3], held);
#ifdef TAILRACE_TEST_HDF5
    if (std::strcmp(argv[2], "hdf5") == 0) write_hdf5(argv[1], argv[3], held);
#endif
    observer().enter_phase("after");
    if (held) print_verdict(argv[1]);
    MPI_Finalize();
    return 0;
}
