// SPDX-License-Identifier: Apache-2.0
// Links, and what is done with objects whatever they are.
#include <stdlib.h>

#include "hooks/vol/apply/direct_chunks.hpp"
#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/observe/names_of_links.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

const char* name_in(const Location* location) {
    return location->way == way_name ? location->by_name.name : nullptr;
}

void* inner_of(void* object) { return object != nullptr ? object_of(object).inner : nullptr; }

/// A dataset that was made without a name gets its first one.
void name_dataset(Object& dataset, const Object& in, const Location* location) {
    dataset.unnamed = dataset.unnamed && in.unnamed;
    if (dataset.kind != kind_dataset || dataset.dataset == nullptr || dataset.path != nullptr)
        return;
    dataset.path = path_at(in, *location);
    if (dataset.path != nullptr) recorder::named(dataset.dataset, dataset.path);
}

Status create(LinkCreate* arguments, void* object, const Location* location, Id creation, Id access,
              Id transfer, void** request) {
    // Of a hard link one of the two places may be left out: it is the file of the other one then.
    const bool hard = arguments->operation == link_create_hard;
    void* target = hard ? arguments->hard.object : nullptr;
    void* known = object != nullptr ? object : target;
    if (known == nullptr) return -1;
    Object& on = object_of(known);
    const Clock clock(on.file);
    note_names_changed();
    if (target != nullptr) arguments->hard.object = object_of(target).inner;
    const Status status = on.library().H5VLlink_create(
        arguments, inner_of(object), location, on.connector(), creation, access, transfer, request);
    if (target != nullptr) arguments->hard.object = target;
    wrap_request(on.under, request);
    note(on, status, spool::on_link, spool::op_create, name_in(location), true, clock);
    if (status >= 0 && target != nullptr && object != nullptr) {
        name_dataset(object_of(target), on, location);
    }
    return status;
}

using TwoPlaces = Status (*)(void*, const Location*, void*, const Location*, Id, Id, Id, Id,
                             void**);

Status between(TwoPlaces Library::*function, void* source, const Location* from, void* target,
               const Location* to, Id creation, Id access, Id transfer, void** request) {
    void* known = source != nullptr ? source : target;
    if (known == nullptr) return -1;
    Object& on = object_of(known);
    const Clock clock(on.file);
    note_names_changed();
    forget_links();
    const Status status =
        (on.library().*function)(inner_of(source), from, inner_of(target), to, on.connector(),
                                 creation, access, transfer, request);
    wrap_request(on.under, request);
    note(on, status, spool::on_link, spool::op_create, name_in(to), true, clock);
    return status;
}

Status copy(void* source, const Location* from, void* target, const Location* to, Id creation,
            Id access, Id transfer, void** request) {
    return between(&Library::H5VLlink_copy, source, from, target, to, creation, access, transfer,
                   request);
}

Status move(void* source, const Location* from, void* target, const Location* to, Id creation,
            Id access, Id transfer, void** request) {
    const Status status = between(&Library::H5VLlink_move, source, from, target, to, creation,
                                  access, transfer, request);
    if (status >= 0 && name_in(from) != nullptr && name_in(to) != nullptr)
        note_moved(object_of(source != nullptr ? source : target), name_in(from),
                   object_of(target != nullptr ? target : source), name_in(to));
    return status;
}

Status specific(void* object, const Location* location, LinkSpecific* arguments, Id transfer,
                void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const bool deletes = arguments->operation == link_delete;
    if (deletes) forget_links();
    const Status status =
        pass_on_at<&Library::H5VLlink_specific>(on, location, request, arguments, transfer);
    note(on, status, spool::on_link, deletes ? spool::op_delete : spool::op_other,
         name_in(location), deletes, clock);
    return status;
}

