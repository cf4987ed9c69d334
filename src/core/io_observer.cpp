// SPDX-License-Identifier: Apache-2.0
#include "core/io_observer.hpp"

#include <algorithm>

namespace tailrace::core {

namespace {
IoObserver* the_observer = nullptr;
}

CallTally& CallTally::operator+=(const CallTally& other) {
    if (other.calls > 0) {
        smallest = calls > 0 ? std::min(smallest, other.smallest) : other.smallest;
        largest = std::max(largest, other.largest);
    }
    calls += other.calls;
    bytes_asked += other.bytes_asked;
    bytes_done += other.bytes_done;
    failed_calls += other.failed_calls;
    short_calls += other.short_calls;
    if (first_errno == 0) first_errno = other.first_errno;
    for (std::size_t k = 0; k < size_classes; ++k) by_size[k] += other.by_size[k];
    return *this;
}

FileTally& FileTally::operator+=(const FileTally& other) {
    write += other.write;
    read += other.read;
    by_write += other.by_write;
    by_pwrite += other.by_pwrite;
    by_writev += other.by_writev;
    by_aio += other.by_aio;
    by_uring += other.by_uring;
    return *this;
}

IoObserver* io_observer() noexcept { return the_observer; }

void set_io_observer(IoObserver* observer) noexcept { the_observer = observer; }

}  // namespace tailrace::core
