// SPDX-License-Identifier: Apache-2.0
#include "formats/options.hpp"

namespace tailrace::formats {

std::string name(const Options& options) {
    if (std::holds_alternative<hdf5::Options>(options)) return "hdf5";
    if (std::holds_alternative<netcdf4::Options>(options)) return "netcdf4";
    if (std::holds_alternative<mpiio::Options>(options)) return "mpiio";
    if (std::holds_alternative<pnetcdf::Options>(options)) return "pnetcdf";
    return std::get<posix::Options>(options).file_per_rank ? "posix-per-rank" : "posix";
}

bool collective(const Options& options) {
    return std::visit(
        [](const auto& some) {
            if constexpr (requires { some.collective; }) return some.collective;
            return false;
        },
        options);
}

bool filtered(const Options& options) {
    return std::visit(
        [](const auto& some) {
            if constexpr (requires { some.filtered(); }) return some.filtered();
            return false;
        },
        options);
}

bool needs_chunks(const Options& options) {
    const auto* hdf5 = std::get_if<hdf5::Options>(&options);
    return filtered(options) || (hdf5 != nullptr && hdf5->encode_on_ranks);
}

const Hints* hints(const Options& options) {
    return std::visit(
        [](const auto& some) -> const Hints* {
            if constexpr (requires { some.hints; }) return &some.hints;
            return nullptr;
        },
        options);
}

}  // namespace tailrace::formats