/// A dataset that `inner` was opened for, with the access that the plan has for it.
Object* open_tuned(Object& parent, void* inner, const Location* location, Id transfer,
                   void** request) {
    Library& of = parent.library();
    DatasetTuning tuning(parent, location, nullptr, plan::Moment::open);
    if (tuning.any()) {
        // This call takes no list of access; the one for datasets does.
        Location self = *location;
        self.way = way_self;
        inner = tuning.reopen(inner, of.default_dataset_access, transfer, request, [&](Id access) {
            return of.H5VLdataset_open(parent.inner, &self, parent.connector(),
                                       location->by_name.name, access, transfer, request);
        });
    }
    if (!was_made(parent, inner, request)) return nullptr;
    Object* made = wrap(parent, inner, kind_dataset, location, nullptr);
    if (made != nullptr && tuning.any()) tuning.done(*made);
    if (made != nullptr) find_direct_chunks(*made);
    return made;
}

void* open_object(void* object, const Location* location, int* kind, Id transfer, void** request) {
    Object& parent = object_of(object);
    const Clock clock(parent.file);
    void* inner = parent.library().H5VLobject_open(parent.inner, location, parent.connector(), kind,
                                                   transfer, request);
    Object* made = nullptr;
    if (parent.under->plan == nullptr || inner == nullptr || *kind != kind_dataset) {
        if (!was_made(parent, inner, request)) return nullptr;
        made = wrap(parent, inner, *kind, location, nullptr);
    } else {
        made = open_tuned(parent, inner, location, transfer, request);
    }
    if (made == nullptr) return nullptr;
    if (*kind == kind_dataset) {
        note_dataset(*made, Made::before, clock);
    } else {
        note(*made, 0, *kind == kind_group ? spool::on_group : spool::on_type, spool::op_open,
             made->path, false, clock);
    }
    return made;
}

Status copy_object(void* source, const Location* from, const char* from_name, void* target,
                   const Location* to, const char* to_name, Id list, Id creation, Id transfer,
                   void** request) {
    Object& on = object_of(source);
    // What is counted lies in files of one process: there a copy can fail by itself.
    const bool of_ranks = target != nullptr && object_of(target).under->of_ranks;
    // Into a file of its own a rank may copy alone.
    const Status filled = of_ranks ? fill_holes_of_ranks(*on.under) : 0;
    if (!of_ranks) note_all_seen_by_rank(*on.under);
    if (fill_holes_in_file(on, false) < 0 || filled < 0) return -1;
    if (fill_all_holes(on) < 0 && !of_ranks) return -1;
    const Clock clock(on.file);
    const Status status =
        on.library().H5VLobject_copy(on.inner, from, from_name, inner_of(target), to, to_name,
                                     on.connector(), list, creation, transfer, request);
    wrap_request(on.under, request);
    note(on, status, spool::on_object, spool::op_create, to_name, true, clock);
    if (status >= 0 && target != nullptr && to->way == way_self && from->way == way_self)
        note_copied(on, from_name, object_of(target), to_name);
    return status;
}

Status object_specific(void* object, const Location* location, ObjectSpecific* arguments,
                       Id transfer, void** request) {
    Object& on = object_of(object);
    const Clock clock(on.file);
    const bool flushes = arguments->operation == object_flush;
    if (flushes && fill_holes_in_file(on, false) < 0) return -1;
    if (flushes) note_seen_by_rank(on);
    if (arguments->operation == object_refresh) {
        no_more_caches(*on.under);
        return pass_on_at<&Library::H5VLobject_specific>(on, location, request, arguments,
                                                         transfer);
    }
    const bool flush = flushes && on.kind == kind_dataset;
    const Status status =
        pass_on_at<&Library::H5VLobject_specific>(on, location, request, arguments, transfer);
    if (flush && status >= 0 && on.file != nullptr) recorder::dataset_flushed(on.dataset);
    note(on, status, spool::on_object, spool::op_other, nullptr, false, clock);
    return status;
}

}  // namespace

const LinkCalls link_calls = {create,   copy,
                              move,     asked_at<&Library::H5VLlink_get, spool::on_link>,
                              specific, passed_at<&Library::H5VLlink_optional>};
const ObjectCalls object_calls = {open_object, copy_object,
                                  asked_at<&Library::H5VLobject_get, spool::on_object>,
                                  object_specific, passed_at<&Library::H5VLobject_optional>};

}  // namespace tailrace::hooks::vol
