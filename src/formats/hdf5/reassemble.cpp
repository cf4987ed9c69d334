// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/reassemble.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/sink.hpp"
#include "formats/file/companions.hpp"
#include "formats/file/target_file.hpp"

namespace tailrace::formats::hdf5 {

namespace {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

/// The data of a set of subfiles, by their number, from 0.
struct Subfiles {
    std::vector<fs::path> files;
    std::uint64_t stripe_bytes = 0;
    std::uint64_t bytes = 0;  ///< of the file that they make together
};

std::uint64_t size_of(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0)
        throw system_error(errno, "cannot look at a subfile", file);
    return static_cast<std::uint64_t>(info.st_size);
}

/// Offset in the plain file of byte `at` of subfile `number`.
std::uint64_t plain_offset(const Subfiles& set, std::size_t number, std::uint64_t at) {
    const std::uint64_t stripe = at / set.stripe_bytes * set.files.size() + number;
    return stripe * set.stripe_bytes + at % set.stripe_bytes;
}

/// Names end in "_<number>_of_<count>"; numbers count from 1 and may have zeros before them.
Subfiles find(const fs::path& path, std::uint64_t count, std::uint64_t stripe_bytes) {
    if (count == 0 || stripe_bytes == 0)
        throw Error(Code::io,
                    "how the subfiles lie is not known on this rank (" + std::to_string(count) +
                        " subfiles, stripes of " + std::to_string(stripe_bytes) + " bytes)",
                    path.string(),
                    "see that every rank can read the .config file beside it, or open them with "
                    "HDF5's subfiling");
    Subfiles set{std::vector<fs::path>(static_cast<std::size_t>(count)), stripe_bytes, 0};
    for (const std::string& file : subfiles_of(path)) {
        if (file.ends_with(".config")) continue;
        const std::size_t of = file.rfind("_of_"), number = file.rfind('_', of - 1);
        const std::uint64_t index = std::strtoull(file.c_str() + number + 1, nullptr, 10);
        if (index < 1 || index > count) continue;
        set.files[static_cast<std::size_t>(index - 1)] = file;
    }
    for (std::size_t i = 0; i < set.files.size(); ++i) {
        if (set.files[i].empty())
            throw Error(
                Code::io,
                "subfile " + std::to_string(i + 1) + " of " + std::to_string(count) + " is missing",
                path.string(), "keep what is there and open it with HDF5's subfiling");
        if (const std::uint64_t bytes = size_of(set.files[i]); bytes != 0)
            set.bytes = std::max(set.bytes, plain_offset(set, i, bytes - 1) + 1);
    }
    return set;
}

/// Copies one subfile to where its stripes belong; returns its bytes.
std::uint64_t copy(const Subfiles& set, std::size_t number, const Descriptor& to,
                   const fs::path& name) {
    constexpr std::uint64_t most = std::uint64_t{4} << 20U;
    const fs::path& file = set.files[number];
    const Descriptor from(open_file(file, O_RDONLY));
    if (!from.open()) throw system_error(errno, "cannot open a subfile", file);
    const std::uint64_t bytes = size_of(file);
    std::vector<std::byte> buffer(
        static_cast<std::size_t>(std::min({most, set.stripe_bytes, bytes})));
    for (std::uint64_t at = 0; at < bytes;) {
        const std::uint64_t in_stripe = set.stripe_bytes - at % set.stripe_bytes;
        const std::uint64_t part = std::min<std::uint64_t>({buffer.size(), in_stripe, bytes - at});
        read_fully(from.get(), buffer.data(), part, at, file);
        write_fully(to.get(), buffer.data(), part, plain_offset(set, number, at), name);
        at += part;
    }
    return bytes;
}

core::Target plain_target(const fs::path& path, std::uint64_t bytes, bool set_aside) {
    core::Target target;
    target.path = path;
    target.existing = core::Existing::replace;
    target.publish = core::Publish::atomic_rename;
    target.reserve_bytes = bytes;
    target.set_aside = set_aside;
    return target;
}

Reassembled assemble(const comm::Comm& comm, const fs::path& path, const Subfiles& set,
                     bool set_aside, core::Phases& phases) {
    TargetFile plain(comm, plain_target(path, set.bytes, set_aside), phases, Reserve::on_disk);
    plain.hold_errors(true);
    std::uint64_t copied = 0;
    const auto mine = comm::Comm::caught([&] {
        const Descriptor to(open_file(plain.part(), O_WRONLY));
        if (!to.open()) throw system_error(errno, "cannot open the file", plain.part());
        const auto ranks = static_cast<std::size_t>(comm.size());
        for (auto i = static_cast<std::size_t>(comm.rank()); i < set.files.size(); i += ranks)
            copied += copy(set, i, to, plain.path());
    });
    const auto seen = plain.seen_failure("reassembling " + path.string());
    comm.agree(seen ? seen : mine);
    plain.check_bytes(copied);
    plain.sync();
    plain.publish();
    core::FileReport report;
    plain.report(report);
    return {report.parts, report.bytes_stored, report.bytes_allocated, set.files.size(),
            report.durable};
}

}  // namespace

Reassembled reassembled(const comm::Comm& comm, const fs::path& path, std::uint64_t count,
                        std::uint64_t stripe_bytes, bool set_aside, core::Phases& phases) {
    const auto scope = phases.enter("reassemble");
    try {
        const Subfiles set = comm.agree_on([&] { return find(path, count, stripe_bytes); });
        return assemble(comm, path, set, set_aside, phases);
    } catch (const Error& error) {  // agreed
        // The subfiles are written by now: this is no matter of the input any more.
        const bool no_room = error.code() == Code::no_space_reserved;
        throw Error(no_room ? Code::no_space : error.code(),
                    "the subfiles could not be made into one file: " + error.message(),
                    error.where(), "the subfiles are complete and stay; " + error.remedy());
    }
}

}  // namespace tailrace::formats::hdf5
