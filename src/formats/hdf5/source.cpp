// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks, in rounds as the Sink writes.
#include <algorithm>
#include <map>

#include "formats/hdf5/abandon.hpp"
#include "formats/hdf5/elements.hpp"
#include "formats/hdf5/encoding_sink.hpp"
#include "formats/hdf5/open.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/hdf5/readable.hpp"
#include "formats/hdf5/sink.hpp"
#include "formats/hdf5/united.hpp"
#include "formats/mpiio/open_by_all.hpp"
#include "formats/mpiio/watched_source.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Read;

/// Where pieces are to be united it does not matter which way their values go.
struct AsWrites {
    explicit AsWrites(std::span<Read* const> reads) {
        pieces.reserve(reads.size());
        for (const Read* read : reads)
            list.push_back(&pieces.emplace_back(core::Write{.object = read->object,
                                                            .place = read->place,
                                                            .data = read->data,
                                                            .memory = read->memory,
                                                            .type = read->type}));
    }
    std::vector<core::Write> pieces;
    std::vector<const core::Write*> list;
};

Uniting layout_of(const h5::Id& dataset, const std::string& path) {
    const h5::Id creation = h5::creation_list_of(dataset, path);
    Uniting layout{united_bytes};
    if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return layout;
    layout.chunk = h5::chunk_of(creation, path);
    layout.filtered = h5::check(H5Pget_nfilters(creation.get()), "H5Pget_nfilters", path) > 0;
    return layout;
}

class Hdf5Source final : public mpiio::WatchedSource {
public:
    Hdf5Source(const comm::Comm& comm, const std::filesystem::path& path, const Options& options,
               core::Phases& phases)
        : WatchedSource(comm, path, phases), x_options(options), x_driver(shared_driver(options)) {
        const h5::Quiet quiet;
        x_transfer = transfer_list(all_together());
        x_conversion.serve(x_transfer);
        begin_watch();
        collective_step("open_file", "opening", path.string(), [&] {
            const h5::Id access = file_access(options, comm, x_driver);
            x_file = mpiio::open_by_all(
                comm, path, [&](const auto& name) { return h5::open_file(name, false, access); });
        });
        collective_step("open_dataset", "opening the datasets", path.string(),
                        [&] { open_datasets(); });
    }

    // Closing is collective. An exception that is not the agreed one may pass on this rank alone.
    ~Hdf5Source() override {
        const h5::Quiet quiet;
        if (passing_alone()) abandon();
        x_ids.clear();
        x_file = h5::Id();
    }

    void read(std::span<Read> pieces) override {
        const h5::Quiet quiet;
        WatchedSource::read(pieces);
    }

private:
    void abandon() noexcept override {
        if (x_driver == Driver::serial) return;  // nobody waits
        if (x_driver == Driver::parallel) redirect_to_memory(x_file);
        for (h5::Id& id : x_ids) id.release();
        x_file.release();
    }

    [[nodiscard]] bool all_together() const noexcept {
        return x_driver != Driver::serial && x_options.collective;
    }
    [[nodiscard]] bool together(std::size_t) const noexcept override { return all_together(); }

    void open_datasets() {
        for (const std::string& path : h5::dataset_paths(x_file)) {
            h5::Id id = h5::open_dataset(x_file, path, dataset_access(x_options, x_driver));
            const h5::Id type(H5Dget_type(id.get()), H5Tclose, "H5Dget_type", path);
            const h5::Id space = h5::space_of(id, path);
            const auto element = element_of(type.get(), path);
            const bool empty = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
            // Not ours: text, other compounds; the same on all ranks.
            if (!element || empty) continue;
            core::Object object = *element;
            object.path = path;
            core::Extents limits;
            const core::Extents dims = h5::extents_of(space, &limits, path);
            for (std::size_t d = 0; d < dims.size(); ++d)
                object.dims.push_back({dims[d], limits[d] == H5S_UNLIMITED});
            if (!object.members.empty()) object.dims.push_back({object.members.size(), false});
            if (!object.dims.empty() && object.dims[0].unlimited) object.kind = core::Kind::record;
            auto [why_not, whole_chunk] = prepare_to_read(id, path, all_together());
            x_entries.push_back({std::move(object), std::move(why_not), std::move(whole_chunk)});
            x_layouts.push_back(layout_of(id, path));
            x_ids.push_back(std::move(id));
        }
    }

