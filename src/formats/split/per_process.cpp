// SPDX-License-Identifier: Apache-2.0
#include "formats/split/per_process.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "formats/file/companions.hpp"
#include "formats/file/names.hpp"
#include "formats/file/writers.hpp"
#include "formats/open.hpp"

namespace tailrace::formats::split {

namespace {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

/// Each rank works on its own file; how that ended is agreed on, in the phase of that name.
class Agreed {
public:
    Agreed(const comm::Comm& comm, core::Phases& phases) : x_comm(comm), x_phases(phases) {}
    /// @throws core::Error on all ranks where `work` failed on any  [collective]
    template <class Work>
    void on(Work&& work) {
        agree(comm::Comm::caught(std::forward<Work>(work)));
    }
    void agree(const std::optional<Error>& mine) {
        const auto scope = x_phases.enter("agree");
        x_comm.agree(mine);
    }

private:
    comm::Comm x_comm;
    core::Phases& x_phases;
};

/// A second name for the file of this rank that is going to be replaced, until all are. Of one that
/// is a set of files the others would be missing.
class OlderFile {
public:
    explicit OlderFile(const fs::path& file) : x_file(follow_links(file)), x_kept(x_file) {
        x_kept += ".part.older";
        struct stat info {};
        if (::lstat(x_file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
        if (!companions_of(x_file).empty()) return;
        x_is_kept = ::link(x_file.c_str(), x_kept.c_str()) == 0;
    }
    ~OlderFile() {
        if (x_is_kept) ::unlink(x_kept.c_str());
    }
    OlderFile(const OlderFile&) = delete;
    OlderFile& operator=(const OlderFile&) = delete;
    void put_back() noexcept {
        if (x_is_kept) x_is_kept = ::rename(x_kept.c_str(), x_file.c_str()) != 0;
    }

private:
    fs::path x_file, x_kept;
    bool x_is_kept = false;
};

// No CollectiveSink: that agrees before each write(), and here no rank waits for another until the
// step ends; only what is lost would be shared.
class PerProcessSink final : public core::Sink {
public:
    PerProcessSink(const comm::Comm& comm, core::Target target, const formats::Options& options,
                   core::Phases& phases)
        : x_comm(comm), x_phases(phases), x_agreed(comm, phases), x_path(target.path) {
        target.path = file_of_rank(x_path, comm.rank());
        target.reserve_bytes /= static_cast<std::uint64_t>(comm.size());
        x_agreed.on(
            [&] { x_sink = formats::open_sink(comm::Comm::self(), target, options, phases); });
    }

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_sink->can(); }

    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        refuse_if_lost();
        std::vector<core::ObjectId> ids;
        const auto failed = comm::Comm::caught([&] {
            core::Schema mine = schema;
            std::vector<std::uint64_t> parts;
            for (core::Object& object : mine.objects) {
                std::uint64_t& first = object.dims.at(0).size;
                const auto ranks = static_cast<std::uint64_t>(x_comm.size());
                if (first % ranks != 0)
                    throw Error(Code::bad_input,
                                "it cannot be cut evenly into a file for each rank", object.path,
                                "write a shared file");
                first /= ranks;
                parts.push_back(first);
            }
            if (!x_described)
                mine.attributes.push_back({"/", "file_of_rank",
                                           core::AttributeScalar(std::uint64_t{
                                               static_cast<std::uint64_t>(x_comm.rank())})});
            ids = x_sink->define(mine);
            x_described = true;
            x_parts.insert(x_parts.end(), parts.begin(), parts.end());
        });
        try {
            x_agreed.agree(failed);
        } catch (const Error& error) {  // good where no file has the objects
            if (x_comm.max(std::uint64_t{failed ? 0U : 1U}) != 0) x_lost = error;
            throw;
        }
        return ids;
    }

    void write(std::span<const core::Write> pieces) override {
        refuse_if_lost();
        work([&] {
            std::vector<core::Write> mine(pieces.begin(), pieces.end());
            std::erase_if(mine, [](const core::Write& piece) { return piece.place.empty(); });
            for (core::Write& piece : mine)
                piece.place.offset.at(0) -=
                    x_parts.at(piece.object) * static_cast<std::uint64_t>(x_comm.rank());
            x_sink->write(mine);
        });
    }
    void complete(core::Step step) override {
        refuse_if_lost();
        work([&] { x_sink->complete(step); });
        agree();
    }
    core::Ticket sync(core::Durability durability) override {
        refuse_if_lost();
        work([&] { x_sink->sync(durability).wait(); });
        agree();
        return {};
    }

    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        if (outcome == core::Outcome::publish) {
            refuse_if_lost();
            agree();  // before one of the files replaces an older one
        }
        x_failure.reset();
        core::FileReport mine;
        std::optional<OlderFile> older;
        if (outcome == core::Outcome::publish) older.emplace(file_of_rank(x_path, x_comm.rank()));
        if (!x_removed) work([&] { mine = x_sink->close(outcome); });
        const bool published = !x_failure && older;
        try {
            agree();
        } catch (...) {
            if (published) remove_published(mine);
            if (published) older->put_back();
            x_removed = published;
            throw;
        }
        return core::Pending<core::FileReport>::done(joined(mine));
    }

private:
    void refuse_if_lost() const {
        if (x_lost) throw *x_lost;
    }
    /// Unless an earlier batch of this step has failed on this rank.
    template <class Work>
    void work(Work&& on_my_file) {
        if (!x_failure) x_failure = comm::Comm::caught(std::forward<Work>(on_my_file));
    }
    /// A failure on any rank ends the files of all.
    void agree() {
        try {
            x_agreed.agree(std::exchange(x_failure, std::nullopt));
        } catch (const Error& error) {
            x_lost = error;
            throw;
        }
    }

