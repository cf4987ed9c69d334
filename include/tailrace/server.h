/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * The I/O server: a model hands over named fields and goes on computing; other ranks write the
 * files. Library: -ltailrace_server. Pages: docs/user/io_server.md.
 *
 *     tailrace_server* server; int is_model;
 *     tailrace_server_start(MPI_COMM_WORLD, argc, argv, &server, &is_model);
 *     if (is_model) {
 *         ...metadata, collections...
 *         for (step...) {
 *             compute();
 *             tailrace_server_put(server, id, NULL, "T", TAILRACE_REAL32, 3, start, count, T, -1);
 *             tailrace_server_end_step(server, id, &time);
 *         }
 *         tailrace_server_finalize(server);
 *     }
 *     tailrace_server_free(server);
 *
 * Every function returns one of the numbers below. Nothing is printed, and the job is never ended;
 * but MPI_Finalize without tailrace_server_finalize gives the files up that are open, lets the
 * servers go, and says so on stderr.
 * [collective] means: all ranks of the model make the call, in the same order with the others of
 * that kind. A rank that does not is found and named, on all ranks. */
#ifndef TAILRACE_SERVER_H
#define TAILRACE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/** What every function returns. */
enum {
    TAILRACE_OK = 0,         /**< done */
    TAILRACE_FAILED = 1,     /**< a file, the system or another rank failed */
    TAILRACE_INVALID = 2,    /**< an argument, or the order of calls; nothing was done */
    TAILRACE_UNSUPPORTED = 4 /**< the library was built without it */
};

/** Why the last call of this thread that did not return 0 did not: file, variable, rank, remedy.
 * Never NULL.  [local] */
const char* tailrace_error_text(void);

/** The types of elements: numbers, and single characters (NC_CHAR; in plain HDF5 texts of length
 * 1). A text is a row of them, along a dimension of its own. */
typedef enum {
    TAILRACE_INT8,
    TAILRACE_INT16,
    TAILRACE_INT32,
    TAILRACE_INT64,
    TAILRACE_REAL32,
    TAILRACE_REAL64,
    TAILRACE_CHAR
} tailrace_type;

/** What a file holds. All calls with it are local, and must be the same on all ranks. A name that
 * does not exist is TAILRACE_INVALID, and the text says which one was meant. */
typedef struct tailrace_metadata tailrace_metadata;

/** Metadata without anything. */
int tailrace_metadata_create(tailrace_metadata** metadata);
/** Of one that tailrace_metadata_create made.  NULL: nothing */
void tailrace_metadata_free(tailrace_metadata* metadata);
/** Adds a dimension.
 * @param size  0: the unlimited one, of which there is at most one */
int tailrace_metadata_add_dimension(tailrace_metadata* metadata, const char* name, uint64_t size);
/** Adds a variable, or replaces the one of this name.
 * @param dimensions  their names, the slowest first; an unlimited one only there */
int tailrace_metadata_add_variable(tailrace_metadata* metadata, const char* name,
                                   tailrace_type type, int ndims, const char* const* dimensions);
/** Takes a variable out. */
int tailrace_metadata_remove_variable(tailrace_metadata* metadata, const char* name);
/** Adds an attribute, or gives it another value.
 * @param variable  NULL: an attribute of the file */
int tailrace_metadata_set_text(tailrace_metadata* metadata, const char* variable, const char* name,
                               const char* text);
/** The same with numbers. _FillValue of a variable, one number of its type, is what
 * tailrace_metadata_set_fill sets.
 * @param variable  NULL: an attribute of the file
 * @param values  count numbers of this type */
int tailrace_metadata_set_numbers(tailrace_metadata* metadata, const char* variable,
                                  const char* name, tailrace_type type, size_t count,
                                  const void* values);
/** Takes an attribute out.
 * @param variable  NULL: an attribute of the file */
int tailrace_metadata_remove_attribute(tailrace_metadata* metadata, const char* variable,
                                       const char* name);
/** The value of elements that nobody puts.
 * @param type  of the value; it must be that of the variable */
int tailrace_metadata_set_fill(tailrace_metadata* metadata, const char* variable,
                               tailrace_type type, const void* value);
/** All elements of a variable without records, such as a coordinate: no put is needed.
 * @param type  of the values; it must be that of the variable
 * @param count  how many there are at `values`; it must be all of them */
int tailrace_metadata_set_constant(tailrace_metadata* metadata, const char* variable,
                                   tailrace_type type, size_t count, const void* values);
/** How it is stored, as "key=value; key=value": chunks=1x90x180, deflate=1..9, zstd=1..22,
 * shuffle=1, quantize=bit_groom|granular_bit_round|bit_round, digits=N. */
int tailrace_metadata_set_storage(tailrace_metadata* metadata, const char* variable,
                                  const char* storage);

