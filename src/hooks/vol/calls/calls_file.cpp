// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/calls/filter_folders.hpp"
#include "hooks/vol/calls/info.hpp"
#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/observe/declared.hpp"
#include "hooks/vol/plan/open_drivers.hpp"
#include "hooks/vol/plan/tuning.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr unsigned writable = 0x0001;

/// Whether somebody asked for us; else a library that looks for whoever can open a file it cannot
/// open itself has found us on its search path.
bool asked_for() {
    const char* connector = getenv("HDF5_VOL_CONNECTOR");  // NOLINT(concurrency-mt-unsafe)
    return getenv("TAILRACE_MODE") != nullptr ||           // NOLINT(concurrency-mt-unsafe)
           (connector != nullptr && strncmp(connector, "tailrace", 8) == 0);
}

/// Ranks that have opened a file through MPI-IO together, without asking them: MPI knows. A group
/// is a number or a pointer, depending on the MPI.
uint32_t communicator_size(const Object& file, Id access) {
    const Library& library = file.library();
    using GetGroup = int (*)(void*, void*);
    using GroupSize = int (*)(void*, int*);
    using GroupFree = int (*)(void*);
    const auto get = reinterpret_cast<GetGroup>(dlsym(library.handle, "MPI_File_get_group"));
    const auto count = reinterpret_cast<GroupSize>(dlsym(library.handle, "MPI_Group_size"));
    const auto forget = reinterpret_cast<GroupFree>(dlsym(library.handle, "MPI_Group_free"));
    if (get == nullptr || count == nullptr || forget == nullptr) return 0;
    void* handle = nullptr;
    FileHandle asked{access, &handle};
    Optional question{native_file_handle, &asked};
    if (library.H5VLfile_optional(file.inner, file.connector(), &question, library.default_transfer,
                                  nullptr) < 0 ||
        handle == nullptr) {
        return 0;
    }
    void* group = nullptr;
    int ranks = 0;
    if (get(*static_cast<void**>(handle), &group) != 0) return 0;
    count(group, &ranks);
    forget(&group);
    return ranks > 0 ? static_cast<uint32_t>(ranks) : 0;
}

/// 0: not known.
unsigned long number_of(const Object& file) {
    Identity identity{};
    return identify(file, identity) ? identity.file_number : 0;
}

void* wrapped(Library& library, const BelowList& below, FileTuning& tuning, void* inner,
              bool reads_together, void** request, const char* name, FileFacts& facts, Id access,
              Id creation, const Took& took) {
    Under* under = hold(library, below.connector());
    if (under == nullptr) {
        tuning.not_opened();
        return nullptr;
    }
    under->reads_together = reads_together;
    wrap_request(under, request);
    Object* made = wrap(under, nullptr, inner, kind_file);
    const Quiet quiet(library);  // a connector below may not answer
    if (made != nullptr && recorder::on()) {
        describe_file(library, access, creation, facts);
        if (facts.driver == spool::driver_mpio) {
            facts.communicator_size = communicator_size(*made, below.list());
        }
        made->file = under->context.file = recorder::file_opened(name, facts, took);
        note_declared(library, made->file, name, access, creation);
        made->path = strdup("/");
        if (made->file != nullptr) under->file_number = number_of(*made);
    }
    under->of_ranks = tuning.of_ranks();
    if (made != nullptr) under->driver = tuning.take_driver(name);
    if (made != nullptr)
        under->plan = tuning.take(*made);
    else
        tuning.not_opened();
    if (under->plan != nullptr) {
        under->plan->kept.files = 1;
        made->path = strdup("/");
        under->file_number = number_of(*made);
    }
    release(under);  // the object holds it now
    return made;
}

void count_left_open(const Object& file) {
    const Under& under = *file.under;
    uint64_t left[spool::objects] = {};
    left[spool::on_dataset] = under.open[kind_dataset].get();
    left[spool::on_group] = under.open[kind_group].get();
    left[spool::on_type] = under.open[kind_datatype].get();
    left[spool::on_attribute] = under.open[kind_attribute].get();
    recorder::left_open(file.file, left);
}

/// What a call without an object is about is a list: ours is replaced by one for below.
Status without_object(Library& library, FileSpecific* arguments, Id* list, Id transfer,
                      void** request) {
    const Id given = *list;
    if (arguments->operation == file_is_accessible && !asked_for()) {
        const ErrorsKept kept(library);
        if (!has_info(library, given)) {
            *arguments->is_accessible.accessible = false;
            return 0;
        }
    }
    const BelowList below(library, given);
    if (!below.good()) return -1;
    *list = below.list();
    const HintsAreOurs ours;
    const Status status =
        library.H5VLfile_specific(nullptr, below.connector(), arguments, transfer, request);
    *list = given;
    if (request != nullptr && *request != nullptr) {
        Under* under = hold(library, below.connector());
        if (under != nullptr) {
            wrap_request(under, request);
            release(under);
        }
    }
    return status;
}

/// All ranks first, whatever became of what is this process's own.
Status fill_what_is_missing(Object& file, bool closes) {
    const Status together = fill_holes_of_ranks(*file.under);
    return fill_holes_in_file(file, closes) < 0 ? -1 : together;
}

