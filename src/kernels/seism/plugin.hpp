// SPDX-License-Identifier: Apache-2.0
// A fill function from a shared library; the ABI is that of include/tailrace/fill_plugin.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tailrace::kernels::seism {

/// Which function is called with which arguments.
struct PluginCall {
    std::string library;
    std::string function;
    std::vector<std::string> arguments;  ///< argv[0] is the first argument, not a program's name
};

/// A loaded fill function. The library stays loaded while this lives.
class Plugin {
public:
    /// Loads the library and asks its check function, where it has one.  [local]
    /// @throws core::Error{Code::bad_plugin} naming the places that were searched, or with the
    ///         text of the check function
    explicit Plugin(const PluginCall& call);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    /// One value. All arrays have three entries (x, y, z).  [local]
    /// @throws core::Error{Code::bad_plugin} where the function throws
    [[nodiscard]] float value(int mpi_rank, const std::uint64_t* system_size,
                              const std::uint64_t* domain_block_size,
                              const std::uint64_t* domain_block_number,
                              const std::uint64_t* position_in_block) const;

private:
    struct Loaded;
    std::unique_ptr<Loaded> x_loaded;
};

}  // namespace tailrace::kernels::seism
