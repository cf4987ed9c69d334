// SPDX-License-Identifier: Apache-2.0
// Which dataset it is that was opened, under whatever name, and what it looks like.
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <limits>

#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/objects/own_settings.hpp"
#include "hooks/vol/observe/names_of_links.hpp"
#include "hooks/vol/plan/put.hpp"

namespace tailrace::hooks::vol {

char* name_in_library(const Object& object) {
    char buffer[1024] = {};
    size_t bytes = 0;
    ObjectGetName question{object_get_name, sizeof buffer, buffer, &bytes};
    const Location self{object.kind, way_self, {}};
    const Status status =
        object.library().H5VLobject_get(object.inner, &self, object.connector(), &question,
                                        object.library().default_transfer, nullptr);
    if (status < 0 || bytes == 0 || bytes >= sizeof buffer || buffer[0] != '/') return nullptr;
    return strdup(buffer);
}

bool file_of_object(const Object& object, char* buffer, size_t buffer_bytes) {
    size_t bytes = 0;
    FileGetName question{file_get_name, object.kind, buffer_bytes, buffer, &bytes};
    const Status status = object.library().H5VLfile_get(object.inner, object.connector(), &question,
                                                        object.library().default_transfer, nullptr);
    return status >= 0 && bytes > 0 && bytes < buffer_bytes;
}

namespace {

void describe(Object& dataset) {
    const Library& library = dataset.library();
    DatasetFacts facts;
    const Id type = ask_dataset(dataset, dataset.inner, dataset_get_type);
    const Id space = ask_dataset(dataset, dataset.inner, dataset_get_space);
    const Id creation = ask_dataset(dataset, dataset.inner, dataset_get_creation);
    const Id access = ask_dataset(dataset, dataset.inner, dataset_get_access);
    describe_dataset(library, type, space, creation, access, facts);
    if (type >= 0) library.H5Tclose(type);
    if (space >= 0) library.H5Sclose(space);
    if (creation >= 0) library.H5Pclose(creation);
    if (access >= 0) library.H5Pclose(access);
    dataset.dataset = recorder::describe(dataset.dataset, facts);
}

void note_access(const Object& dataset) {
    const Library& library = dataset.library();
    const Id access = ask_dataset(dataset, dataset.inner, dataset_get_access);
    if (access < 0) return;
    Settings settings;
    dataset_access_settings(library, access, settings);
    library.H5Pclose(access);
    recorder::opened_otherwise(dataset.dataset, settings);
}

/// The name of a dataset that was reached by a reference. The library would visit all links of the
/// file for each; here they are visited once for all of them, which gets a second of the process,
/// and a twentieth of its time. Ranks that read metadata together have to read the same, and each
/// has a clock of its own: there nobody looks.
char* searched_name(const Object& dataset, const Identity* identity, bool created) {
    static std::atomic<int64_t> begun{0};
    static std::atomic<int64_t> spent{0};
    constexpr int64_t second = 1'000'000'000;
    const unsigned char* token = identity != nullptr ? identity->token : nullptr;
    if (dataset.under->reads_together) {
        recorder::not_named(dataset.file, token, spool::kind_unnamed_of_ranks);
        return nullptr;
    }
    const int64_t now = recorder::now();
    int64_t none = 0;
    begun.compare_exchange_strong(none, now);
    const int64_t end = now + second + (now - begun.load()) / 20 - spent.load();
    FoundName found{nullptr, false};
    if (identity != nullptr) found = name_by_links(dataset, *identity, end, created);
    spent.fetch_add(recorder::now() - now);
    if (!found.sure) recorder::not_named(dataset.file, token, spool::kind_unnamed);
    return found.path;
}

/// Where the dataset lies: one reached through an external link is of another file.
void find_place(Object& dataset, const Identity* identity, Made made) {
    const bool elsewhere = identity != nullptr && dataset.under->file_number != 0 &&
                           identity->file_number != dataset.under->file_number;
    if (elsewhere) {
        free(dataset.path);
        dataset.path = nullptr;
        char name[4096];
        if (file_of_object(dataset, name, sizeof name)) dataset.file = recorder::file_beside(name);
    }
    if (dataset.path != nullptr || made == Made::without_name) return;
    if (!elsewhere && made == Made::before && identity != nullptr) {
        const char* path = recorder::path_of(dataset.file, identity->token);
        if (path != nullptr && path[0] != '\0') dataset.path = strdup(path);
        if (path != nullptr) return;
    }
    dataset.path = dataset.unnamed ? searched_name(dataset, identity, made == Made::with_name)
                                   : name_in_library(dataset);
}

/// Gives a dataset its entry.
/// @return whether that describes it as it is now
bool enter(Object& dataset, Made made) {
    const bool created = made != Made::before;
    Identity identity{};
    const Identity* known = identify(dataset, identity) ? &identity : nullptr;
    find_place(dataset, known, made);
    const unsigned char* token = known != nullptr ? identity.token : nullptr;
    bool described = false;
    dataset.dataset =
        dataset.path == nullptr
            ? recorder::anonymous(dataset.file, token, created, &described)
            : recorder::dataset(dataset.file, dataset.path, token, created, &described);
    return described && !created;
}

}  // namespace

Id ask_dataset(const Object& beside, void* inner, int what) {
    DatasetGet question{what, {invalid_id}};
    const Library& of = beside.library();
    const Status status =
        of.H5VLdataset_get(inner, beside.connector(), &question, of.default_transfer, nullptr);
    return status >= 0 ? question.id : invalid_id;
}

bool identify_at(const Object& base, const Location& location, Identity& identity) {
    ObjectInfo info{};
    ObjectGetInfo question{object_get_info, object_info_basic, &info};
    const Status status =
        base.library().H5VLobject_get(base.inner, &location, base.connector(), &question,
                                      base.library().default_transfer, nullptr);
    if (status < 0) return false;
    identity.file_number = info.file_number;
    memcpy(identity.token, info.token, sizeof info.token);
    return true;
}

bool identify(const Object& object, Identity& identity) {
    return identify_at(object, {object.kind, way_self, {}}, identity);
}

void find_path(Object& object) {
    Identity identity{};
    if (!identify(object, identity) || identity.file_number != object.under->file_number) return;
    // Ranks that read metadata together have to read the same, whatever links one of them forgets.
    if (object.unnamed && !object.under->reads_together) {
        constexpr int64_t no_end = std::numeric_limits<int64_t>::max();
        object.path = name_by_links(object, identity, no_end, false).path;
    }
    if (object.path == nullptr) object.path = name_in_library(object);
}

void note_dataset(Object& dataset, Made made, const Clock& clock) {
    const bool created = made != Made::before;
    if (dataset.file == nullptr) return;
    const Took took = clock.took();
    const Quiet quiet(dataset.library());  // a connector below may not answer
    const bool described = enter(dataset, made);
    if (dataset.dataset != nullptr && !described)
        describe(dataset);
    else if (recorder::untouched(dataset.dataset))
        note_access(dataset);
    if (made == Made::without_name) recorder::made_without_name(dataset.dataset);
    recorder::dataset_opened(dataset.dataset, created, took);
    recorder::operation(dataset.file, spool::on_dataset,
                        created ? spool::op_create : spool::op_open, dataset.path, created, took);
}

void find_dataset(Object& dataset) {
    if (dataset.file == nullptr || dataset.dataset != nullptr || dataset.kind != kind_dataset)
        return;
    const Quiet quiet(dataset.library());
    enter(dataset, Made::before);
    if (dataset.dataset != nullptr) describe(dataset);  // others may have changed its extent
}

}  // namespace tailrace::hooks::vol