Status reopen(Object& file, FileSpecific* arguments, Id transfer, void** request) {
    const Clock clock(file.file);
    const Status status = pass_on<&Library::H5VLfile_specific>(file, request, arguments, transfer);
    void** made = arguments->reopen.file;
    if (status < 0 || made == nullptr || *made == nullptr) return status;
    Object* again = wrap(file.under, file.file, *made, kind_file);
    if (again == nullptr) return -1;
    if (file.under->plan != nullptr) ++file.under->plan->kept.files;
    if (file.file != nullptr || file.under->plan != nullptr) again->path = strdup("/");
    if (file.file != nullptr) {
        recorder::file_reopened(file.file, clock.took());
    }
    *made = again;
    return status;
}

void at_first_file(Library& library) {
    if (library.has_had_files) return;
    library.has_had_files = true;
    keep_filter_folders(library);
}

}  // namespace

void* create_file(Library& library, const char* name, unsigned flags, Id creation, Id access,
                  Id transfer, void** request) {
    note_thread(library);
    at_first_file(library);
    const BelowList below(library, access);
    if (!below.good()) return nullptr;
    const int64_t start = recorder::now();
    const HintsAreOurs ours;
    FileTuning tuning(library, name, flags, creation, below.list());
    bool together = false;
    void* inner =
        tuning.make(below.connector(), [&](Id with_creation, Id with_access, unsigned with_flags) {
            together = reads_metadata_together(library, with_access);
            return library.H5VLfile_create(name, with_flags, with_creation, with_access, transfer,
                                           request);
        });
    if (inner == nullptr) {
        tuning.not_opened();
        return nullptr;
    }
    FileFacts facts;
    facts.created = true;
    return wrapped(library, below, tuning, inner, together, request, name, facts, access, creation,
                   {start, recorder::now()});
}

void* open_file(Library& library, const char* name, unsigned flags, Id access, Id transfer,
                void** request) {
    note_thread(library);
    at_first_file(library);
    const BelowList below(library, access);
    if (!below.good()) return nullptr;
    const int64_t start = recorder::now();
    FileFacts facts;
    if (recorder::on()) facts.before = recorder::state_of(name);
    const HintsAreOurs ours;
    FileTuning tuning(library, name, flags, invalid_id, below.list());
    bool together = false;
    void* inner = tuning.make(below.connector(), [&](Id, Id with_access, unsigned) {
        together = reads_metadata_together(library, with_access);
        return library.H5VLfile_open(name, flags, with_access, transfer, request);
    });
    if (inner == nullptr) {
        tuning.not_opened();
        return nullptr;
    }
    facts.read_only = (flags & writable) == 0;
    return wrapped(library, below, tuning, inner, together, request, name, facts, access,
                   invalid_id, {start, recorder::now()});
}

Status file_specific(Library& library, void* object, FileSpecific* arguments, Id transfer,
                     void** request) {
    note_thread(library);
    if (arguments->operation == file_is_accessible) {
        return without_object(library, arguments, &arguments->is_accessible.access, transfer,
                              request);
    }
    if (arguments->operation == file_delete) {
        const char* name = arguments->del.name;
        const Status status =
            without_object(library, arguments, &arguments->del.access, transfer, request);
        if (status >= 0 && recorder::on()) recorder::file_deleted(name);
        return status;
    }
    Object& file = object_of(object);
    if (arguments->operation == file_reopen) return reopen(file, arguments, transfer, request);
    // The other file of "are they equal" is none of ours: it arrives as the last connector has it.
    const bool flush = arguments->operation == file_flush;
    if (flush && fill_what_is_missing(file, false) < 0) return -1;
    const Clock clock(file.file);
    const Status status = pass_on<&Library::H5VLfile_specific>(file, request, arguments, transfer);
    if (file.file != nullptr && flush && status >= 0) {
        recorder::file_flushed(file.file, clock.took());
    }
    return status;
}

Status file_get(void* object, void* arguments, Id transfer, void** request) {
    Object& file = object_of(object);
    const Status status = pass_on<&Library::H5VLfile_get>(file, request, arguments, transfer);
    const auto* asked = static_cast<const FileGetAccess*>(arguments);
    if (status >= 0 && file.under->driver != nullptr && asked->operation == file_get_access)
        give_back_driver(file.library(), asked->list);
    return status;
}

Status file_optional(void* object, Optional* arguments, Id transfer, void** request) {
    Object& file = object_of(object);
    // HDF5 takes the driver for that of MPI-IO here without looking.
    const int asked = arguments->operation;
    if (file.under->plan != nullptr && file.under->plan->subfiled &&
        (asked == native_file_get_atomicity || asked == native_file_set_atomicity))
        return -1;
    if (fill_holes_in_file(file, false) < 0) return -1;
    const OpenDriver* driver = file.under->driver;
    if (asked == native_file_handle && driver != nullptr && driver->in_memory)
        return descriptor_of(file, static_cast<FileHandle*>(arguments->arguments)->handle);
    return pass_on<&Library::H5VLfile_optional>(file, request, arguments, transfer);
}

namespace {

Status close_below(Object& file, Id transfer, void** request) {
    const CachesEnd ending(*file.under);
    return pass_on<&Library::H5VLfile_close>(file, request, transfer);
}

}  // namespace

Status file_close(void* object, Id transfer, void** request) {
    Object& file = object_of(object);
    settle_pending(file.library());
    release_held(file.library());
    if (fill_what_is_missing(file, true) < 0) return -1;
    if (file.file != nullptr) count_left_open(file);
    const Clock clock(file.file);
    const Status status = close_below(file, transfer, request);
    if (status < 0) return status;
    if (file.file != nullptr) recorder::file_closed(file.file, clock.took());
    count_closed(*file.under);
    drop(&file);
    return status;
}

}  // namespace tailrace::hooks::vol
