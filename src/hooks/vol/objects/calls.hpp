// SPDX-License-Identifier: Apache-2.0
// The callbacks, a table per kind of object, and what they share.
#pragma once

#include "hooks/vol/objects/describe.hpp"
#include "hooks/vol/objects/identity.hpp"
#include "hooks/vol/objects/object.hpp"

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

/// Hands a call to the connector below; the object it is on stands first, `request` last.
template <auto call, typename... Given>
Status pass_on(const Object& on, void** request, Given... given) {
    Under* under = on.under;  // a refresh closes the object, and opens it as another one
    const Status status = (on.library().*call)(on.inner, on.connector(), given..., request);
    wrap_request(under, request);
    return status;
}
/// The same for calls on what is at `location`, seen from the object.
template <auto call, typename... Given>
Status pass_on_at(const Object& on, const Location* location, void** request, Given... given) {
    Under* under = on.under;
    const Status status =
        (on.library().*call)(on.inner, location, on.connector(), given..., request);
    wrap_request(under, request);
    return status;
}

// Callbacks of which only the kind of object differs.
template <auto call, typename Arguments>
Status passed(void* object, Arguments* arguments, Id transfer, void** request) {
    return pass_on<call>(object_of(object), request, arguments, transfer);
}
template <auto call, typename Arguments>
Status passed_at(void* object, const Location* location, Arguments* arguments, Id transfer,
                 void** request) {
    return pass_on_at<call>(object_of(object), location, request, arguments, transfer);
}
template <auto call, spool::Object kind>
Status asked(void* object, auto* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const Status status = pass_on<call>(on, request, arguments, transfer);
    note(on, status, kind, spool::op_other, nullptr, false, clock);
    return status;
}
template <auto call, spool::Object kind>
Status asked_at(void* object, const Location* location, void* arguments, Id transfer,
                void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const Status status = pass_on_at<call>(on, location, request, arguments, transfer);
    note(on, status, kind, spool::op_other, nullptr, false, clock);
    return status;
}
template <auto call>
Status closed(void* object, Id transfer, void** request) {
    const Status status = pass_on<call>(object_of(object), request, transfer);
    if (status >= 0) drop(&object_of(object));
    return status;
}

/// What is done first when the connector below was asked to create or open `inner`: whether it
/// did; a failure is counted.
inline bool was_made(const Object& parent, const void* inner, void** request) {
    wrap_request(parent.under, request);
    if (inner == nullptr && parent.file != nullptr) recorder::failed(parent.file);
    return inner != nullptr;
}

/// Whether a call makes a dataset: one that is opened was there before; one without a name gets
/// its link by another call, if at all.
enum class Made { before, with_name, without_name };
/// Records a dataset that `parent` was asked to create or open, and gives it its entry.
void note_dataset(Object& dataset, Made made, const Clock& clock);
/// Gives a dataset its entry that has none: a refresh opens it once more, without any call of ours.
void find_dataset(Object& dataset);
/// Reads how the last collective transfer was done, where one is pending.
void settle_pending(Library& library);

/// An id that the dataset `inner`, which lies in a file with `beside`, can be asked for;
/// invalid_id: it does not tell. The caller closes it.
Id ask_dataset(const Object& beside, void* inner, int what);

/// The name of an object as the library knows it; nullptr: it has none. The caller frees it.
char* name_in_library(const Object& object);
/// The name of the file that an object lies in, also one reached through an external link.
bool file_of_object(const Object& object, char* buffer, size_t buffer_bytes);

/// The path of an object that came without one, such as the group that an iteration hands to its
/// callback; left out where it lies in another file. For all that references lead to the links of
/// the file are looked through once.
void find_path(Object& object);

}  // namespace tailrace::hooks::vol
