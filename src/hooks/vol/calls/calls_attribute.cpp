// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "hooks/vol/objects/calls.hpp"

namespace tailrace::hooks::vol {
namespace {

/// Whether the attribute is one of the object at hand; h5py says "." for that.
bool is_itself(const Location& location) {
    return location.way == way_self ||
           (location.way == way_name && strcmp(location.by_name.name, ".") == 0);
}

void* wrapped(Object& parent, void* inner, const Location* location, void** request) {
    if (!was_made(parent, inner, request)) return nullptr;
    Object* made = wrap(parent.under, parent.file, inner, kind_attribute);
    if (made != nullptr && is_itself(*location)) made->dataset = parent.dataset;
    return made;
}

void* create(void* object, const Location* location, const char* name, Id type, Id space,
             Id creation, Id access, Id transfer, void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner =
        parent.library().H5VLattr_create(parent.inner, location, parent.connector(), name, type,
                                         space, creation, access, transfer, request);
    void* made = wrapped(parent, inner, location, request);
    if (made != nullptr) {
        note(parent, 0, spool::on_attribute, spool::op_create, name, true, clock);
        recorder::attribute_of(object_of(made).dataset);
    }
    return made;
}

void* open(void* object, const Location* location, const char* name, Id access, Id transfer,
           void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner = parent.library().H5VLattr_open(parent.inner, location, parent.connector(), name,
                                                 access, transfer, request);
    void* made = wrapped(parent, inner, location, request);
    if (made != nullptr) note(parent, 0, spool::on_attribute, spool::op_open, name, false, clock);
    return made;
}

void note_bytes(const Object& attribute, Id transfer, bool written) {
    if (attribute.file == nullptr) return;
    Size bytes = 0;
    AttributeGet question{attribute_get_bytes, {&bytes}};
    if (attribute.library().H5VLattr_get(attribute.inner, attribute.connector(), &question,
                                         transfer, nullptr) >= 0) {
        recorder::attribute_bytes(attribute.file, attribute.dataset, bytes, written);
    }
}

Status read(void* object, Id type, void* buffer, Id transfer, void** request) {
    Object& attribute = object_of(object);
    const Clock clock(attribute.file);
    const Status status =
        pass_on<&Library::H5VLattr_read>(attribute, request, type, buffer, transfer);
    note(attribute, status, spool::on_attribute, spool::op_read, nullptr, false, clock);
    if (status >= 0) note_bytes(attribute, transfer, false);
    return status;
}

Status write(void* object, Id type, const void* buffer, Id transfer, void** request) {
    Object& attribute = object_of(object);
    const Clock clock(attribute.file);
    const Status status =
        pass_on<&Library::H5VLattr_write>(attribute, request, type, buffer, transfer);
    note(attribute, status, spool::on_attribute, spool::op_write, nullptr, true, clock);
    if (status >= 0) note_bytes(attribute, transfer, true);
    return status;
}

Status specific(void* object, const Location* location, AttributeSpecific* arguments, Id transfer,
                void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const int asked = arguments->operation;
    const bool deletes = asked == attribute_delete || asked == attribute_delete_by_index;
    const Status status =
        pass_on_at<&Library::H5VLattr_specific>(on, location, request, arguments, transfer);
    note(on, status, spool::on_attribute, deletes ? spool::op_delete : spool::op_other, nullptr,
         deletes || asked == attribute_rename, clock);
    return status;
}

}  // namespace

const AttributeCalls attribute_calls = {create,
                                        open,
                                        read,
                                        write,
                                        asked<&Library::H5VLattr_get, spool::on_attribute>,
                                        specific,
                                        passed<&Library::H5VLattr_optional>,
                                        closed<&Library::H5VLattr_close>};

}  // namespace tailrace::hooks::vol
