// SPDX-License-Identifier: Apache-2.0
// Wrapping of objects that the library itself makes, requests, blobs and tokens.
#include <stdlib.h>
#include <string.h>

#include "hooks/vol/holes/holes.hpp"
#include "hooks/vol/holes/holes_of_ranks.hpp"
#include "hooks/vol/objects/calls.hpp"

namespace tailrace::hooks::vol {
namespace {

void* get_object(const void* object) {
    const auto& on = *static_cast<const Object*>(object);
    return on.library().H5VLget_object(on.inner, on.connector());
}

Status get_context(const void* object, void** context) {
    const auto& on = *static_cast<const Object*>(object);
    Under& under = *on.under;
    note_thread(on.library());  // asked for first in nearly every call about an object
    if (under.native && under.context.file == on.file && !on.unnamed) {
        under.uses.add();
        *context = &under.context;
        return 0;
    }
    auto* made = static_cast<WrapContext*>(malloc(sizeof(WrapContext)));
    if (made == nullptr) return -1;
    under.uses.add();
    *made = {&under, on.file, nullptr, on.unnamed};
    on.library().H5VLget_wrap_ctx(on.inner, on.connector(), &made->inner);
    *context = made;
    return 0;
}

void* wrap_object(void* object, int kind, void* context) {
    auto& in = *static_cast<WrapContext*>(context);
    Under& under = *in.under;
    void* inner = under.library->H5VLwrap_object(object, kind, under.connector, in.inner);
    if (inner == nullptr) return nullptr;
    Object* made = wrap(in.under, in.file, inner, kind);
    if (made != nullptr) made->unnamed = in.unnamed && kind != kind_file;
    if (made != nullptr && kind == kind_file && (in.file != nullptr || under.plan != nullptr))
        made->path = strdup("/");
    return made;
}

void* unwrap_object(void* object) {
    Object& on = object_of(object);
    // Whoever unwraps it might close it before it is filled.
    if (fill_holes(on, true) < 0 || is_counted_by_ranks(on)) return nullptr;
    void* inner = on.library().H5VLunwrap_object(on.inner, on.connector());
    if (inner != nullptr) drop(&on);
    return inner;
}

Status free_context(void* context) {
    auto* old = static_cast<WrapContext*>(context);
    Under* under = old->under;
    if (old->inner != nullptr) {
        const ErrorsKept kept(*under->library);
        under->library->H5VLfree_wrap_ctx(old->inner, under->connector);
    }
    if (old != &under->context) free(old);
    release(under);
    return 0;
}

Status wait(void* object, uint64_t timeout, int* status) {
    Object& request = object_of(object);
    return request.library().H5VLrequest_wait(request.inner, request.connector(), timeout, status);
}

Status notify(void* object, RequestNotify call, void* context) {
    Object& request = object_of(object);
    const Status status =
        request.library().H5VLrequest_notify(request.inner, request.connector(), call, context);
    if (status >= 0) drop(&request);
    return status;
}

Status cancel(void* object, int* status) {
    Object& request = object_of(object);
    return request.library().H5VLrequest_cancel(request.inner, request.connector(), status);
}

Status request_specific(void* object, RequestSpecific* arguments) {
    Object& request = object_of(object);
    return request.library().H5VLrequest_specific(request.inner, request.connector(), arguments);
}

Status request_optional(void* object, Optional* arguments) {
    Object& request = object_of(object);
    return request.library().H5VLrequest_optional(request.inner, request.connector(), arguments);
}

Status free_request(void* object) {
    Object& request = object_of(object);
    const Status status = request.library().H5VLrequest_free(request.inner, request.connector());
    if (status >= 0) drop(&request);
    return status;
}

Status put_blob(void* object, const void* buffer, size_t bytes, void* id, void* context) {
    Object& on = object_of(object);
    return on.library().H5VLblob_put(on.inner, on.connector(), buffer, bytes, id, context);
}

Status get_blob(void* object, const void* id, void* buffer, size_t bytes, void* context) {
    Object& on = object_of(object);
    return on.library().H5VLblob_get(on.inner, on.connector(), id, buffer, bytes, context);
}

Status blob_specific(void* object, void* id, void* arguments) {
    Object& on = object_of(object);
    return on.library().H5VLblob_specific(on.inner, on.connector(), id, arguments);
}

Status blob_optional(void* object, void* id, Optional* arguments) {
    Object& on = object_of(object);
    return on.library().H5VLblob_optional(on.inner, on.connector(), id, arguments);
}

Status compare_tokens(void* object, const void* one, const void* other, int* order) {
    Object& on = object_of(object);
    return on.library().H5VLtoken_cmp(on.inner, on.connector(), one, other, order);
}

Status token_to_text(void* object, int kind, const void* token, char** text) {
    Object& on = object_of(object);
    return on.library().H5VLtoken_to_str(on.inner, kind, on.connector(), token, text);
}

Status token_from_text(void* object, int kind, const char* text, void* token) {
    Object& on = object_of(object);
    return on.library().H5VLtoken_from_str(on.inner, kind, on.connector(), text, token);
}

}  // namespace

const WrapCalls wrap_calls = {get_object, get_context, wrap_object, unwrap_object, free_context};
const RequestCalls request_calls = {wait,        notify, cancel, request_specific, request_optional,
                                    free_request};
const BlobCalls blob_calls = {put_blob, get_blob, blob_specific, blob_optional};
const TokenCalls token_calls = {compare_tokens, token_to_text, token_from_text};

}  // namespace tailrace::hooks::vol
