// SPDX-License-Identifier: Apache-2.0
// Copies of what a program writes, as it is at each close: only where TAILRACE_CLOSES names a
// folder for them and TAILRACE_CLOSES_OF the one that the program works in. For proofs of content:
// what is removed or written again within a run is not there any more in the end.
//
// Who opens a file for writing holds a shared lock beside its copies; who closes it last can have
// an exclusive one, and copies. Locks go with their process, so nobody waits for a dead one.
#pragma once

namespace tailrace::hooks::posix_profile {

/// Around an open for writing: nobody copies the file meanwhile, nor while it is open.  [local]
class WriteOpen {
public:
    WriteOpen(int folder, const char* path, int flags);
    ~WriteOpen();
    WriteOpen(const WriteOpen&) = delete;
    WriteOpen& operator=(const WriteOpen&) = delete;
    /// It has become this descriptor; else it failed.
    void made(int fd);

private:
    int x_lock;
};

/// Around a close: afterwards the file is copied, if it has changed since the last copy and nobody
/// else has it open for writing.  [local]
class WriteClose {
public:
    explicit WriteClose(int fd);
    ~WriteClose();
    WriteClose(const WriteClose&) = delete;
    WriteClose& operator=(const WriteClose&) = delete;

private:
    int x_lock;
};

/// `to` is one more descriptor of the same open file.  [local]
void opened_too(int from, int to);

}  // namespace tailrace::hooks::posix_profile
