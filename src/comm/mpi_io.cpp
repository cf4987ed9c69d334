// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_io.hpp"

#include <link.h>

#include <cstring>

#include "comm/mpi_comm.hpp"

namespace tailrace::comm {

namespace {

struct Loaded {
    bool ompio = false, romio = false;
};

int look(dl_phdr_info* library, std::size_t, void* found) {
    auto& loaded = *static_cast<Loaded*>(found);
    const char* slash = std::strrchr(library->dlpi_name, '/');
    const char* name = slash ? slash + 1 : library->dlpi_name;
    if (std::strncmp(name, "mca_io_ompio", 12) == 0) loaded.ompio = true;
    if (std::strncmp(name, "mca_io_romio", 12) == 0) loaded.romio = true;
    return 0;
}

constexpr std::size_t longest_key = MPI_MAX_INFO_KEY - 1, longest_value = MPI_MAX_INFO_VAL - 1;

std::string why_not(const char* what, const std::string& text, std::size_t longest) {
    if (text.empty()) return std::string("its ") + what + " is empty";
    if (text.size() <= longest) return {};
    return std::string("its ") + what + " has " + std::to_string(text.size()) + " characters";
}

}  // namespace

std::string why_no_hint(const std::string& key, const std::string& value) {
    const std::string why = why_not("key", key, longest_key);
    return why.empty() ? why_not("value", value, longest_value) : why;
}

std::string hint_limits() {
    return "keys of 1 to " + std::to_string(longest_key) + " characters and values of 1 to " +
           std::to_string(longest_value);
}

std::string mpi_io_implementation(bool on_lustre) {
    const std::string library = library_version();
    if (library.starts_with("MPICH")) return "ROMIO (" + library + ")";
    Loaded loaded;
    ::dl_iterate_phdr(look, &loaded);
    if (loaded.romio && (!loaded.ompio || on_lustre)) return "ROMIO (" + library + ")";
    if (loaded.ompio && library.starts_with("Open MPI ")) return "OMPIO " + library.substr(9);
    return "MPI-IO of " + library;
}

}  // namespace tailrace::comm