/** The I/O server, as a rank has it. */
typedef struct tailrace_server tailrace_server;

/** Shares out the ranks of a communicator and starts. On a rank that serves it returns when the
 * model has ended, with is_model = 0.  [collective over the communicator]
 * @param fortran_comm  the handle that MPI_Comm_c2f gives
 * @param argc  how many words there are
 * @param argv  options (docs/user/io_server.md); what is not ours stays as it is. May be NULL
 * @param server  out: give it to tailrace_server_free at the end, on all ranks, before
 *                 MPI_Finalize */
int tailrace_server_start_f(int fortran_comm, int argc, const char* const* argv,
                            tailrace_server** server, int* is_model);
#ifdef MPI_VERSION
/** The same, in C with MPI: include mpi.h before.  [collective over the communicator] */
static inline int tailrace_server_start(MPI_Comm comm, int argc, char** argv,
                                        tailrace_server** server, int* is_model) {
    return tailrace_server_start_f((int)MPI_Comm_c2f(comm), argc, (const char* const*)argv, server,
                                   is_model);
}
#endif
/** The ranks of the model, as a Fortran handle; it lives as long as the server.  [local] */
int tailrace_server_comm_f(tailrace_server* server, int* fortran_comm);
#ifdef MPI_VERSION
/** The same, as a handle of C.  [local] */
static inline int tailrace_server_comm(tailrace_server* server, MPI_Comm* comm) {
    int handle = 0;
    const int code = tailrace_server_comm_f(server, &handle);
    if (code == TAILRACE_OK) *comm = MPI_Comm_f2c((MPI_Fint)handle);
    return code;
}
#endif

/** A series of files with the same content.  [collective]
 * @param metadata  is copied
 * @param options  "key=value; key=value", NULL: none. format=netcdf4|cdf5|hdf5,
 *             existing=refuse|replace|append, records_per_file=N, file=NAME with dates,
 *             calendar=standard|noleap|360_day, queue_bytes=BYTES, when_full=block|error,
 *             durability=durable|flushed|none
 * @param id  out: its number, the same on all ranks */
int tailrace_server_add_collection(tailrace_server* server, const char* name,
                                   const tailrace_metadata* metadata, const char* options,
                                   int64_t* id);
/** The metadata of a collection, to edit them between two files: the next one has them. They belong
 * to the server.  [local, the same on all ranks] */
int tailrace_server_metadata(tailrace_server* server, int64_t id, tailrace_metadata** metadata);
/** Names the file by the collection's template.  [local, the same on all ranks] */
int tailrace_server_set_date(tailrace_server* server, int64_t id, int64_t year, int month, int day,
                             int hour, int minute, int second);

/** A block of a variable. The array is free again when it returns. It waits for room in the queue
 * alone.  [collective]
 * @param file  NULL: that of the date, or the one that is open
 * @param type  of the array; it must be that of the variable
 * @param ndims  of one record, without the unlimited dimension
 * @param start  of the block, from 0, the slowest dimension first
 * @param count  its extents
 * @param data  count elements, packed; NULL: this rank has nothing
 * @param record  from 0, with existing=append from the first that is appended; negative: the
 *                 present one */
int tailrace_server_put(tailrace_server* server, int64_t id, const char* file, const char* variable,
                        tailrace_type type, int ndims, const uint64_t* start, const uint64_t* count,
                        const void* data, int64_t record);
/** The same, if all ranks have the same data: one copy travels.  [collective] */
int tailrace_server_put_replicated(tailrace_server* server, int64_t id, const char* file,
                                   const char* variable, tailrace_type type, int ndims,
                                   const uint64_t* start, const uint64_t* count, const void* data,
                                   int64_t record);
/** Ends a step; what is put next belongs to the next record. Returns what became of earlier steps,
 * the same on all ranks.  [collective]
 * @param time  value of the coordinate: of the variable that is named like the unlimited dimension,
 * in the record that the puts of the step name, if they name one; NULL: none */
int tailrace_server_end_step(tailrace_server* server, int64_t id, const double* time);
/** The file gets its final name, if all went well: what became of all steps. What is put next needs
 * another one.  [collective] */
int tailrace_server_close_file(tailrace_server* server, int64_t id);
/** The same as tailrace_server_close_file.  [collective] */
int tailrace_server_flush(tailrace_server* server, int64_t id);
/** The first failure that this rank has heard of; never waits.  [local] */
int tailrace_server_status(tailrace_server* server);
/** Flushes all, and lets the servers go. Returns what became of all: the text of the first failure
 * names the other files too.  [collective] */
int tailrace_server_finalize(tailrace_server* server);
/** NULL: nothing. Without tailrace_server_finalize, open files are given up.  [collective] */
void tailrace_server_free(tailrace_server* server);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
