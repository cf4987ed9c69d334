// SPDX-License-Identifier: Apache-2.0
#include "hooks/common/mpi_choice.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace tailrace::hooks {
namespace {

/// A list of components, or, with "^" before it, of those that are not to be taken.
bool names_ompio(const char* listed) {
    return (strstr(listed, "ompio") != nullptr) != (*listed == '^');
}

/// Whether a parameter file may name `io`.
bool names_io(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char text[32768] = "\n";
    const ssize_t got = ::read(file, text + 1, sizeof text - 2);
    ::close(file);
    text[got > 0 ? got + 1 : 1] = '\0';
    for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
        line += 1 + strspn(line + 1, " \t");
        if (strncmp(line, "io", 2) == 0 && strchr(" \t=", line[2]) != nullptr) return true;
        if (*line == '\0') break;
    }
    return got == static_cast<ssize_t>(sizeof text) - 2;
}

/// Whether something beside the environment may choose: files, which Open MPI reads by itself. The
/// question to MPI takes a fifth of a second, since it then loads all its components.
bool may_be_chosen_in_file(const void* function) {
    // NOLINTBEGIN(concurrency-mt-unsafe): only read
    for (const char* name : {"OMPI_MCA_mca_base_param_files", "OMPI_MCA_mca_base_param_file_prefix",
                             "OMPI_MCA_mca_base_override_param_file"})
        if (getenv(name) != nullptr) return true;
    const char* home = getenv("HOME");
    const char* prefix = getenv("OPAL_PREFIX");
    // NOLINTEND(concurrency-mt-unsafe)
    char path[4096];
    snprintf(path, sizeof path, "%s/.openmpi/mca-params.conf", home != nullptr ? home : "");
    bool found = names_io(path);
    Dl_info where{};
    const bool known = dladdr(function, &where) != 0 && where.dli_fname != nullptr;
    char above[2048] = "";
    // prefix/lib/libmpi.so; distributions have the files in /etc/openmpi.
    if (known) snprintf(above, sizeof above, "%s", where.dli_fname);
    for (int up = 0; up < 2; ++up)
        if (char* slash = strrchr(above, '/')) *slash = '\0';
    const char* const folders[] = {"/etc/openmpi", above, prefix != nullptr ? prefix : ""};
    for (const char* folder : folders) {
        for (const char* name : {"openmpi-mca-params.conf", "openmpi-mca-params-override.conf"}) {
            const bool whole = folder == folders[0];
            snprintf(path, sizeof path, "%s%s/%s", folder, whole ? "" : "/etc", name);
            found = found || names_io(path);
        }
    }
    return found;
}

/// The functions of MPI that ask for a variable of its own.
struct Variables {
    int (*begin)(int, int*) = nullptr;
    int (*end)() = nullptr;
    int (*number)(const char*, int*) = nullptr;
    int (*hold)(int, void*, void**, int*) = nullptr;
    int (*read)(void*, void*) = nullptr;
    int (*release)(void**) = nullptr;

    template <typename Function>
    static bool look_up(FindMpi find, void* in, const char* name, Function& function) {
        function = reinterpret_cast<Function>(find(in, name));
        return function != nullptr;
    }
    bool look_up(FindMpi find, void* in) {
        return look_up(find, in, "PMPI_T_init_thread", begin) &&
               look_up(find, in, "PMPI_T_finalize", end) &&
               look_up(find, in, "PMPI_T_cvar_get_index", number) &&
               look_up(find, in, "PMPI_T_cvar_handle_alloc", hold) &&
               look_up(find, in, "PMPI_T_cvar_read", read) &&
               look_up(find, in, "PMPI_T_cvar_handle_free", release);
    }
};

/// Fills in what Open MPI's variable "io" is; false: it does not tell.
bool ask(FindMpi find, void* in, char* value, size_t bytes) {
    constexpr int threads = 3;  // MPI_THREAD_MULTIPLE: the program may have some
    Variables mpi;
    int level = 0;
    if (!mpi.look_up(find, in) ||
        !may_be_chosen_in_file(reinterpret_cast<const void*>(mpi.begin)) ||
        mpi.begin(threads, &level) != 0)
        return false;
    int number = 0;
    int most = 0;
    void* handle = nullptr;
    bool good = mpi.number("io", &number) == 0 && mpi.hold(number, nullptr, &handle, &most) == 0;
    if (good) {
        good = most > 0 && static_cast<size_t>(most) < bytes && mpi.read(handle, value) == 0;
        mpi.release(&handle);
    }
    mpi.end();
    return good;
}

}  // namespace

MpiIo chosen_mpi_io(FindMpi find, void* in) {
    enum : int { not_asked, somebody_chose = 2, ompio = 4, asked = 8 };
    static std::atomic<int> known{not_asked};  // of several threads all find the same
    int answer = known.load(std::memory_order_relaxed);
    if (answer == not_asked) {
        char value[8192] = {};
        const char* listed = getenv("OMPI_MCA_io");  // NOLINT(concurrency-mt-unsafe): only read
        if (listed == nullptr && ask(find, in, value, sizeof value)) listed = value;
        answer = asked;
        if (listed != nullptr && *listed != '\0') answer |= somebody_chose;
        if ((answer & somebody_chose) == 0 || names_ompio(listed)) answer |= ompio;
        known.store(answer, std::memory_order_relaxed);
    }
    return {(answer & somebody_chose) != 0, (answer & ompio) != 0};
}

}  // namespace tailrace::hooks
