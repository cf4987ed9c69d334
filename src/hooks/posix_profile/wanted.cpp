// SPDX-License-Identifier: Apache-2.0
#include "hooks/posix_profile/wanted.hpp"

#include <string.h>

namespace tailrace::hooks::posix_profile {
namespace {

bool begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

bool ends(const char* text, const char* with) {
    const size_t length = strlen(text);
    const size_t tail = strlen(with);
    return length >= tail && strcmp(text + length - tail, with) == 0;
}

template <unsigned size>
bool any_begins(const char* text, const char* const (&list)[size]) {
    for (const char* one : list) {
        if (begins(text, one)) return true;
    }
    return false;
}

template <unsigned size>
bool any_inside(const char* text, const char* const (&list)[size]) {
    for (const char* one : list) {
        if (strstr(text, one) != nullptr) return true;
    }
    return false;
}

constexpr const char* never[] = {"/proc/", "/sys/", "/run/"};
/// What libraries keep in the memory of a node.
constexpr const char* segments[] = {"vader_segment", "sm_segment", "osc_", "sem.", "psm_",
                                    "mpich",         "ompi",       "pmix", "ucx_", "nccl-",
                                    "torch_",        "cray-",      "psm2", "mono."};
/// Sessions of MPI launchers, what MPI looks for where the program works, what MPI-IO keeps beside
/// a file, what Python compiles, caches.
constexpr const char* of_others[] = {"/ompi.",
                                     "/openmpi-sessions",
                                     "/prte.",
                                     "/pmix",
                                     "/hydra_hwloc_xmlfile_",
                                     ".locktest.",
                                     ".shfp.",
                                     ".pyc",
                                     ".lockedfile",
                                     "/.cache/",
                                     "/__pycache__/",
                                     "/.config/",
                                     "/ucx.conf"};
/// Where nobody reads data from.
constexpr const char* of_system[] = {"/usr/", "/lib/",  "/lib64/", "/etc/",
                                     "/bin/", "/sbin/", "/snap/",  "/var/lib/"};
constexpr const char* of_python[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
                                     "/pyvenv.cfg"};
constexpr const char* code[] = {".so", ".py", ".pth", ".pyi", ".egg-link", ".sh", ".la"};

bool is_code(const char* path) {
    if (strstr(path, ".so.") != nullptr) return true;
    for (const char* one : code) {
        if (ends(path, one)) return true;
    }
    return false;
}

}  // namespace

bool wanted(const char* path, bool writes, const char* spools) {
    if (path[0] != '/' || ends(path, " (deleted)")) return false;
    const size_t length = strlen(spools);
    if (length > 0 && strncmp(path, spools, length) == 0 && path[length] == '/') return false;
    constexpr char memory[] = "/dev/shm/";
    if (begins(path, "/dev/")) {
        if (!begins(path, memory)) return false;
        if (any_begins(path + sizeof memory - 1, segments)) return false;
    }
    if (any_begins(path, never) || any_inside(path, of_others)) return false;
    if (writes) return true;
    return !any_begins(path, of_system) && !any_inside(path, of_python) && !is_code(path);
}

}  // namespace tailrace::hooks::posix_profile
