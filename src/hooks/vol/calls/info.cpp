// SPDX-License-Identifier: Apache-2.0
#include "hooks/vol/calls/info.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/common/spooling.hpp"

namespace tailrace::hooks::vol {
namespace {

constexpr const char* key_value = "under_vol=";
constexpr const char* key_info = ";under_info={";

/// Of a connector that may not be loaded yet.
Id connector_of(Library& library, int value) {
    if (value == native_value) return library.H5VLget_connector_id_by_value(value);
    return library.H5VLregister_connector_by_value(value, default_list);
}

void complain(const char* text) {
    char line[256];
    const int bytes = snprintf(line, sizeof line,
                               "tailrace: HDF5_VOL_CONNECTOR: \"%.120s\" is not read; HDF5's own "
                               "connector is used below tailrace\n",
                               text);
    if (bytes > 0) hooks::spooling::to_standard_error(line, strnlen(line, sizeof line));
}

}  // namespace

void* copy_info(const void* info) {
    const auto& from = *static_cast<const Info*>(info);
    auto* to = static_cast<Info*>(calloc(1, sizeof(Info)));
    if (to == nullptr) return nullptr;
    *to = {from.library, from.under, nullptr};
    from.library->H5Iinc_ref(from.under);
    if (from.under_info != nullptr) {
        from.library->H5VLcopy_connector_info(from.under, &to->under_info, from.under_info);
    }
    return to;
}

Status compare_info(int* order, const void* one, const void* other) {
    const auto& a = *static_cast<const Info*>(one);
    const auto& b = *static_cast<const Info*>(other);
    *order = 0;
    a.library->H5VLcmp_connector_cls(order, a.under, b.under);
    if (*order != 0) return 0;
    return a.library->H5VLcmp_connector_info(order, a.under, a.under_info, b.under_info);
}

Status free_info(void* info) {
    auto* old = static_cast<Info*>(info);
    {
        const ErrorsKept kept(*old->library);
        if (old->under_info != nullptr) {
            old->library->H5VLfree_connector_info(old->under, old->under_info);
        }
        old->library->H5Idec_ref(old->under);
    }
    free(old);
    return 0;
}

Status info_to_text(const void* info, char** text) {
    const auto& from = *static_cast<const Info*>(info);
    int value = native_value;
    char* below = nullptr;
    from.library->H5VLget_value(from.under, &value);
    from.library->H5VLconnector_info_to_str(from.under_info, from.under, &below);
    const size_t bytes = (below != nullptr ? strlen(below) : 0) + 64;
    // The library frees it, so it has to come from its own memory.
    *text = static_cast<char*>(from.library->H5allocate_memory(bytes, false));
    if (*text == nullptr) return -1;
    snprintf(*text, bytes, "%s%d%s%s}", key_value, value, key_info, below != nullptr ? below : "");
    return 0;
}

Status info_from_text(Library& library, const char* text, void** info) {
    *info = nullptr;
    if (text == nullptr || *text == '\0') return 0;
    char* end = nullptr;
    int value = native_value;
    const char* below = nullptr;
    size_t below_bytes = 0;
    bool good = strncmp(text, key_value, strlen(key_value)) == 0;
    if (good) {
        value = static_cast<int>(strtol(text + strlen(key_value), &end, 10));
        good = end != text + strlen(key_value);
    }
    if (good && strncmp(end, key_info, strlen(key_info)) == 0) {
        below = end + strlen(key_info);
        const char* last = strrchr(below, '}');
        good = last != nullptr;
        if (good) below_bytes = static_cast<size_t>(last - below);
    } else if (good) {
        good = *end == '\0';
    }
    const Id under = good ? connector_of(library, value) : invalid_id;
    if (under < 0) {
        complain(text);
        return 0;
    }
    auto* made = static_cast<Info*>(calloc(1, sizeof(Info)));
    if (made == nullptr) return -1;
    *made = {&library, under, nullptr};
    if (below_bytes > 0) {
        char* copy = strndup(below, below_bytes);
        if (copy != nullptr) library.H5VLconnector_str_to_info(copy, under, &made->under_info);
        free(copy);
    }
    *info = made;
    return 0;
}

bool has_info(Library& library, Id access) {
    void* info = nullptr;
    library.H5Pget_vol_info(access, &info);
    if (info != nullptr) free_info(info);
    return info != nullptr;
}

BelowList::BelowList(Library& library, Id access) : x_library(library) {
    void* info = nullptr;
    library.H5Pget_vol_info(access, &info);
    x_info = static_cast<Info*>(info);
    if (x_info != nullptr) {
        x_connector = x_info->under;
    } else {
        x_native = library.H5VLget_connector_id_by_value(native_value);
        x_connector = x_native;
    }
    if (x_connector < 0) return;
    x_list = library.H5Pcopy(access);
    void* under_info = x_info != nullptr ? x_info->under_info : nullptr;
    // A copy that still names us would come back to us without end.
    if (x_list >= 0 && library.H5Pset_vol(x_list, x_connector, under_info) < 0) {
        library.H5Pclose(x_list);
        x_list = invalid_id;
    }
}

BelowList::~BelowList() {
    const ErrorsKept kept(x_library);
    if (x_list >= 0) x_library.H5Pclose(x_list);
    if (x_info != nullptr) free_info(x_info);
    if (x_native >= 0) x_library.H5VLclose(x_native);
}

}  // namespace tailrace::hooks::vol
