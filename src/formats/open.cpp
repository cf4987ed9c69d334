// SPDX-License-Identifier: Apache-2.0
#include "formats/open.hpp"

#include <fcntl.h>

#include "formats/file/name_lock.hpp"
#include "formats/file/part_file.hpp"
#include "formats/registry/registry.hpp"

namespace tailrace::formats {

namespace fs = std::filesystem;
using core::Code;

namespace {

/// What a run does before it makes its first file.
LeftOver check_place(const fs::path& path, const core::Target& target, core::Publish publish) {
    check_target(path, target.existing);
    const LeftOver left_over = NameLock::look(path);
    check_beside(path, publish, left_over);
    const Descriptor folder(open_file(folder_of(path), O_RDONLY | O_DIRECTORY));
    if (folder.open())
        check_space(folder.get(), target.reserve_bytes, path, Code::no_space_reserved);
    return left_over;
}

}  // namespace

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return format_of(options, target.path).open_sink(comm, target, options, phases);
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const fs::path& path,
                                          const Options& options, core::Phases& phases) {
    // What belongs to a file lies beside it, and not beside a link to it.
    fs::path file;
    comm.agree_on([&] { file = follow_links(path); });
    return format_of(options, file).open_source(comm, file, options, phases);
}

void check_sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                int ranks) {
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        const fs::path path = follow_links(target.path);
        const Planned file{target, path, ranks};
        const Format& format = format_of(options, path);
        if (format.check) format.check(file, options);
        const bool in_place = options.facts().keeps_name;
        const LeftOver left_over =
            check_place(path, target, in_place ? core::Publish::in_place : target.publish);
        if (format.check_names) format.check_names(file, options, left_over);
    });
}

void check_build(const Options& options, int ranks) {
    const core::Target no_target;
    const Format& format = format_of(options, no_target.path);
    if (format.check) format.check({no_target, no_target.path, ranks}, options);
}

void check_schema(const Options& options, const core::Schema& schema) {
    const Format& format = format_named(options.facts().format);
    if (format.check_schema) format.check_schema(options, schema);
}

void begin() {
    for (const Format& format : all_formats())
        if (format.begin) format.begin();
}

void before_end() {
    for (const Format& format : all_formats())
        if (format.before_end) format.before_end();
}

}  // namespace tailrace::formats
