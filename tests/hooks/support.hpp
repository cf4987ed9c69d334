// SPDX-License-Identifier: Apache-2.0
// What the tests of the interposer share. Plain system calls in these programs are interposed.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/io_observer.hpp"
#include "hooks/posix/observer.hpp"

namespace tailrace::hooks::posix::test {

/// A fresh file, open for reading and writing, with the observer installed and no fault in force.
class Scratch {
public:
    explicit Scratch(const std::string& folder = std::filesystem::temp_directory_path())
        : x_name(folder + "/interposer.XXXXXX") {
        install();
        inject_faults("");
        fd = mkstemp(x_name.data());
        REQUIRE(fd >= 0);
        observer().forget(x_name);
    }
    ~Scratch() {
        inject_faults("");
        observer().forget(x_name);
        ::close(fd);
        ::unlink(x_name.c_str());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    static core::IoObserver& observer() { return *core::io_observer(); }
    [[nodiscard]] const std::string& name() const { return x_name; }
    [[nodiscard]] core::FileTally tally() const { return observer().tally(x_name); }
    [[nodiscard]] core::CallTally writes() const { return tally().write; }
    [[nodiscard]] core::CallTally reads() const { return tally().read; }
    void hold() const { observer().hold_errors(x_name, true); }
    /// "op=OP,path=*/this file,REST" as the only rule.
    void fault(const std::string& op, const std::string& rest) const {
        inject_faults("op=" + op + ",path=" + x_name + "," + rest);
    }
    [[nodiscard]] off_t size() const {
        struct stat status {};
        ::fstat(fd, &status);
        return status.st_size;
    }

    int fd = -1;

private:
    std::string x_name;
};

/// The bytes 0, 1, 2 ... (modulo 251).
inline std::vector<char> pattern(std::size_t bytes) {
    std::vector<char> data(bytes);
    for (std::size_t at = 0; at < bytes; ++at) data[at] = static_cast<char>(at % 251);
    return data;
}

/// Everything the file holds, read past the interposer's faults (the rules are on writes).
inline std::vector<char> content(const Scratch& file) {
    std::vector<char> data(static_cast<std::size_t>(file.size()));
    if (!data.empty()) CHECK(::pread(file.fd, data.data(), data.size(), 0) == file.size());
    return data;
}

}  // namespace tailrace::hooks::posix::test
