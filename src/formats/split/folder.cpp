// SPDX-License-Identifier: Apache-2.0
#include "formats/split/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/io_observer.hpp"
#include "formats/file/part_file.hpp"
#include "formats/file/writers.hpp"
#include "formats/posix/run_io.hpp"
#include "formats/sink/collective_sink.hpp"
#include "formats/sink/pieces.hpp"
#include "formats/split/folder_target.hpp"

namespace tailrace::formats::split {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

/// Files that a rank keeps open; with more it syncs and closes those it has.
constexpr std::size_t most_open = 256;

class FolderSink final : public CollectiveSink {
public:
    FolderSink(const comm::Comm& comm, const core::Target& target, FolderOptions options,
               core::Phases& phases)
        : CollectiveSink(comm, phases),
          x_options(std::move(options)),
          x_target(comm, target, std::array{x_options.known_by, x_options.manifest}, phases),
          x_set_aside(target.set_aside && target.reserve_bytes > 0) {
        x_can.independent = true;
        x_can.max_rank = 1;
    }
    ~FolderSink() override {
        discard_if_open();
        forget();
    }

private:
    struct Member {
        core::Object object;
        std::string file;  ///< below the folder
    };

    [[nodiscard]] const fs::path& name() const noexcept override { return x_target.path(); }
    void check(const core::Schema& schema) const override;
    void create(const core::Schema& schema) override;
    [[nodiscard]] std::size_t objects() const noexcept override { return x_members.size(); }
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces, std::span<const std::uint64_t>) override;
    void force() override;
    void publish() override;
    void discard() noexcept override;
    [[nodiscard]] core::FileReport report() override;

    [[nodiscard]] bool mine(std::size_t object) const noexcept {
        return object % static_cast<std::size_t>(x_comm.size()) ==
               static_cast<std::size_t>(x_comm.rank());
    }
    void create_file(const Member& member);
    [[nodiscard]] int descriptor(core::ObjectId object);
    void sync_and_close();
    void write_manifest() const;
    [[nodiscard]] std::optional<core::WriterReport> writer() const;
    void forget() const noexcept;
    template <class Work>
    void agree_on(Work&& work) {
        const auto failed = comm::Comm::caught(std::forward<Work>(work));
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(failed);
    }

    FolderOptions x_options;
    FolderTarget x_target;
    bool x_set_aside;
    std::vector<Member> x_members;
    std::map<core::ObjectId, Descriptor> x_open;
    std::set<core::ObjectId> x_written;  ///< by this rank, and closed since perhaps
    std::uint64_t x_asked = 0;           ///< bytes, by the writes of this rank
    std::optional<core::WriterReport> x_writer;
    bool x_reserved = true;  ///< all files that this rank made and that have bytes
    std::string x_reservation = "nothing to set aside";
    bool x_durable = false;
};

/// "Level_0/Cell_H" for "/Level_0/Cell_H".
/// @throws core::Error{Code::bad_input} for what leads elsewhere
std::string file_of(const core::Object& object) {
    const fs::path file = fs::path(object.path).relative_path();
    bool good = file.has_filename();
    for (const fs::path& part : file) good = good && part != "." && part != "..";
    if (!good)
        throw Error(Code::bad_input, "it cannot be the name of a file in a folder", object.path,
                    "name it /FILE or /FOLDER/FILE, without . and ..");
    return file.lexically_normal().string();  // "/a//b" is the file of "/a/b"
}

void FolderSink::check(const core::Schema& schema) const {
    if (!schema.attributes.empty())
        throw Error(Code::unsupported, "a folder of plain files has no place for attributes",
                    schema.attributes[0].object + ":" + schema.attributes[0].name,
                    "write them into one of the files");
    std::set<std::string> files, folders;
    const auto take = [&](const std::string& file) {
        if (!files.insert(file).second)
            throw Error(Code::bad_input, "it is defined twice", file,
                        "give every file a name of its own");
        for (fs::path up = fs::path(file).parent_path(); !up.empty(); up = up.parent_path())
            folders.insert(up.string());
    };
    if (!x_options.manifest.empty()) take(x_options.manifest);
    for (const Member& member : x_members) take(member.file);
    for (const core::Object& object : schema.objects) {
        if (object.dims.size() != 1 || object.dims[0].unlimited ||
            object.type != core::Scalar::u8 || !object.members.empty())
            throw Error(Code::unsupported, "a file of a folder is a row of bytes", object.path,
                        "define one dimension of type u8 and a fixed size");
        take(file_of(object));
    }
    for (const std::string& folder : folders)
        if (files.contains(folder))
            throw Error(Code::bad_input, "it is a file and a folder", folder,
                        "give the file another name");
}

