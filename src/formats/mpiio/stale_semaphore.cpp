// SPDX-License-Identifier: Apache-2.0
#include "formats/mpiio/stale_semaphore.hpp"

#include <semaphore.h>

#include <string>

namespace tailrace::formats::mpiio {

void remove_stale_semaphore(const std::filesystem::path& path) noexcept {
    try {
        // Where there is none, or it is somebody else's, there is nothing to do.
        (void)::sem_unlink(("/OMPIO_" + path.filename().string()).c_str());
    } catch (...) {  // no memory for a name
    }
}

}  // namespace tailrace::formats::mpiio
