// SPDX-License-Identifier: Apache-2.0
// What every function of tailrace/server.h does around its work: no exception leaves it.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/error.hpp"
#include "tailrace/server.h"

namespace tailrace::bindings {

/// Of the last call of this thread that failed.  [local]
inline std::string& last_error() {
    thread_local std::string text;
    return text;
}

inline int failed(const core::Error& error) {
    last_error() = error.what();
    return error.code() == core::Code::wrong_call ? TAILRACE_INVALID
                                                  : core::exit_code(error.code());
}

template <class Work>
int call(const Work& work) noexcept {
    try {
        work();
        return TAILRACE_OK;
    } catch (const core::Error& error) {
        return failed(error);
    } catch (const std::bad_alloc&) {
        return failed(core::no_memory("there is no memory for the call"));
    } catch (const std::exception& error) {
        last_error() = error.what();
    } catch (...) {
        last_error() = "an unknown failure";
    }
    return TAILRACE_FAILED;
}

/// @throws core::Error{Code::bad_input} for a null pointer
template <class T>
T& there(T* pointer, const char* name) {
    if (pointer == nullptr)
        throw core::Error(core::Code::bad_input, std::string(name) + " is NULL", "",
                          "pass what the library gave you");
    return *pointer;
}

}  // namespace tailrace::bindings