    /// All files or none.
    static void remove_published(const core::FileReport& report) {
        std::error_code ignored;
        if (!report.path.empty()) std::filesystem::remove(report.path, ignored);
        for (const std::string& part : report.parts) std::filesystem::remove(part, ignored);
    }

    core::FileReport joined(core::FileReport mine) const {
        const auto scope = x_phases.enter("agree");
        core::FileReport all = mine;
        all.path = file_of_rank(x_path, 0);
        all.bytes_logical = x_comm.sum(mine.bytes_logical);
        all.bytes_stored = x_comm.sum(mine.bytes_stored);
        all.bytes_allocated = x_comm.sum(mine.bytes_allocated);
        all.reserved = x_comm.min(std::uint64_t{mine.reserved ? 1U : 0U}) == 1;
        all.durable = x_comm.min(std::uint64_t{mine.durable ? 1U : 0U}) == 1;
        all.parts.clear();
        for (int rank = 1; !mine.parts.empty() && rank < x_comm.size(); ++rank)
            all.parts.push_back(file_of_rank(x_path, rank).string());
        std::optional<core::WriterReport> writer;
        if (mine.writers_measured && !mine.writers.empty()) writer = mine.writers.front();
        if (writer) writer->rank = x_comm.rank();
        all.writers.clear();
        formats::gather_writers(x_comm, writer, all);
        return all;
    }

    comm::Comm x_comm;
    core::Phases& x_phases;
    Agreed x_agreed;
    std::filesystem::path x_path;
    std::unique_ptr<core::Sink> x_sink;
    std::vector<std::uint64_t> x_parts;  ///< extent of a rank along the first dimension
    bool x_described = false;
    std::optional<Error> x_failure;  ///< of this rank in this step
    std::optional<Error> x_lost;     ///< agreed
    bool x_removed = false;          ///< the file of this rank, published while others failed
};

class PerProcessSource final : public core::Source {
public:
    PerProcessSource(const comm::Comm& comm, std::filesystem::path path, formats::Options options,
                     core::Phases& phases)
        : x_comm(comm),
          x_agreed(comm, phases),
          x_path(std::move(path)),
          x_options(std::move(options)),
          x_phases(phases) {
        x_agreed.on([&] { (void)file(x_comm.rank()); });
    }

    core::Schema schema() override {
        core::Schema all;
        x_agreed.on([&] {
            all = file(x_comm.rank()).schema();
            x_parts.clear();
            for (core::Object& object : all.objects) {
                x_parts.push_back(object.dims.at(0).size);
                object.dims[0].size *= static_cast<std::uint64_t>(x_comm.size());
            }
        });
        return all;
    }

    void read(std::span<core::Read> pieces) override {
        x_agreed.on([&] {
            for (const core::Read& piece : pieces)
                if (!piece.place.empty()) read_piece(piece);
        });
    }

private:
    core::Source& file(int rank) {
        std::unique_ptr<core::Source>& source = x_sources[rank];
        if (!source)
            source = formats::open_source(comm::Comm::self(), file_of_rank(x_path, rank), x_options,
                                          x_phases);
        return *source;
    }

    /// File by file: the parts lie behind each other along the slowest dimension, in memory too.
    void read_piece(const core::Read& piece) {
        const std::uint64_t part = x_parts.at(piece.object);
        const std::uint64_t end = piece.place.offset[0] + piece.place.count[0];
        const std::uint64_t layer =
            piece.place.volume() / piece.place.count[0] * core::size_of(piece.type);
        core::Read one = piece;
        for (std::uint64_t at = piece.place.offset[0]; at < end;) {
            const std::uint64_t rank = at / part;
            one.place.offset[0] = at % part;
            one.place.count[0] = std::min(end, (rank + 1) * part) - at;
            file(static_cast<int>(rank)).read(std::span(&one, 1));
            one.data += layer * one.place.count[0];
            at += one.place.count[0];
        }
    }

    comm::Comm x_comm;
    Agreed x_agreed;
    std::filesystem::path x_path;
    formats::Options x_options;
    core::Phases& x_phases;
    std::map<int, std::unique_ptr<core::Source>> x_sources;
    std::vector<std::uint64_t> x_parts;
};

}  // namespace

std::filesystem::path file_of_rank(const std::filesystem::path& path, int rank) {
    return path.parent_path() / ("rank_" + std::to_string(rank) + "_" + path.filename().string());
}

std::unique_ptr<core::Sink> open_sink_per_process(const comm::Comm& comm,
                                                  const core::Target& target,
                                                  const formats::Options& options,
                                                  core::Phases& phases) {
    return std::make_unique<PerProcessSink>(comm, target, options, phases);
}

std::unique_ptr<core::Source> open_source_per_process(const comm::Comm& comm,
                                                      const std::filesystem::path& path,
                                                      const formats::Options& options,
                                                      core::Phases& phases) {
    return std::make_unique<PerProcessSource>(comm, path, options, phases);
}

}  // namespace tailrace::formats::split
