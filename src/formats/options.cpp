// SPDX-License-Identifier: Apache-2.0
#include "formats/options.hpp"

namespace tailrace::formats {

std::string name(const Options& options) {
    if (std::holds_alternative<hdf5::Options>(options)) return "hdf5";
    if (std::holds_alternative<mpiio::Options>(options)) return "mpiio";
    return std::get<posix::Options>(options).file_per_rank ? "posix-per-rank" : "posix";
}

}  // namespace tailrace::formats
