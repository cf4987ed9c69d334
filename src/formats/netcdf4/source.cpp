// SPDX-License-Identifier: Apache-2.0
// Reading by all ranks, in rounds as the Sink writes.
#include "formats/hdf5/beneath.hpp"
#include "formats/mpiio/open_by_all.hpp"
#include "formats/mpiio/watched_source.hpp"
#include "formats/netcdf4/nc.hpp"
#include "formats/netcdf4/open.hpp"
#include "formats/sink/pieces.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::netcdf4 {

namespace {

using core::Read;

std::string name_of_group(int group, const std::string& where) {
    std::size_t length = 0;
    nc::check(nc_inq_grpname_full(group, &length, nullptr), "nc_inq_grpname_full", where);
    std::string name(length, ' ');
    nc::check(nc_inq_grpname_full(group, &length, name.data()), "nc_inq_grpname_full", where);
    return name == "/" ? "" : name;
}

class Source final : public mpiio::WatchedSource {
public:
    Source(const comm::Comm& comm, const std::filesystem::path& path, const Options& options,
           core::Phases& phases)
        : WatchedSource(comm, path, phases),
          x_options(options),
          x_parallel(mpiio::mpi_running() && !options.serial) {
        const hdf5::Silence silence;
        begin_watch();
        collective_step("open_file", "opening", path.string(), [&] { open(); });
        collective_step("open_dataset", "opening the variables", path.string(), [&] {
            take_group(x_file.get());
            prepare();
        });
    }

    // Closing is collective. An exception that is not the agreed one may pass on this rank alone.
    ~Source() override {
        const hdf5::Silence silence;
        if (passing_alone()) abandon();
        x_file = nc::File();
    }

    void read(std::span<Read> pieces) override {
        const hdf5::Silence silence;
        WatchedSource::read(pieces);
    }

private:
    void open() {
        std::optional<comm::ErrorsReturn> guard;
        if (x_parallel) guard.emplace();
        const mpiio::Info info(x_parallel ? x_options.hints : Hints{});
        const auto before = hdf5::open_files();
        x_file = mpiio::open_by_all(x_comm, nc::literal(x_path), [&](const auto& name) {
            return nc::open(name, x_parallel, x_parallel ? comm::native(x_comm) : MPI_COMM_NULL,
                            info.get());
        });
        x_beneath = hdf5::Beneath(before);
    }

    /// The variables of a group and of those in it.
    void take_group(int group) {
        const std::string where = x_path.string();
        const std::string prefix = name_of_group(group, where) + "/";
        int count = 0;
        nc::check(nc_inq_varids(group, &count, nullptr), "nc_inq_varids", where);
        std::vector<int> ids(static_cast<std::size_t>(count));
        nc::check(nc_inq_varids(group, &count, ids.data()), "nc_inq_varids", where);
        for (const int id : ids) take_variable({group, id}, prefix);
        nc::check(nc_inq_grps(group, &count, nullptr), "nc_inq_grps", where);
        std::vector<int> groups(static_cast<std::size_t>(count));
        nc::check(nc_inq_grps(group, &count, groups.data()), "nc_inq_grps", where);
        for (const int inner : groups) take_group(inner);
    }

    void take_variable(nc::Variable variable, const std::string& prefix) {
        char name[NC_MAX_NAME + 1] = {};
        nc_type type = NC_NAT;
        int rank = 0;
        nc::check(nc_inq_var(variable.group, variable.id, name, &type, &rank, nullptr, nullptr),
                  "nc_inq_var", prefix);
        core::Object object;
        object.path = prefix + name;
        object.text = variable.text = type == NC_CHAR;
        if (object.text)
            object.type = core::Scalar::i8;
        else if (!nc::scalar_of(type, object.type))
            return;  // strings, compounds; the same on all ranks
        std::vector<int> ids(static_cast<std::size_t>(rank));
        nc::check(nc_inq_vardimid(variable.group, variable.id, ids.data()), "nc_inq_vardimid",
                  object.path);
        for (const int id : ids) take_dimension(variable.group, id, object);
        if (!object.dims.empty() && object.dims[0].unlimited) object.kind = core::Kind::record;
        if (x_parallel) nc::set_access(variable, x_options.collective, object.path);
        x_variables.push_back(variable);
        x_entries.push_back({std::move(object), std::nullopt, {}});
    }

    void take_dimension(int group, int id, core::Object& object) const {
        char name[NC_MAX_NAME + 1] = {};
        std::size_t size = 0;
        int count = 0;
        nc::check(nc_inq_dim(group, id, name, &size), "nc_inq_dim", object.path);
        // Unlimited ones are told per group: those of all groups on the way are asked.
        bool unlimited = false;
        for (int at = group;;) {
            nc::check(nc_inq_unlimdims(at, &count, nullptr), "nc_inq_unlimdims", object.path);
            std::vector<int> ids(static_cast<std::size_t>(count));
            nc::check(nc_inq_unlimdims(at, &count, ids.data()), "nc_inq_unlimdims", object.path);
            for (const int one : ids) unlimited = unlimited || one == id;
            if (nc_inq_grp_parent(at, &at) != NC_NOERR) break;
        }
        object.dims.push_back({size, unlimited});
        object.axes.emplace_back(name);
    }

    /// What one rank alone could miss in the middle of a collective read, where the others would
    /// wait for it.
    void prepare() {
        if (!x_beneath) return;  // CDF-5
        for (Entry& entry : x_entries) {
            auto [why_not, whole_chunk] =
                x_beneath.prepare_to_read(entry.object.path, x_parallel && x_options.collective);
            entry.unreadable = std::move(why_not);
            entry.whole_chunk = std::move(whole_chunk);
        }
    }

    [[nodiscard]] bool together(std::size_t object) const noexcept override {
        return x_parallel && x_options.collective && !x_entries[object].object.dims.empty();
    }

    void read_call(std::size_t i, std::span<Read* const> pieces) override {
        const core::Object& object = x_entries[i].object;
        const std::string where = x_path.string() + ":" + object.path;
        if (pieces.empty()) {
            const core::Extents none(object.dims.size(), 0);
            nc::get(x_variables[i], {none, none}, object.type, nullptr, where);
            return;
        }
        const Read* piece = pieces.front();
        const PartInMemory part(piece->place, piece->place, piece->memory);
        const std::uint64_t element_bytes = core::size_of(piece->type);
        if (part.contiguous()) {
            nc::get(x_variables[i], piece->place, piece->type,
                    piece->data + part.first_element() * element_bytes, where);
            return;
        }
        const auto failed =
            comm::Comm::caught([&] { x_packed.resize(piece->place.volume() * element_bytes); });
        if (failed) {
            // With nothing, where the others wait for it.
            const core::Extents none(object.dims.size(), 0);
            if (together(i)) nc::get(x_variables[i], {none, none}, object.type, nullptr, where);
            throw core::Error(*failed);
        }
        nc::get(x_variables[i], piece->place, piece->type, x_packed.data(), where);
        part.unpack(x_packed.data(), element_bytes, piece->data);
    }

    void abandon() noexcept override {
        if (!x_parallel) return;  // nobody waits
        x_beneath.redirect_to_memory();
        x_file.release();
    }

    Options x_options;
    bool x_parallel;
    hdf5::Beneath x_beneath;
    nc::File x_file;
    std::vector<nc::Variable> x_variables;
    std::vector<std::byte> x_packed;
};

}  // namespace

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    return in_turns(comm, path, [&]() -> std::unique_ptr<core::Source> {
        return std::make_unique<Source>(comm, path, options, phases);
    });
}

}  // namespace tailrace::formats::netcdf4
