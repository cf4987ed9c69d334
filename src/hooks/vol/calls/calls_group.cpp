// SPDX-License-Identifier: Apache-2.0
// Groups and committed types.
#include "hooks/vol/objects/calls.hpp"

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
    if (!was_made(parent, inner, request)) return nullptr;
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

Status group_specific(void* object, GroupSpecific* arguments, Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    void* child = arguments->operation == group_mount ? arguments->mount.child : nullptr;
    if (child != nullptr) arguments->mount.child = object_of(child).inner;
    const Status status = pass_on<&Library::H5VLgroup_specific>(on, request, arguments, transfer);
    if (child != nullptr) arguments->mount.child = child;
    note(on, status, spool::on_group, spool::op_other, nullptr, false, clock);
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

}  // namespace

const GroupCalls group_calls = {create_group,
                                open_group,
                                asked<&Library::H5VLgroup_get, spool::on_group>,
                                group_specific,
                                passed<&Library::H5VLgroup_optional>,
                                closed<&Library::H5VLgroup_close>};
const DatatypeCalls datatype_calls = {commit_type,
                                      open_type,
                                      passed<&Library::H5VLdatatype_get>,
                                      passed<&Library::H5VLdatatype_specific>,
                                      passed<&Library::H5VLdatatype_optional>,
                                      closed<&Library::H5VLdatatype_close>};

}  // namespace tailrace::hooks::vol
