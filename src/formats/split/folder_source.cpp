// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/file/names.hpp"
#include "formats/file/part_file.hpp"
#include "formats/posix/run_io.hpp"
#include "formats/sink/pieces.hpp"
#include "formats/split/folder.hpp"
#include "formats/split/folder_target.hpp"

namespace tailrace::formats::split {

namespace fs = std::filesystem;
using core::Error;

namespace {

constexpr std::size_t most_open = 256;  ///< files that a rank keeps open

/// "SIZE /NAME" lines of the regular files below a folder, by name.
std::string listing_of(const fs::path& folder) {
    std::map<std::string, std::uint64_t> sizes;
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed))
        if (at->is_regular_file())
            sizes[at->path().lexically_relative(folder).string()] = at->file_size();
    if (failed) throw system_error(failed.value(), "cannot read the folder", folder);
    std::string lines;
    for (const auto& [name, bytes] : sizes)
        lines += std::to_string(bytes) + " /" + name + '\0';  // a name may hold a line end
    return lines;
}

core::Schema schema_of(const std::string& listing) {
    core::Schema schema;
    for (std::size_t at = 0; at < listing.size();) {
        const std::size_t end = listing.find('\0', at), blank = listing.find(' ', at);
        const std::uint64_t bytes = std::stoull(listing.substr(at, blank - at));
        schema.objects.push_back({listing.substr(blank + 1, end - blank - 1),
                                  core::Scalar::u8,
                                  {{bytes, false}},
                                  core::Kind::bytes});
        at = end + 1;
    }
    return schema;
}

class FolderSource final : public core::Source {
public:
    FolderSource(const comm::Comm& comm, fs::path folder, core::Phases& phases)
        : x_comm(comm), x_folder(std::move(folder)), x_phases(phases) {
        std::string listing;
        agree_on([&] {
            if (x_comm.rank() == 0) listing = listing_of(x_folder);
        });
        listing = x_comm.broadcast(listing);
        agree_on([&] { x_schema = schema_of(listing); });
    }

    core::Schema schema() override { return x_schema; }

    void read(std::span<core::Read> pieces) override {
        if (x_lost) throw Error(*x_lost);
        agree_on([&] {
            for (const core::Read& piece : pieces)
                check_read(piece, x_schema.objects.at(piece.object));
        });
        try {
            agree_on([&] {
                const auto phase = x_phases.enter("read");
                read_mine(pieces);
            });
        } catch (const Error& error) {
            x_lost = error;
            throw;
        }
    }

private:
    template <class Work>
    void agree_on(Work&& work) {
        const auto mine = comm::Comm::caught(std::forward<Work>(work));
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(mine);
    }

    [[nodiscard]] fs::path file(core::ObjectId object) const {
        return x_folder / x_schema.objects[object].path.substr(1);
    }

    int descriptor(core::ObjectId object) {
        const auto found = x_open.find(object);
        if (found != x_open.end()) return found->second.get();
        if (x_open.size() >= most_open) x_open.clear();
        Descriptor opened(open_file(file(object), O_RDONLY));
        if (!opened.open()) throw system_error(errno, "cannot open the file", file(object));
        return x_open.emplace(object, std::move(opened)).first->second.get();
    }

    // Pieces of one file in a row share their calls.
    void read_mine(std::span<core::Read> pieces) {
        std::optional<posix::RunReader> reader;
        std::optional<core::ObjectId> of;
        for (const core::Read& piece : pieces) {
            if (piece.place.empty()) continue;
            if (of != piece.object) {
                if (reader) reader->flush();
                reader.emplace(descriptor(piece.object), file(piece.object));
                of = piece.object;
            }
            const std::uint64_t at = piece.memory.dims.empty() ? 0 : piece.memory.offset[0];
            reader->add(piece.place.offset[0], piece.data + at, piece.place.volume());
        }
        if (reader) reader->flush();
    }

    comm::Comm x_comm;
    fs::path x_folder;
    core::Phases& x_phases;
    core::Schema x_schema;
    std::map<core::ObjectId, Descriptor> x_open;
    std::optional<Error> x_lost;  ///< agreed
};

}  // namespace

std::unique_ptr<core::Source> open_folder_source(const comm::Comm& comm, const fs::path& folder,
                                                 core::Phases& phases) {
    return std::make_unique<FolderSource>(comm, folder, phases);
}

void check_folder(const comm::Comm& comm, const core::Target& target,
                  const FolderOptions& options) {
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        const fs::path path = follow_links(without_slash(target.path));
        const std::string ours[] = {options.known_by, options.manifest};
        check_target_folder(path, target.existing, ours);
        const Descriptor around(open_file(folder_of(path), O_RDONLY | O_DIRECTORY));
        if (around.open())
            check_space(around.get(), target.reserve_bytes, path, core::Code::no_space_reserved);
    });
}

}  // namespace tailrace::formats::split
