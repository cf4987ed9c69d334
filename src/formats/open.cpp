// SPDX-License-Identifier: Apache-2.0
#include "formats/open.hpp"

#include "formats/file/names.hpp"
#include "formats/registry/registry.hpp"

namespace tailrace::formats {

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return format_of(options, target.path).open_sink(comm, target, options, phases);
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    // What belongs to a file lies beside it, and not beside a link to it.
    std::filesystem::path file;
    comm.agree_on([&] { file = follow_links(path); });
    return format_of(options, file).open_source(comm, file, options, phases);
}

}  // namespace tailrace::formats
