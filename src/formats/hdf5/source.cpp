// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks, in rounds as the Sink writes.
#include <algorithm>
#include <exception>
#include <map>

#include "core/checked.hpp"
#include "formats/hdf5/abandon.hpp"
#include "formats/hdf5/open.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/hdf5/sink.hpp"
#include "formats/mpiio/open_by_all.hpp"
#include "formats/mpiio/read_watch.hpp"

namespace tailrace::formats::hdf5 {

namespace {

using core::Code;
using core::Error;
using core::Read;

/// Why this process cannot read a dataset: a filter that it has not.
std::optional<Error> missing_filter(const h5::Id& creation, const std::string& path) {
    const int count = h5::check(H5Pget_nfilters(creation.get()), "H5Pget_nfilters", path);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const H5Z_filter_t id = H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags,
                                               &values, nullptr, 0, nullptr, &config);
        h5::check(id, "H5Pget_filter2", path);
        if (!h5::filter_available(static_cast<unsigned>(id)))
            return Error(Code::unsupported,
                         "its filter " + std::to_string(id) + " is missing on this rank", path,
                         "install the filter's plugin on all nodes and name its folder in "
                         "HDF5_PLUGIN_PATH");
    }
    return std::nullopt;
}

class Hdf5Source final : public core::Source {
public:
    Hdf5Source(const comm::Comm& comm, const std::filesystem::path& path, const Options& options,
               core::Phases& phases)
        : x_comm(comm),
          x_options(options),
          x_phases(phases),
          x_path(path),
          x_driver(shared_driver(options)) {
        const h5::Quiet quiet;
        x_transfer = transfer_list(together());
        comm.agree(mpiio::why_not_open(path, false));
        comm.agree_on([&] { x_watch.emplace(path); });
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
        if (!x_lost && std::uncaught_exceptions() > x_exceptions) abandon();
        x_datasets.clear();
        x_file = h5::Id();
    }

    core::Schema schema() override {
        core::Schema schema;
        for (const Dataset& dataset : x_datasets) schema.objects.push_back(dataset.object);
        return schema;
    }

    void read(std::span<Read> pieces) override {
        const h5::Quiet quiet;
        if (x_lost) throw Error(*x_lost);
        std::vector<std::vector<Read*>> mine(x_datasets.size());
        std::vector<std::uint64_t> rounds(x_datasets.size());
        {
            const auto scope = x_phases.enter("agree");
            x_comm.agree_on([&] { check_pieces(pieces); });
            for (Read& piece : pieces)
                if (!piece.place.empty()) mine[piece.object].push_back(&piece);
            for (std::size_t i = 0; i < mine.size(); ++i) rounds[i] = mine[i].size();
            x_comm.reduce(rounds, comm::Reduce::max);
        }
        const auto first =
            std::find_if(rounds.begin(), rounds.end(), [](auto n) { return n != 0; });
        std::string where = x_path.string();
        if (first != rounds.end())
            where += ":" + x_datasets[static_cast<std::size_t>(first - rounds.begin())].object.path;
        collective_step("read", "reading", where, [&] { transfer(mine, rounds); });
    }

private:
    struct Dataset {
        core::Object object;
        h5::Id id;
        std::optional<Error> unreadable;
    };

    /// Ends in an agreement on what HDF5 returned and what the system calls of each rank saw; after
    /// a failure the file is not used again.
    template <class Work>
    void collective_step(const char* phase, const std::string& doing, const std::string& where,
                         Work&& work) {
        std::optional<Error> returned;
        {
            const auto scope = x_phases.enter(phase);
            returned = comm::Comm::caught(std::forward<Work>(work));
        }
        const bool data = std::string_view(phase) == "read";
        const auto seen = x_watch->failure(doing, where, data);
        const auto scope = x_phases.enter("agree");
        try {
            x_comm.agree(seen ? seen : returned);
        } catch (const Error& error) {
            x_lost = error;
            // Where HDF5 itself returned an error on some rank, ranks may stand at different
            // places.
            if (x_comm.max(std::uint64_t{returned || !x_watch->holds() ? 1U : 0U}) != 0) abandon();
            throw;
        }
    }

    void abandon() noexcept {
        if (x_driver == Driver::serial) return;  // nobody waits
        if (x_driver == Driver::parallel) redirect_to_memory(x_file);
        for (Dataset& dataset : x_datasets) dataset.id.release();
        x_file.release();
    }

    [[nodiscard]] bool together() const noexcept {
        return x_driver != Driver::serial && x_options.collective;
    }

