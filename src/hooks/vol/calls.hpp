// SPDX-License-Identifier: Apache-2.0
// The callbacks, a table per kind of object, and what they share.
#pragma once

#include "hooks/vol/describe.hpp"
#include "hooks/vol/object.hpp"

namespace tailrace::hooks::vol {

extern const AttributeCalls attribute_calls;
extern const DatasetCalls dataset_calls;
extern const DatatypeCalls datatype_calls;
extern const GroupCalls group_calls;
extern const LinkCalls link_calls;
extern const ObjectCalls object_calls;
extern const RequestCalls request_calls;
extern const BlobCalls blob_calls;
extern const TokenCalls token_calls;
extern const WrapCalls wrap_calls;

// Of files; those without an object are told which library calls.
void* create_file(Library& library, const char* name, unsigned flags, Id creation, Id access,
                  Id transfer, void** request);
void* open_file(Library& library, const char* name, unsigned flags, Id access, Id transfer,
                void** request);
Status file_specific(Library& library, void* object, FileSpecific* arguments, Id transfer,
                     void** request);
Status file_get(void* object, void* arguments, Id transfer, void** request);
Status file_optional(void* object, Optional* arguments, Id transfer, void** request);
Status file_close(void* object, Id transfer, void** request);

/// Stops the time of a call on something in `file`, where that is recorded.
class Clock {
public:
    explicit Clock(const FileEntry* file) : x_start(file != nullptr ? recorder::now() : 0) {}
    [[nodiscard]] Took took() const { return {x_start, recorder::now()}; }

private:
    int64_t x_start;
};

/// Counts an operation that has been made on the structure of a file; one that failed as such.
inline void note(const Object& object, Status status, spool::Object on, spool::Operation operation,
                 const char* name, bool collective, const Clock& clock) {
    if (object.file == nullptr) return;
    if (status < 0) {
        recorder::failed(object.file);
    } else {
        recorder::operation(object.file, on, operation, name, collective, clock.took());
    }
}

/// Records a dataset that `parent` was asked to create or open, and gives it its entry.
void note_dataset(Object& dataset, bool created, const Clock& clock);
/// Reads how the last collective transfer was done, where one is pending.
void settle_pending(Library& library);

/// Number of the file an object is in, and its token; false where it cannot be asked.
bool identify(const Object& object, unsigned long* file_number, unsigned char* token);

}  // namespace tailrace::hooks::vol
