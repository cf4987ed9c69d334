// SPDX-License-Identifier: Apache-2.0
// From HDF5's identifiers to plain facts. Only asks what cannot fail in a sound program, since a
// failed question would print an error stack that the program never caused.
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

/// Driver and settings of a file access list, and of the creation list (invalid_id: none).
void describe_file(const Library& library, Id access, Id creation, FileFacts& facts);

/// @param type, space, creation, access  of the dataset; invalid_id: not known
void describe_dataset(const Library& library, Id type, Id space, Id creation, Id access,
                      DatasetFacts& facts);

/// Blocks in equal steps, where they really lie: a selection may be moved by an offset.
/// @param rank  that of `space`
/// @return whether it is that
bool regular_place(const Library& of, Id space, uint32_t rank, ElementSet& place);

/// The elements that a transfer is about: `file_space`, or where that is "all" the extent.
/// @param memory_space  asked where the places stand in the transfer list, which tells nobody
/// @return how many elements
uint64_t describe_place(const Library& library, const DatasetEntry* dataset, Id memory_space,
                        Id file_space, ElementSet& place);

/// Whether a file access list has the MPI-IO driver.
bool uses_mpi(const Library& library, Id access);
/// Whether only one process opens the file with this driver: others than MPI-IO's, as that for
/// subfiles, may be for several ranks too.  [local]
bool is_of_one_process(const Library& library, Id access);

/// Whether a file access list makes each read of metadata a call of all ranks.
bool reads_metadata_together(const Library& library, Id access);

/// Whether a file access list makes one file, of the name that is given, by system calls.
bool makes_plain_file(const Library& library, Id access);

/// Whether a file access list has the driver that keeps kinds of data in files of their own (HDF5's
/// multi; its split is the same one).
bool has_a_file_per_kind(const Library& library, Id access);
/// Whether a file access list has the driver that cuts a file into members of one size.
bool has_members(const Library& library, Id access);

/// Whether a transfer list asks for collective I/O.
bool collective(const Library& library, Id transfer);

}  // namespace tailrace::hooks::vol
