// SPDX-License-Identifier: Apache-2.0
// What a program declares of its files and datasets: on their property lists (tailrace/intent.h),
// and of files by pattern in this process (tailrace_intent_push, tailrace.intents in Python).
#pragma once

#include "hooks/vol/objects/object.hpp"

namespace tailrace::hooks::vol {

/// Notes it down for a file that was opened.
/// @param creation  invalid_id: none
void note_declared(const Library& library, FileEntry* file, const char* name, Id access,
                   Id creation);
/// The same for a dataset.
void note_declared(const Library& library, DatasetEntry* dataset, Id access, Id creation);

/// Whether the program declares a file, or a dataset of it, durable on one of the file's lists or
/// by pattern.  [local]
/// @param name  as the program gives it
bool declared_durable(const Library& library, const char* name, Id access, Id creation);

}  // namespace tailrace::hooks::vol