void FolderSink::create(const core::Schema& schema) {
    const auto phase = x_phases.enter("define");
    const std::size_t first = x_members.size();
    for (const core::Object& object : schema.objects)
        x_members.push_back({object, file_of(object)});
    poisoning(
        [&] {
            agree_on([&] {
                if (x_comm.rank() != 0) return;
                std::error_code failed;
                for (std::size_t i = first; i < x_members.size(); ++i) {
                    const fs::path folder = (x_target.part() / x_members[i].file).parent_path();
                    fs::create_directories(folder, failed);
                    if (failed) throw system_error(failed.value(), "cannot make a folder", folder);
                }
            });
            agree_on([&] {
                for (std::size_t i = first; i < x_members.size(); ++i)
                    if (mine(i)) create_file(x_members[i]);
            });
        },
        false);
}

void FolderSink::create_file(const Member& member) {
    const fs::path path = x_target.part() / member.file;
    const Descriptor file = create_part(path);
    if (core::IoObserver* observer = core::io_observer()) observer->forget(path);
    const std::uint64_t bytes = member.object.bytes();
    if (x_set_aside && bytes != 0) {
        const auto phase = x_phases.enter("reserve");
        const Reservation outcome =
            reserve_on_disk(file.get(), bytes, path, Code::no_space_reserved);
        x_reserved = x_reserved && outcome.reserved;
        x_reservation = outcome.text;
    }
    if (bytes != 0 && ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
        throw system_error(errno, "cannot make the file as long as it will be", path);
}

Needs FolderSink::needs(std::span<const core::Write> pieces) {
    return {comm::Comm::caught([&] {
                for (const core::Write& piece : pieces) {
                    if (piece.object >= x_members.size())
                        throw Error(Code::wrong_call,
                                    "object " + std::to_string(piece.object) +
                                        " is not defined; there are " +
                                        std::to_string(x_members.size()),
                                    name().string(), "use an id that define() returned");
                    check_write(piece, x_members[piece.object].object, 0);
                }
            }),
            {}};
}

int FolderSink::descriptor(core::ObjectId object) {
    const auto found = x_open.find(object);
    if (found != x_open.end()) return found->second.get();
    if (x_open.size() >= most_open) sync_and_close();
    const fs::path path = x_target.part() / x_members[object].file;
    Descriptor file(open_file(path, O_WRONLY));
    if (!file.open()) throw system_error(errno, "cannot open the file", path);
    if (core::IoObserver* observer = core::io_observer();
        observer != nullptr && x_written.insert(object).second && !mine(object))
        observer->forget(path);
    x_written.insert(object);
    return x_open.emplace(object, std::move(file)).first->second.get();
}

void FolderSink::transfer(std::span<const core::Write> pieces, std::span<const std::uint64_t>) {
    if (failed()) return;
    guarded([&] {
        // Pieces that follow each other in a file, such as a head and its data, take one call.
        std::optional<posix::RunWriter> writer;
        std::optional<core::ObjectId> file;
        for (const core::Write& piece : pieces) {
            if (piece.place.empty()) continue;
            if (file != piece.object) {
                if (writer) writer->flush();
                const fs::path path = name() / x_members[piece.object].file;
                writer.emplace(descriptor(piece.object), path);
                file = piece.object;
            }
            const std::uint64_t at = piece.memory.dims.empty() ? 0 : piece.memory.offset[0];
            x_asked += piece.place.volume();
            writer->add(piece.place.offset[0], piece.data + at, piece.place.volume());
        }
        if (writer) writer->flush();
    });
}

void FolderSink::sync_and_close() {
    for (auto& [object, file] : x_open) {
        const fs::path path = name() / x_members[object].file;
        if (::fsync(file.get()) != 0)
            throw system_error(errno, "fsync failed, data may be lost", path);
        // Network file systems report a failed write at close at the latest.
        if (::close(file.release()) != 0)
            throw system_error(errno, "closing the file failed", path);
    }
    x_open.clear();
}

// Files that nobody wrote are empty, or holes: the one who made them syncs them.
void FolderSink::force() {
    const auto phase = x_phases.enter("sync");
    agree_on([&] {
        sync_and_close();
        for (std::size_t i = 0; i < x_members.size(); ++i) {
            if (!mine(i) || x_written.contains(static_cast<core::ObjectId>(i))) continue;
            const fs::path path = x_target.part() / x_members[i].file;
            const Descriptor file(open_file(path, O_WRONLY));
            if (!file.open() || ::fsync(file.get()) != 0)
                throw system_error(errno, "fsync failed, data may be lost", path);
        }
    });
}

std::optional<core::WriterReport> FolderSink::writer() const {
    std::vector<fs::path> files;
    for (const core::ObjectId object : x_written)
        files.push_back(x_target.part() / x_members[object].file);
    return my_writer_report(x_comm.rank(), files, x_phases);
}

void FolderSink::write_manifest() const {
    auto files = nlohmann::json::array();
    for (const Member& member : x_members)
        files.push_back({{"name", member.file}, {"bytes", member.object.bytes()}});
    const nlohmann::ordered_json all{{"format", "tailrace-folder/1"}, {"files", files}};
    const std::string text =
        all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const fs::path path = x_target.part() / x_options.manifest;
    const Descriptor file = create_part(path);
    write_fully(file.get(), text.data(), text.size(), 0, path);
    if (::fsync(file.get()) != 0) throw system_error(errno, "fsync failed", path);
}

void FolderSink::publish() {
    poisoning(
        [&] {
            x_writer = writer();
            {
                const auto agreeing = x_phases.enter("agree");
                check_bytes_below(x_comm, name(), x_asked, x_writer);
            }
            force();
            x_durable = true;
            if (!x_options.manifest.empty()) {
                const auto phase = x_phases.enter("describe");
                agree_on([&] {
                    if (x_comm.rank() == 0) write_manifest();
                });
            }
            x_target.publish();
        },
        false);
}

void FolderSink::discard() noexcept {
    if (!x_writer) (void)comm::Comm::caught([&] { x_writer = writer(); });
    x_open.clear();
    forget();
    x_target.discard();
}

core::FileReport FolderSink::report() {
    core::FileReport report;
    const bool published = x_target.published();
    report.path = name();
    std::array<std::uint64_t, 3> sums{};
    for (std::size_t i = 0; published && i < x_members.size(); ++i) {
        const fs::path path = name() / x_members[i].file;
        report.parts.push_back(path.string());
        struct stat info {};
        if (!mine(i) || ::stat(path.c_str(), &info) != 0) continue;
        sums[1] += static_cast<std::uint64_t>(info.st_size);
        sums[2] += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    if (published) sums[0] = x_asked;
    x_comm.reduce(sums, comm::Reduce::sum);
    report.bytes_logical = sums[0];
    report.bytes_stored = sums[1];
    report.bytes_allocated = sums[2];
    report.reserved = x_comm.min(std::uint64_t{x_set_aside && x_reserved ? 1U : 0U}) == 1;
    report.reservation = x_set_aside ? "per file: " + x_reservation : "reserve off";
    report.durable = published && x_durable;
    report.data_collective = false;
    report.data_mode = "independent (pwrite, a folder of files)";
    gather_writers(x_comm, x_writer, report);
    return report;
}

/// Counts are by inode, and the number of an inode is used again.
void FolderSink::forget() const noexcept {
    core::IoObserver* observer = core::io_observer();
    if (observer == nullptr) return;
    const auto ignored = comm::Comm::caught([&] {
        for (const core::ObjectId object : x_written)
            observer->forget((x_target.published() ? name() : x_target.part()) /
                             x_members[object].file);
    });
}

}  // namespace

std::unique_ptr<core::Sink> open_folder(const comm::Comm& comm, const core::Target& target,
                                        const FolderOptions& options, core::Phases& phases) {
    return std::make_unique<FolderSink>(comm, target, options, phases);
}

}  // namespace tailrace::formats::split
