// SPDX-License-Identifier: Apache-2.0
// HDF5, netCDF-C and PnetCDF are not for threads: two of them within one library damage each
// other's files without an error. Threads of a process that write or read through them take turns.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>

#include "comm/comm.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// While it lives no other thread is in one of these libraries on our behalf. One thread may have
/// several at a time. What the program itself calls does not wait for it.  [local]
class Turn {
public:
    Turn();

private:
    std::lock_guard<std::recursive_mutex> x_lock;
};

/// Opens with `open`; each call of what it gave, and its end, is then a turn. Files of several
/// ranks belong to one thread of a process at a time, as long as they live: two threads would wait
/// for ranks that wait for their turn.  [collective]
/// @throws core::Error{Code::wrong_call} on all ranks where another thread has such files
[[nodiscard]] std::unique_ptr<core::Sink> in_turns(
    const comm::Comm& comm, const std::filesystem::path& path,
    const std::function<std::unique_ptr<core::Sink>()>& open);
[[nodiscard]] std::unique_ptr<core::Source> in_turns(
    const comm::Comm& comm, const std::filesystem::path& path,
    const std::function<std::unique_ptr<core::Source>()>& open);

}  // namespace tailrace::formats
