// SPDX-License-Identifier: Apache-2.0
// A file driver of HDF5 for one process that lays out a file whose chunks other processes write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "formats/hdf5/h5.hpp"

namespace tailrace::formats::hdf5 {

/// Where HDF5 wanted to put raw data.
struct StoragePlace {
    std::uint64_t offset = 0;  ///< bytes from the begin of the file
    std::uint64_t bytes = 0;
};

/// Registers the driver and holds back raw data while catch_next() is in force: HDF5 allocates the
/// space and makes its metadata, and this tells where, but nothing is written there.
class ChunkDriver {
public:
    /// @throws core::Error{Code::internal}  [local]
    ChunkDriver();
    ~ChunkDriver();
    ChunkDriver(const ChunkDriver&) = delete;
    ChunkDriver& operator=(const ChunkDriver&) = delete;

    /// Makes `access` open files by this driver, which must outlive them.  [local]
    /// @throws core::Error{Code::internal}
    void use(const h5::Id& access);
    /// The next write of raw data is held back.  [local]
    void catch_next() noexcept { *x_caught = {.waiting = true, .place = {}}; }
    /// Where it would have gone; nothing where HDF5 wrote none. Ends catch_next().  [local]
    [[nodiscard]] std::optional<StoragePlace> caught() noexcept;

    struct Caught {
        bool waiting = false;
        std::optional<StoragePlace> place;
    };

private:
    h5::Id x_driver;
    /// Shared with the open files: HDF5 may keep one that it could not close until the end.
    std::shared_ptr<Caught> x_caught = std::make_shared<Caught>();
};

}  // namespace tailrace::formats::hdf5
