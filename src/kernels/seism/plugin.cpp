// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/plugin.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "core/config.hpp"
#include "core/error.hpp"
#include "tailrace/fill_plugin.h"

namespace tailrace::kernels::seism {

namespace {

namespace fs = std::filesystem;
using core::Code;
using core::Error;
using core::in_quotes;

/// Folders beside the program, where the shipped plugins lie in a build or an installation.
std::vector<fs::path> own_folders() {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (failed) return {};
    const fs::path bin = program.parent_path();
    const fs::path prefix = bin.parent_path();
    return {bin, prefix / "lib", prefix / "lib64", prefix / "lib" / "tailrace"};
}

std::string last_dl_error() {
    const char* text = ::dlerror();
    return text ? text : "unknown error of the dynamic linker";
}

void* open_library(const std::string& library) {
    if (void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    std::string problem = last_dl_error();
    std::string searched;
    if (library.find('/') == std::string::npos) {
        const char* path = std::getenv("LD_LIBRARY_PATH");
        searched = "LD_LIBRARY_PATH=" + std::string(path ? path : "(not set)") +
                   ", the system's library folders";
        for (const fs::path& folder : own_folders()) {
            searched += ", " + folder.string();
            std::error_code failed;
            if (!fs::exists(folder / library, failed)) continue;
            if (void* handle = ::dlopen((folder / library).c_str(), RTLD_NOW | RTLD_LOCAL))
                return handle;
            problem = last_dl_error();
        }
    } else {
        searched = fs::absolute(library).string();
    }
    throw Error(Code::bad_plugin,
                "cannot load plugin library " + in_quotes(library) + ": " + problem +
                    "; searched: " + searched,
                "use_function_lib",
                library.find('/') == std::string::npos
                    ? "give its path (./" + library + "), or put its folder on LD_LIBRARY_PATH"
                    : "check the path, and that it is a shared library for this machine");
}

/// Runs a function of the library: what it throws (it may be C++) must not go further.
template <class Work>
auto guarded(const PluginCall& call, const std::string& function, Work&& work) {
    std::string what;
    try {
        return work();
    } catch (const std::exception& exception) {
        what = std::string(": ") + exception.what();
    } catch (...) {
        what = " that is no std::exception";
    }
    throw Error(Code::bad_plugin,
                "function " + function + " of plugin library " + in_quotes(call.library) +
                    " threw an exception" + what,
                "use_function_name",
                "a fill function must return a value for every element; correct it or its "
                "arguments");
}

template <class Function>
Function symbol(void* handle, const std::string& name) {
    return reinterpret_cast<Function>(::dlsym(handle, name.c_str()));
}

}  // namespace

struct Plugin::Loaded {
    PluginCall call;
    void* handle = nullptr;
    tailrace_fill_function function = nullptr;
    std::vector<std::string> arguments;
    std::vector<char*> argv;  ///< into `arguments`, with a final null

    ~Loaded() {
        if (handle) ::dlclose(handle);
    }
};

Plugin::Plugin(const PluginCall& call) : x_loaded(std::make_unique<Loaded>()) {
    x_loaded->call = call;
    x_loaded->handle = open_library(call.library);
    x_loaded->function = symbol<tailrace_fill_function>(x_loaded->handle, call.function);
    if (!x_loaded->function)
        throw Error(Code::bad_plugin,
                    "plugin library " + in_quotes(call.library) + " has no function " +
                        in_quotes(call.function) + ": " + last_dl_error(),
                    "use_function_name",
                    "`nm -D` lists its functions; one of C++ must be declared extern \"C\"");
    x_loaded->arguments = call.arguments;
    for (std::string& argument : x_loaded->arguments) x_loaded->argv.push_back(argument.data());
    x_loaded->argv.push_back(nullptr);
    const auto check = symbol<tailrace_fill_check>(x_loaded->handle, call.function + "_check");
    if (!check) return;
    std::array<char, 1024> text{};
    const int argc = static_cast<int>(x_loaded->arguments.size());
    const int refused = guarded(call, call.function + "_check", [&] {
        return check(argc, x_loaded->argv.data(), text.data(), text.size());
    });
    if (refused == 0) return;
    text.back() = '\0';
    throw Error(Code::bad_plugin,
                "plugin function " + call.function + " refuses its arguments: " + text.data(),
                "use_function_argv", "correct use_function_argv and use_function_argc");
}

Plugin::~Plugin() = default;

float Plugin::value(int mpi_rank, const std::uint64_t* system_size,
                    const std::uint64_t* domain_block_size,
                    const std::uint64_t* domain_block_number,
                    const std::uint64_t* position_in_block) const {
    // Copies: the ABI hands out pointers to non-const, and a function may use them as scratch.
    std::uint64_t copy[12];
    for (int d = 0; d < 3; ++d) {
        copy[d] = system_size[d];
        copy[3 + d] = domain_block_size[d];
        copy[6 + d] = domain_block_number[d];
        copy[9 + d] = position_in_block[d];
    }
    return guarded(x_loaded->call, x_loaded->call.function, [&] {
        return x_loaded->function(mpi_rank, copy, copy + 3, copy + 6, copy + 9,
                                  static_cast<int>(x_loaded->arguments.size()),
                                  x_loaded->argv.data());
    });
}

}  // namespace tailrace::kernels::seism