    // A united piece is read as the file has it; where numbers are converted each has a call.
    [[nodiscard]] std::vector<std::size_t> calls_for(std::size_t i,
                                                     std::span<Read* const> pieces) const override {
        const core::Object& object = x_entries[i].object;
        const bool converts = object.members.empty() &&
                              std::any_of(pieces.begin(), pieces.end(), [&](const Read* piece) {
                                  return piece->type != object.type;
                              });
        if (!all_together() || converts || pieces.size() < 2)
            return WatchedSource::calls_for(i, pieces);
        std::vector<std::size_t> calls;
        const AsWrites writes(pieces);
        for (const Group& group : groups_of(object, writes.list, x_layouts[i]))
            calls.push_back(group.pieces.size());
        return calls;
    }

    void read_call(std::size_t i, std::span<Read* const> pieces) override {
        const core::Object& object = x_entries[i].object;
        const std::string where = x_path.string() + ":" + object.path;
        h5::Id space = h5::space_of(x_ids[i], where);
        const auto read = [&](const Selected& what, std::byte* to) {
            h5::check(H5Dread(x_ids[i].get(), what.type.get(), what.in_memory.get(),
                              what.in_file.get(), x_transfer.get(), to),
                      "H5Dread", where);
        };
        if (pieces.size() == 1) {
            const Read& piece = *pieces.front();
            return read(selected(object, piece.type, piece.place, piece.memory, std::move(space)),
                        piece.data);
        }
        United united;
        const auto failed = comm::Comm::caught([&] {
            if (pieces.empty()) return;
            const AsWrites writes(pieces);
            const Group group = groups_of(object, writes.list, x_layouts[i]).front();
            united = united_places(object, object.sizes(), group, std::move(space));
        });
        if (failed || pieces.empty()) {  // with nothing, where the others wait for it
            std::byte nothing{};
            read(selected_nothing(object, h5::space_of(x_ids[i], where)), &nothing);
            if (failed) throw core::Error(*failed);
            return;
        }
        read(united.selected, united.values.get());
        hand_out(object, united, pieces);
    }

    Options x_options;
    Driver x_driver;
    ConversionMemory x_conversion;
    h5::Id x_transfer, x_file;
    std::vector<h5::Id> x_ids;       ///< of x_entries
    std::vector<Uniting> x_layouts;  ///< of x_entries
};

}  // namespace

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return in_turns(comm, target.path, [&]() -> std::unique_ptr<core::Sink> {
        const h5::Quiet quiet;
        check_opening(comm, target, options);
        if (options.encode_on_ranks)
            return std::make_unique<EncodingSink>(comm, target, options, phases);
        return std::make_unique<Hdf5Sink>(comm, target, options, phases);
    });
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    Options plain = options;
    if (options.reassemble) plain.subfiles = 0;
    return in_turns(comm, path, [&]() -> std::unique_ptr<core::Source> {
        return std::make_unique<Hdf5Source>(comm, path, plain, phases);
    });
}

LibraryFacts library_facts() {
    const Turn turn;
    const h5::Quiet quiet;
    LibraryFacts facts;
    facts.version = h5::library_version();
#ifdef H5_HAVE_PARALLEL
    facts.parallel = true;
#endif
#ifdef H5_HAVE_SUBFILING_VFD
    facts.subfiling = true;
#endif
    facts.deflate = h5::filter_available(H5Z_FILTER_DEFLATE);
    const std::map<unsigned, std::string> known{
        {1, "deflate"}, {2, "shuffle"},  {4, "szip"},   {32001, "blosc"}, {32004, "lz4"},
        {32013, "zfp"}, {32015, "zstd"}, {32017, "sz"}, {32026, "blosc2"}};
    for (const auto& [id, name] : known)
        if (h5::filter_available(id))
            facts.filters.push_back(name + " (" + std::to_string(id) + ")");
    return facts;
}

}  // namespace tailrace::formats::hdf5
