// SPDX-License-Identifier: Apache-2.0
// Every class of call of MPI-IO, known numbers of times on each rank. The sizes tell them apart.
//   mpiio_calls FILE calls|fewer_calls|hints|short|displaced|fork|kill|storm|large
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks, bad;
static int no_collective_nonblocking;  // the ROMIO of Open MPI 4.1 has none, and dies of it
static char data[1 << 16];

static void must(int error, const char* what) {
    if (error == MPI_SUCCESS) return;
    fprintf(stderr, "rank %d: %s failed\n", rank, what);
    bad = 1;
}

static MPI_File opened(const char* name, MPI_Info info) {
    MPI_File file;
    must(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), "open");
    return file;
}

static void wait_for(MPI_Request request) { must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait"); }

static void explicit_offsets(MPI_File f) {
    const MPI_Offset at = (MPI_Offset)rank * 8192;
    MPI_Request r;
    for (int k = 0; k < 3; ++k)
        must(MPI_File_write_at(f, at, data, 10, MPI_INT, MPI_STATUS_IGNORE), "write_at");
    for (int k = 0; k < 2; ++k)
        must(MPI_File_write_at_all(f, at, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    must(MPI_File_iwrite_at(f, at, data, 300, MPI_BYTE, &r), "iwrite_at");
    wait_for(r);
    if (!no_collective_nonblocking) {
        must(MPI_File_iwrite_at_all(f, at, data, 301, MPI_BYTE, &r), "iwrite_at_all");
        wait_for(r);
    }
    must(MPI_File_write_at_all_begin(f, at, data, 302, MPI_BYTE), "write_at_all_begin");
    must(MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE), "write_at_all_end");
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_read_at(f, at, data, 10, MPI_INT, MPI_STATUS_IGNORE), "read_at");
    must(MPI_File_read_at_all(f, at, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE), "read_at_all");
    must(MPI_File_iread_at(f, at, data, 300, MPI_BYTE, &r), "iread_at");
    wait_for(r);
    if (!no_collective_nonblocking) {
        must(MPI_File_iread_at_all(f, at, data, 301, MPI_BYTE, &r), "iread_at_all");
        wait_for(r);
    }
    must(MPI_File_read_at_all_begin(f, at, data, 302, MPI_BYTE), "read_at_all_begin");
    must(MPI_File_read_at_all_end(f, data, MPI_STATUS_IGNORE), "read_at_all_end");
}

static void own_pointer(MPI_File f) {
    MPI_Request r;
    MPI_Datatype row;
    must(MPI_Type_vector(4, 16, 64, MPI_BYTE, &row), "vector");
    must(MPI_Type_commit(&row), "commit");
    must(MPI_File_set_view(f, 16 * rank, MPI_BYTE, row, "native", MPI_INFO_NULL), "set_view");
    must(MPI_File_write(f, data, 64, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    must(MPI_File_write_all(f, data, 65, MPI_BYTE, MPI_STATUS_IGNORE), "write_all");
    must(MPI_File_iwrite(f, data, 66, MPI_BYTE, &r), "iwrite");
    wait_for(r);
    if (!no_collective_nonblocking) {
        must(MPI_File_iwrite_all(f, data, 67, MPI_BYTE, &r), "iwrite_all");
        wait_for(r);
    }
    must(MPI_File_write_all_begin(f, data, 68, MPI_BYTE), "write_all_begin");
    must(MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE), "write_all_end");
    must(MPI_File_set_view(f, 16 * rank, MPI_BYTE, row, "native", MPI_INFO_NULL), "set_view");
    MPI_Type_free(&row);
    must(MPI_File_read(f, data, 64, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    must(MPI_File_read_all(f, data, 65, MPI_BYTE, MPI_STATUS_IGNORE), "read_all");
    must(MPI_File_iread(f, data, 66, MPI_BYTE, &r), "iread");
    wait_for(r);
    if (!no_collective_nonblocking) {
        must(MPI_File_iread_all(f, data, 67, MPI_BYTE, &r), "iread_all");
        wait_for(r);
    }
    must(MPI_File_read_all_begin(f, data, 68, MPI_BYTE), "read_all_begin");
    must(MPI_File_read_all_end(f, data, MPI_STATUS_IGNORE), "read_all_end");
    must(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
}

static void shared_pointer(MPI_File f) {
    MPI_Request r;
    must(MPI_File_write_shared(f, data, 100, MPI_BYTE, MPI_STATUS_IGNORE), "write_shared");
    must(MPI_File_iwrite_shared(f, data, 101, MPI_BYTE, &r), "iwrite_shared");
    wait_for(r);
    must(MPI_File_write_ordered(f, data, 102, MPI_BYTE, MPI_STATUS_IGNORE), "write_ordered");
    must(MPI_File_write_ordered_begin(f, data, 103, MPI_BYTE), "write_ordered_begin");
    must(MPI_File_write_ordered_end(f, data, MPI_STATUS_IGNORE), "write_ordered_end");
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), "seek_shared");
    must(MPI_File_read_shared(f, data, 100, MPI_BYTE, MPI_STATUS_IGNORE), "read_shared");
    must(MPI_File_iread_shared(f, data, 101, MPI_BYTE, &r), "iread_shared");
    wait_for(r);
    must(MPI_File_read_ordered(f, data, 102, MPI_BYTE, MPI_STATUS_IGNORE), "read_ordered");
    must(MPI_File_read_ordered_begin(f, data, 103, MPI_BYTE), "read_ordered_begin");
    must(MPI_File_read_ordered_end(f, data, MPI_STATUS_IGNORE), "read_ordered_end");
}

static void large_counts(MPI_File f) {
#if MPI_VERSION >= 4
    must(MPI_File_write_at_all_c(f, (MPI_Offset)rank * 8192, data, 5000, MPI_BYTE,
                                 MPI_STATUS_IGNORE),
         "write_at_all_c");
#else
    (void)f;
#endif
}

static void calls(const char* name) {
    MPI_File f = opened(name, MPI_INFO_NULL);
    must(MPI_File_set_size(f, 65536), "set_size");
    must(MPI_File_preallocate(f, 65536), "preallocate");
    explicit_offsets(f);
    own_pointer(f);
    shared_pointer(f);
    large_counts(f);
    must(MPI_File_close(&f), "close");
    char own[4096];
    snprintf(own, sizeof own, "%s.%d", name, rank);
    must(MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f),
         "open own");
    must(MPI_File_write(f, data, 7, MPI_BYTE, MPI_STATUS_IGNORE), "write own");
    must(MPI_File_close(&f), "close own");
}

static void hints(const char* name) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "2");
    MPI_Info_set(info, "tailrace_no_such_hint", "x");
    MPI_File f = opened(name, info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    must(MPI_File_set_info(f, info), "set_info");
    must(MPI_File_write_at_all(f, rank, data, 1, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    must(MPI_File_close(&f), "close");
    MPI_Info_free(&info);
    // A file that cannot be opened, and a call that fails: the program goes on.
    int error =
        MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    if (error == MPI_SUCCESS) bad = 1;
    f = opened(name, MPI_INFO_NULL);
    error = MPI_File_write_at(f, 0, data, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) bad = 1;
    must(MPI_File_close(&f), "close");
}

// Reads of more than there is: 100 bytes.
static void short_reads(const char* name) {
    enum { asked = 1 << 20 };
    char* room = malloc(asked);
    if (room == NULL) exit(1);
    MPI_File f = opened(name, MPI_INFO_NULL);
    if (rank == 0) must(MPI_File_write_at(f, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Status status;
    int came = -1;
    must(MPI_File_read_at(f, 0, room, asked, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    must(MPI_File_read_at(f, 40, room, asked, MPI_BYTE, &status), "read_at");
    must(MPI_Get_count(&status, MPI_BYTE, &came), "get_count");
    if (came != 60) bad = 1;
    MPI_Datatype three;  // of which 100 bytes are no whole number
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    must(MPI_File_read_at(f, 0, room, 1000, three, MPI_STATUS_IGNORE), "read_at");
    MPI_Type_free(&three);
    must(MPI_File_read(f, room, asked, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    must(MPI_File_read_at(f, 5000, room, asked, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    must(MPI_File_close(&f), "close");
    free(room);
}

// From a type whose bytes lie behind what `data` points to, where nothing can be read; and what
// begins as a classic netCDF file does, but not where a file begins.
static void displaced(const char* name) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* nowhere =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nowhere == MAP_FAILED) exit(1);
    memset(nowhere + page, 'x', page);
    if (mprotect(nowhere, page, PROT_NONE) != 0) exit(1);
    int one = 1;
    MPI_Aint behind = (MPI_Aint)page;
    MPI_Datatype there, type;
    MPI_Type_create_hindexed(1, &one, &behind, MPI_BYTE, &there);
    MPI_Type_create_resized(there, 0, 1, &type);
    MPI_Type_commit(&type);
    MPI_File f = opened(name, MPI_INFO_NULL);
    must(MPI_File_write_at(f, 0, nowhere, 64, type, MPI_STATUS_IGNORE), "write_at");
    memcpy(data, "CDF\001", 4);
    must(MPI_File_write_at(f, 4096, data, 64, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
    must(MPI_File_close(&f), "close");
    MPI_Type_free(&type);
    MPI_Type_free(&there);
    munmap(nowhere, 2 * page);
}

static void forked(const char* name) {
    MPI_File f = opened(name, MPI_INFO_NULL);
    must(MPI_File_write_at_all(f, rank * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) bad = 1;
    must(MPI_File_write_at_all(f, rank * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    must(MPI_File_close(&f), "close");
}

static void killed(const char* name) {
    MPI_File f = opened(name, MPI_INFO_NULL);
    must(MPI_File_write_at_all(f, rank * 8, data, 8, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_close(&f), "close");
}

static void storm(const char* name) {
    MPI_File f = opened(name, MPI_INFO_NULL);
    const double start = MPI_Wtime();
    for (int k = 0; k < 100000; ++k)
        MPI_File_write_at(f, rank, data, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%.3f us per call\n", (MPI_Wtime() - start) * 10);
    must(MPI_File_close(&f), "close");
}

// More than 32 bits hold, in one call as in the sum of two. FILE keeps nothing: /dev/null.
static void large(const char* name) {
    MPI_File f = opened(name, MPI_INFO_NULL);
    const size_t bytes = (size_t)5 << 30;
    // Never touched, so that no memory is behind it.
    void* zeros = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) bad = 1;
    MPI_Datatype mib, many, wide;
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib);
    MPI_Type_contiguous(5 << 10, mib, &many);
    MPI_Type_commit(&many);
    for (int k = 0; k < 2; ++k)
        must(MPI_File_write_at(f, (MPI_Offset)1 << 33, zeros, 1, many, MPI_STATUS_IGNORE), "large");
    MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)5 << 30, &wide);
    MPI_Type_commit(&wide);
    must(MPI_File_set_view(f, (MPI_Offset)7 << 30, MPI_BYTE, wide, "native", MPI_INFO_NULL),
         "view");
    MPI_Type_free(&wide);
    MPI_Type_free(&many);
    MPI_Type_free(&mib);
    munmap(zeros, bytes);
    must(MPI_File_close(&f), "close");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) return 2;
    const char* what = argv[2];
    no_collective_nonblocking = strcmp(what, "fewer_calls") == 0;
    if (strcmp(what, "calls") == 0 || no_collective_nonblocking) calls(argv[1]);
    if (strcmp(what, "hints") == 0) hints(argv[1]);
    if (strcmp(what, "short") == 0) short_reads(argv[1]);
    if (strcmp(what, "displaced") == 0) displaced(argv[1]);
    if (strcmp(what, "fork") == 0) forked(argv[1]);
    if (strcmp(what, "kill") == 0) killed(argv[1]);
    if (strcmp(what, "storm") == 0) storm(argv[1]);
    if (strcmp(what, "large") == 0) large(argv[1]);
    MPI_Finalize();
    return bad;
}
