/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * Declaring intents: a program tells what it means to do with its files, so that nobody has to
 * guess. Library: -ltailrace_intent; it links with neither HDF5 nor MPI and finds the HDF5 of the
 * process itself. Nothing else changes: where no hook records the program or applies a plan to it,
 * declarations are read by nobody. Keys and words: docs/user/declare.md.
 *
 *     hid_t access = H5Pcreate(H5P_FILE_ACCESS);
 *     tailrace_intent_set(access, "{\"reliability\": \"scratch\", \"order\": \"sequential\"}");
 *     hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
 *
 * Every function returns one of the numbers below. Nothing is printed. */
#ifndef TAILRACE_INTENT_H
#define TAILRACE_INTENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What every function returns. */
enum {
    TAILRACE_INTENT_OK = 0,      /**< done */
    TAILRACE_INTENT_FAILED = 1,  /**< HDF5 refused, or there is no memory */
    TAILRACE_INTENT_INVALID = 2, /**< the declaration or the list is wrong; nothing was changed */
    TAILRACE_INTENT_NO_HDF5 = 4  /**< there is no HDF5 (1.10 or newer) in this process */
};

/** Declares what is to be done with the files, or datasets, that are created or opened with a list.
 * [local]
 * @param plist  a hid_t: a list of file access, file creation, dataset access or dataset creation,
 * made by H5Pcreate; an earlier declaration on it is replaced. H5Pcopy copies it too.
 * @param json  keys and words, at most 4096 bytes; on lists of files also {"datasets": {PATTERN:
 * ...}}
 */
int tailrace_intent_set(int64_t plist, const char* json);

/** What is declared on a list; an empty text where nothing is.  [local]
 * @param json  room for it; NULL: only its length is asked for
 * @param bytes  of the room, the final zero included
 * @param needed  out: bytes that it takes with the final zero; may be NULL */
int tailrace_intent_get(int64_t plist, char* json, size_t bytes, size_t* needed);

/** Takes a declaration off a list; it is no error where there is none.  [local] */
int tailrace_intent_clear(int64_t plist);

/** Declares of files by pattern, whoever opens them in this process from now on, in whatever
 * thread: for libraries that hide their property lists.  [local]
 * @param json  {"files": {PATTERN: {...}}}, at most 65536 bytes
 * @param token  out: for tailrace_intent_pop. What is pushed later wins, each key by itself. At
 * most 64 at a time. */
int tailrace_intent_push(const char* json, uint64_t* token);

/** Takes a declaration by pattern back, in any order.  [local] */
int tailrace_intent_pop(uint64_t token);

/** What went wrong in the last call of this thread that did not return 0, with the next step; never
 * NULL.  [local] */
const char* tailrace_intent_error(void);

/** Which HDF5 is meant by the lists of this thread, where a process has several (Python): a handle
 * of dlopen of it, or of anything that is linked with it; NULL: it is found.  [local] */
void tailrace_intent_use(void* hdf5);

/** For the hooks: what is declared by pattern of a file, as one text for a list.  [local]
 * @param path  absolute, without links
 * @param named  absolute, as the program gives it; a pattern may be for either
 * @return its length; 0: nothing is. It is written where it is shorter than `bytes`. */
size_t tailrace_intent_declared_as(const char* path, const char* named, char* json, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
