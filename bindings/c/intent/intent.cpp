// SPDX-License-Identifier: Apache-2.0
// tailrace/intent.h. The text stands in the list itself, without callbacks: HDF5 copies, compares
// and frees it as bytes, also when this library has been unloaded.
#include <tailrace/intent.h>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "process_hdf5.hpp"
#include "scopes.hpp"

#define TAILRACE_EXPORT __attribute__((visibility("default")))

namespace {

namespace declare = tailrace::intent::declare;
using declare::property;
using tailrace::core::Code;
using tailrace::core::Error;
using tailrace::declaring::Id;
using tailrace::declaring::List;
using tailrace::declaring::Quiet;

constexpr char where[] = "tailrace_intent";

thread_local std::string last_error;
thread_local void* library_meant = nullptr;

int code_of(const Error& error) {
    switch (tailrace::core::exit_code(error.code())) {
        case 4:
            return TAILRACE_INTENT_NO_HDF5;
        case 1:
            return TAILRACE_INTENT_FAILED;
        default:
            return TAILRACE_INTENT_INVALID;
    }
}

void remember(const char* text) noexcept {
    try {
        last_error = text;
    } catch (...) {
        last_error.clear();
    }
}

/// Nothing is thrown into C.
template <class Call>
int guarded(Call call) noexcept {
    try {
        call();
        return TAILRACE_INTENT_OK;
    } catch (const Error& error) {
        remember(error.what());
        return code_of(error);
    } catch (const std::exception& error) {
        remember(error.what());
    } catch (...) {
        remember("an unknown error");
    }
    return TAILRACE_INTENT_FAILED;
}

[[noreturn]] void invalid(const std::string& what, const std::string& remedy) {
    throw Error(Code::bad_input, what, where, remedy);
}

void check_text(const char* json) {
    if (json == nullptr) invalid("the text is a null pointer", "give a text of JSON");
}

/// What can be declared on a list of this class.
declare::Of kind_of(const List& list) {
    if (list.list_class == "file access" || list.list_class == "file create")
        return declare::Of::file;
    if (list.list_class == "dataset access" || list.list_class == "dataset create")
        return declare::Of::dataset;
    invalid("nothing can be declared on a list of the class \"" + list.list_class + "\"",
            "take one of file access, file creation, dataset access or dataset creation");
}

List list_of(Id id) { return tailrace::declaring::find_list(id, library_meant); }

void remove(const List& list) {
    if (list.hdf5.H5Pexist(list.id, property) > 0 && list.hdf5.H5Premove(list.id, property) < 0)
        throw Error(Code::internal, "HDF5 does not give up the earlier declaration", where);
}

void set(Id id, const char* json) {
    check_text(json);
    const List list = list_of(id);
    const declare::Of of = kind_of(list);
    if (list.standard)
        invalid("this is a default list of the library, which all files have in common",
                "make one by H5Pcreate, and use it in H5Fcreate and the like");
    std::string text = list_text(declare::list_from_json({json, std::strlen(json)}, of, where));
    if (text.size() > declare::most_list_bytes)
        invalid(
            "the declaration is longer than " + std::to_string(declare::most_list_bytes) + " bytes",
            "declare less, or by pattern: tailrace_intent_push");
    const Quiet quiet(list.hdf5);
    remove(list);
    if (list.hdf5.H5Pinsert2(list.id, property, text.size() + 1, text.data(), nullptr, nullptr,
                             nullptr, nullptr, nullptr, nullptr) < 0)
        throw Error(Code::internal, "HDF5 does not take the declaration", where);
}

std::string get(Id id) {
    const List list = list_of(id);
    const Quiet quiet(list.hdf5);
    std::size_t bytes = 0;
    if (list.hdf5.H5Pexist(list.id, property) <= 0) return {};
    if (list.hdf5.H5Pget_size(list.id, property, &bytes) < 0 || bytes == 0) return {};
    std::vector<char> text(bytes + 1);
    if (list.hdf5.H5Pget(list.id, property, text.data()) < 0)
        throw Error(Code::internal, "HDF5 does not give the declaration", where);
    return text.data();
}

}  // namespace

extern "C" {

TAILRACE_EXPORT int tailrace_intent_set(int64_t plist, const char* json) {
    return guarded([&] { set(plist, json); });
}

TAILRACE_EXPORT int tailrace_intent_get(int64_t plist, char* json, size_t bytes, size_t* needed) {
    return guarded([&] {
        const std::string text = get(plist);
        if (needed != nullptr) *needed = text.size() + 1;
        if (json == nullptr) return;
        if (bytes <= text.size())
            invalid("the text has " + std::to_string(text.size() + 1) +
                        " bytes, and there is room "
                        "for " +
                        std::to_string(bytes),
                    "ask for its length with a null pointer first");
        std::memcpy(json, text.c_str(), text.size() + 1);
    });
}

TAILRACE_EXPORT int tailrace_intent_clear(int64_t plist) {
    return guarded([&] {
        const List list = list_of(plist);
        const Quiet quiet(list.hdf5);
        remove(list);
    });
}

TAILRACE_EXPORT int tailrace_intent_push(const char* json, uint64_t* token) {
    return guarded([&] {
        check_text(json);
        if (token == nullptr) invalid("there is no room for the token", "give its address");
        *token = tailrace::declaring::push(
            declare::document_from_json({json, std::strlen(json)}, where));
    });
}

TAILRACE_EXPORT int tailrace_intent_pop(uint64_t token) {
    return guarded([&] {
        if (!tailrace::declaring::pop(token))
            invalid("no declaration by pattern has the token " + std::to_string(token),
                    "it is what tailrace_intent_push gave, and can be taken back once");
    });
}

TAILRACE_EXPORT const char* tailrace_intent_error(void) { return last_error.c_str(); }

TAILRACE_EXPORT void tailrace_intent_use(void* hdf5) { library_meant = hdf5; }

TAILRACE_EXPORT size_t tailrace_intent_declared_as(const char* path, const char* named, char* json,
                                                   size_t bytes) {
    size_t length = 0;
    // Whoever asks has no use for an error: without memory nothing is declared.
    (void)guarded([&] {
        if (path == nullptr || named == nullptr) return;
        const std::string text = tailrace::declaring::declared_of({path, named});
        length = text.size();
        if (json != nullptr && length < bytes) std::memcpy(json, text.c_str(), length + 1);
    });
    return length;
}

}  // extern "C"