    /// A rank that failed goes on with nothing, so that the others are not left waiting.
    void transfer(const std::vector<std::vector<Read*>>& mine,
                  const std::vector<std::uint64_t>& rounds) {
        std::optional<Error> failed;
        for (std::size_t i = 0; i < mine.size(); ++i)
            for (std::uint64_t round = 0; round < (together() ? rounds[i] : mine[i].size());
                 ++round) {
                if (failed && !together()) break;
                Read* piece = failed || round >= mine[i].size() ? nullptr : mine[i][round];
                const auto error = comm::Comm::caught([&] { read_one(x_datasets[i], piece); });
                if (!failed) failed = error;
            }
        if (failed) throw Error(*failed);
    }

    void open_datasets() {
        for (const std::string& path : h5::dataset_paths(x_file)) {
            h5::Id id = h5::open_dataset(x_file, path, dataset_access(x_options, x_driver));
            const h5::Id type(H5Dget_type(id.get()), H5Tclose, "H5Dget_type", path);
            const h5::Id space = h5::space_of(id, path);
            core::Object object;
            object.path = path;
            try {
                object.type = h5::scalar_of(type.get(), path);
            } catch (const Error&) {
                continue;  // not ours: text, compounds; the same on all ranks
            }
            core::Extents limits;
            const core::Extents dims = h5::extents_of(space, &limits, path);
            for (std::size_t d = 0; d < dims.size(); ++d)
                object.dims.push_back({dims[d], limits[d] == H5S_UNLIMITED});
            if (!object.dims.empty() && object.dims[0].unlimited) object.kind = core::Kind::record;
            auto unreadable = prepare_chunks(id, space, path);
            x_datasets.push_back({std::move(object), std::move(id), std::move(unreadable)});
        }
    }

    /// What one rank alone could miss in the middle of a collective read, where the others would
    /// wait for it: the filters, and the index of the chunks, which is in memory afterwards.
    [[nodiscard]] std::optional<Error> prepare_chunks(const h5::Id& dataset, const h5::Id& space,
                                                      const std::string& path) const {
        const h5::Id creation = h5::creation_list_of(dataset, path);
        if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return std::nullopt;
        hsize_t chunks = 0;
        if (together())
            h5::check(H5Dget_num_chunks(dataset.get(), space.get(), &chunks), "H5Dget_num_chunks",
                      path);
        return missing_filter(creation, path);
    }

    void check_pieces(std::span<const Read> pieces) const {
        for (const Read& piece : pieces) {
            if (piece.object >= x_datasets.size())
                throw Error(Code::wrong_call,
                            "object " + std::to_string(piece.object) + " is not in the file",
                            x_path.string(), "use an index into schema().objects");
            if (const auto& why = x_datasets[piece.object].unreadable) throw Error(*why);
            const core::Object& object = x_datasets[piece.object].object;
            if (piece.place.rank() != object.dims.size() || !piece.place.inside(object.sizes()))
                throw Error(Code::bad_input, "the box " + piece.place.text() + " reaches outside",
                            object.path, "read inside the extents");
            if (!piece.place.empty() && piece.data == nullptr)
                throw Error(Code::bad_input, "a piece with elements has no memory", object.path,
                            "pass the address of its first element");
        }
    }

    void read_one(const Dataset& dataset, Read* piece) {
        const std::string where = x_path.string() + ":" + dataset.object.path;
        const h5::Id in_file = h5::space_of(dataset.id, where);
        std::byte nothing{};
        h5::Id in_memory;
        if (piece == nullptr) {
            in_memory = h5::scalar_space();
            h5::select_none(in_memory);
            h5::select_none(in_file);
        } else {
            in_memory = h5::simple_space(piece->place.count);
            h5::select(in_file, piece->place);
        }
        h5::check(H5Dread(dataset.id.get(),
                          h5::memory_type(piece != nullptr ? piece->type : dataset.object.type),
                          in_memory.get(), in_file.get(), x_transfer.get(),
                          piece != nullptr ? piece->data : &nothing),
                  "H5Dread", where);
    }

    comm::Comm x_comm;
    Options x_options;
    core::Phases& x_phases;
    std::filesystem::path x_path;
    Driver x_driver;
    std::optional<mpiio::ReadWatch> x_watch;
    h5::Id x_transfer, x_file;
    std::vector<Dataset> x_datasets;
    std::optional<Error> x_lost;  ///< agreed
    int x_exceptions = std::uncaught_exceptions();
};

}  // namespace

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return std::make_unique<Hdf5Sink>(comm, target, options, phases);
}

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    return std::make_unique<Hdf5Source>(comm, path, options, phases);
}

LibraryFacts library_facts() {
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
