// SPDX-License-Identifier: Apache-2.0
// Groups and committed types.
#include "hooks/vol/calls.hpp"

namespace tailrace::hooks::vol {
namespace {

struct Made {
    int kind;
    spool::Object on;
    spool::Operation operation;
    const Location* location;
    const char* name;
};

void* wrapped(Object& parent, void* inner, const Made& what, const Clock& clock, void** request) {
    wrap_request(parent.under, request);
    if (inner == nullptr) {
        if (parent.file != nullptr) recorder::failed(parent.file);
        return nullptr;
    }
    Object* made = wrap(parent, inner, what.kind, what.location, what.name);
    if (made != nullptr) {
        note(*made, 0, what.on, what.operation, made->path, what.operation == spool::op_create,
             clock);
    }
    return made;
}

void* create_group(void* object, const Location* location, const char* name, Id links, Id creation,
                   Id access, Id transfer, void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner =
        parent.library().H5VLgroup_create(parent.inner, location, parent.connector(), name, links,
                                          creation, access, transfer, request);
    return wrapped(parent, inner, {kind_group, spool::on_group, spool::op_create, location, name},
                   clock, request);
}

void* open_group(void* object, const Location* location, const char* name, Id access, Id transfer,
                 void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner = parent.library().H5VLgroup_open(parent.inner, location, parent.connector(), name,
                                                  access, transfer, request);
    return wrapped(parent, inner, {kind_group, spool::on_group, spool::op_open, location, name},
                   clock, request);
}

Status get_group(void* object, void* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const Status status =
        on.library().H5VLgroup_get(on.inner, on.connector(), arguments, transfer, request);
    wrap_request(on.under, request);
    note(on, status, spool::on_group, spool::op_other, nullptr, false, clock);
    return status;
}

Status group_specific(void* object, GroupSpecific* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    void* child = arguments->operation == group_mount ? arguments->mount.child : nullptr;
    if (child != nullptr) arguments->mount.child = object_of(child).inner;
    const Status status =
        on.library().H5VLgroup_specific(on.inner, on.connector(), arguments, transfer, request);
    if (child != nullptr) arguments->mount.child = child;
    wrap_request(on.under, request);
    note(on, status, spool::on_group, spool::op_other, nullptr, false, clock);
    return status;
}

Status group_optional(void* object, Optional* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Status status =
        on.library().H5VLgroup_optional(on.inner, on.connector(), arguments, transfer, request);
    wrap_request(on.under, request);
    return status;
}

Status close_group(void* object, Id transfer, void** request) {
    Object& group = object_of(object);
    const Status status =
        group.library().H5VLgroup_close(group.inner, group.connector(), transfer, request);
    wrap_request(group.under, request);
    if (status >= 0) drop(&group);
    return status;
}

void* commit_type(void* object, const Location* location, const char* name, Id type, Id links,
                  Id creation, Id access, Id transfer, void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner =
        parent.library().H5VLdatatype_commit(parent.inner, location, parent.connector(), name, type,
                                             links, creation, access, transfer, request);
    return wrapped(parent, inner, {kind_datatype, spool::on_type, spool::op_create, location, name},
                   clock, request);
}

void* open_type(void* object, const Location* location, const char* name, Id access, Id transfer,
                void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner = parent.library().H5VLdatatype_open(parent.inner, location, parent.connector(),
                                                     name, access, transfer, request);
    return wrapped(parent, inner, {kind_datatype, spool::on_type, spool::op_open, location, name},
                   clock, request);
}

Status get_type(void* object, void* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Status status =
        on.library().H5VLdatatype_get(on.inner, on.connector(), arguments, transfer, request);
    wrap_request(on.under, request);
    return status;
}

Status type_specific(void* object, void* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Status status =
        on.library().H5VLdatatype_specific(on.inner, on.connector(), arguments, transfer, request);
    wrap_request(on.under, request);
    return status;
}

Status type_optional(void* object, Optional* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Status status =
        on.library().H5VLdatatype_optional(on.inner, on.connector(), arguments, transfer, request);
    wrap_request(on.under, request);
    return status;
}

Status close_type(void* object, Id transfer, void** request) {
    Object& type = object_of(object);
    const Status status =
        type.library().H5VLdatatype_close(type.inner, type.connector(), transfer, request);
    wrap_request(type.under, request);
    if (status >= 0) drop(&type);
    return status;
}

}  // namespace

const GroupCalls group_calls = {create_group,   open_group,     get_group,
                                group_specific, group_optional, close_group};
const DatatypeCalls datatype_calls = {commit_type,   open_type,     get_type,
                                      type_specific, type_optional, close_type};

}  // namespace tailrace::hooks::vol
