// SPDX-License-Identifier: Apache-2.0
// Declares intents in C++, on a list and by pattern.
#include <hdf5.h>

#include <iostream>
#include <string>
#include <tailrace/intent.hpp>

namespace {

void write(const char* name, hid_t access) {
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Fclose(file);
}

}  // namespace

int main() {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    std::cout << '[' << tailrace::intent_get(access) << "]\n";
    tailrace::intent_set(access, R"({"reliability": "recomputable"})");
    std::cout << tailrace::intent_get(access) << '\n';
    try {
        tailrace::intent_set(access, R"({"reliability": "durabel"})");
    } catch (const tailrace::IntentError& error) {
        std::cout << error.code() << ' ' << error.what() << '\n';
    }
    write("listed.h5", access);
    try {
        const tailrace::Intents declared(R"({"files": {"in*.h5": {"reliability": "scratch"}}})");
        write("inside.h5", H5P_DEFAULT);
        throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
        write("inner.h5", H5P_DEFAULT);  // behind the block
    }
    tailrace::intent_clear(access);
    write("cleared.h5", access);
    H5Pclose(access);
    return 0;
}
