// SPDX-License-Identifier: Apache-2.0
// One plain file out of the subfiles of HDF5's subfiling driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"

namespace tailrace::formats::hdf5 {

/// What became of the subfiles.
struct Reassembled {
    std::vector<std::string> parts;  ///< the plain file
    std::uint64_t bytes_stored = 0;
    std::uint64_t bytes_allocated = 0;
    std::uint64_t subfiles = 0;
    bool durable = false;
};

/// Makes a plain file of the finished subfiles of `path` and puts it in their place. Ranks copy
/// one subfile each, and further ones where there are more. The subfiles go when the plain file has
/// its name and is synced; after a failure they are all there. Phase "reassemble".  [collective]
/// @param count         number of subfiles
/// @param stripe_bytes  bytes that lie in one subfile before the next one follows
/// @param set_aside     false: whether there is space for the copy is looked at, no more
/// @throws core::Error on all ranks
[[nodiscard]] Reassembled reassembled(const comm::Comm& comm, const std::filesystem::path& path,
                                      std::uint64_t count, std::uint64_t stripe_bytes,
                                      bool set_aside, core::Phases& phases);

}  // namespace tailrace::formats::hdf5
