// SPDX-License-Identifier: Apache-2.0
// The file and its variables, and what is written to them in rounds that all ranks take together.
#include "formats/netcdf4/sink.hpp"

#include <fcntl.h>

#include "core/io_observer.hpp"
#include "formats/mpiio/open_by_all.hpp"
#include "formats/netcdf4/attributes.hpp"
#include "formats/netcdf4/define.hpp"
#include "formats/netcdf4/filters.hpp"
#include "formats/netcdf4/open.hpp"
#include "formats/sink/pieces.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::netcdf4 {

using core::Code;
using core::Error;
using core::Write;

namespace {

/// Everything that must be equal on all ranks, as text; hints may differ.
std::string shared_text(const Options& options) {
    std::string text;
    const auto add = [&text](auto number) { text += std::to_string(number) + ' '; };
    for (const bool flag : {options.collective, options.never_fill, options.library_chunks,
                            options.unlimited, options.shuffle})
        add(flag);
    for (const int number : {static_cast<int>(options.model), static_cast<int>(options.endian),
                             options.deflate, options.zstd.value_or(0), options.szip ? 1 : 0,
                             static_cast<int>(options.quantize), options.quantize_digits})
        add(number);
    if (options.szip) add(options.szip->pixels_per_block * 2 + options.szip->nearest_neighbour);
    for (const std::uint64_t number :
         {options.alignment_bytes, options.alignment_threshold_bytes, options.metadata_block_bytes})
        add(number);
    for (const hdf5::Filter& filter : options.filters) {
        add(filter.id);
        for (const unsigned value : filter.parameters) add(value);
        text += ';';
    }
    for (const auto& [path, chunk] : options.chunks) {
        text += path + ' ';
        for (const std::uint64_t extent : chunk) add(extent);
    }
    text += text_of(options.storage);
    return text;
}

/// All checks that need no file, on all ranks.
const core::Target& checked(const comm::Comm& comm, const core::Target& target,
                            const Options& options) {
    const hdf5::Silence silence;
    comm.agree_on([&] {
        if (target.existing == core::Existing::append)
            throw Error(Code::unsupported, "appending to an existing netCDF file is not built",
                        target.path.string(), "write a new file, or use existing = replace");
        check_path(target.path);
        check_options(options, comm.size());
    });
    require_same_options(comm, target.path.string(), shared_text(options));
    return target;
}

/// The objects of a schema as the file will have them.
std::vector<core::Object> checked_objects(const Options& options, std::span<const Defined> before,
                                          core::Schema schema) {
    if (!schema.groups.empty())
        throw core::Error(core::Code::unsupported, "groups without variables are not built",
                          schema.groups[0], "put a variable into it, or take format hdf5");
    for (core::Object& object : schema.objects) object = as_stored(object, options);
    if (options.model == DataModel::cdf5) check_cdf5(schema, before);
    check_objects(
        list_of(before), schema, [&](const core::Object& one) { check_object(one, options); },
        check_attribute);
    return std::move(schema.objects);
}

}  // namespace

Sink::Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
           core::Phases& phases)
    : FileSink(comm, checked(comm, target, options), phases, Reserve::after_create),
      x_options(options),
      x_parallel(mpiio::mpi_running() && !options.serial),
      x_defining(!options.append) {
    const hdf5::Silence silence;
    x_can.records = true;
    x_can.filters = true;
    x_can.independent = !options.collective;
    x_target.hold_errors(true);
    create_file();
}

Sink::~Sink() { discard_if_open(); }

void Sink::create_file() {
    const std::string name = x_target.path().string();
    mpiio::try_to_open(x_comm, x_phases, x_target.part(), "create");
    collective_step("create", "creating " + name, [&] {
        std::optional<comm::ErrorsReturn> guard;
        if (x_parallel) guard.emplace();
        const mpiio::Info info(x_parallel ? x_options.hints : Hints{});
        const nc::Creation creation{x_options.model, x_options.alignment_bytes,
                                    x_options.alignment_threshold_bytes,
                                    x_options.metadata_block_bytes};
        const auto before = hdf5::open_files();
        try {
            x_file =
                mpiio::open_by_all(x_comm, nc::literal(x_target.part()), [&](const auto& path) {
                    if (x_options.append) return nc::reopen(path);
                    return nc::create(path, creation, x_parallel,
                                      x_parallel ? comm::native(x_comm) : MPI_COMM_NULL,
                                      info.get());
                });
        } catch (const core::Error&) {
            if (!x_parallel) x_not_created = ::open(x_target.part().c_str(), O_RDWR | O_CLOEXEC);
            throw;
        }
        x_beneath = hdf5::Beneath(before);
    });
    x_target.reserve_after_create();
}

void Sink::check(const core::Schema& schema) const {
    const hdf5::Silence silence;
    (void)checked_objects(x_options, x_objects, schema);
}

void Sink::create(const core::Schema& schema) {
    const hdf5::Silence silence;
    std::vector<core::Object> objects = schema.objects;
    for (core::Object& object : objects) object = as_stored(object, x_options);
    const std::size_t first = x_objects.size();
    // What is defined is noted by each rank, and written at the end by all: in between they agree,
    // so that none is left waiting for one that could not note it.
    const std::string doing = "defining the variables of " + x_target.path().string();
    collective_step("define", doing, [&] {
        if (x_options.append)
            find_definitions(objects, schema.attributes);
        else
            add_definitions(objects, schema.attributes);
    });
    collective_step("define", doing, [&] { end_definitions(first); });
}

void Sink::add_definitions(const std::vector<core::Object>& objects,
                           const std::vector<core::Attribute>& attributes) {
    const std::string name = x_target.path().string();
    for (const core::Object& object : objects) {
        core::Extents dims = object.sizes();
        x_objects.push_back({object, dims});
    }
    if (!x_defining) nc::check(nc_redef(x_file.get()), "nc_redef", name);
    // Dimensions stand in the root group, where they meet the names of objects.
    for (const core::Object& object : objects)
        x_variables.push_back(define_variable(x_file, object, x_options, x_objects));
    // By all ranks, here: to open the finished file once more costs netCDF a read of 4 MiB.
    for (const core::Attribute& attribute : attributes)
        put_attribute(x_file, attribute, x_options.model);
}

void Sink::find_definitions(const std::vector<core::Object>& objects,
                            const std::vector<core::Attribute>& attributes) {
    for (const core::Object& object : objects) {
        x_objects.push_back({object, object.sizes()});
        x_variables.push_back(found_variable(x_file, object, x_options, x_target.path()));
    }
    for (const core::Attribute& attribute : attributes)
        if (attribute.object != "/")
            check_same_attribute(x_file, attribute, x_options.model, x_target.path());
}

void Sink::end_definitions(std::size_t first) {
    const std::string name = x_target.path().string();
    if (!x_options.append) nc::check(nc_enddef(x_file.get()), "nc_enddef", name);
    x_defining = false;
    for (std::size_t i = first; i < x_objects.size(); ++i) {
        const core::Object& object = x_objects[i].object;
        if (x_parallel) nc::set_access(x_variables[i], together(i), object.path);
        // netCDF begins an unlimited dimension with no records.
        if (x_beneath && grows(object) && object.bytes() != 0)
            x_beneath.set_extent(object.path, x_objects[i].dims);
    }
}

bool Sink::together(std::size_t object) const {
    const core::Object& one = x_objects[object].object;
    // netCDF takes filters for collective writes only, also of one rank alone.
    return x_parallel && !one.dims.empty() &&
           (x_options.collective || x_options.filtered(one.path));
}

std::vector<std::string> Sink::paths() const {
    std::vector<std::string> all;
    for (const Defined& defined : x_objects) all.push_back(defined.object.path);
    return all;
}

Needs Sink::needs(std::span<const Write> pieces) {
    return batch_needs(list_of(x_objects), pieces, x_target.path().string());
}

void Sink::transfer(std::span<const Write> pieces, std::span<const std::uint64_t> agreed) {
    const hdf5::Silence silence;
    const Batch batch = batch_of(list_of(x_objects), pieces, agreed);
    grow(batch);
    for (std::size_t i = 0; i < x_objects.size(); ++i) transfer_object(i, batch);
}

/// Of a variable while pieces of it are written.
constexpr std::size_t kept_bytes = std::size_t{64} << 20;

/// A rank that failed stays in step, with nothing to write.
void Sink::transfer_object(std::size_t i, const Batch& batch) {
    const auto& mine = batch.mine[i];
    const bool all = together(i);
    const core::Object& object = x_objects[i].object;
    const bool keeps = !x_parallel && mine.size() > 1 && x_options.filtered(object.path);
    if (keeps) guarded([&] { keep_chunks(x_variables[i], object, x_options, kept_bytes); });
    const std::uint64_t rounds = all ? batch.rounds[i] : mine.size();
    for (std::uint64_t round = 0; round < rounds && (all || !failed()); ++round) {
        const Write* piece = round < mine.size() && !failed() ? mine[round] : nullptr;
        guarded([&] { transfer_one(i, piece); });
    }
    if (keeps) guarded([&] { keep_chunks(x_variables[i], object, x_options, 1); });
}

// Collective writes make an unlimited dimension longer themselves, and so do those of one process;
// independent ones cannot, so that all ranks do it before, in HDF5.
void Sink::grow(const Batch& batch) {
    for (std::size_t i = 0; i < x_objects.size(); ++i) {
        if (batch.extents[i] == x_objects[i].dims) continue;
        if (x_beneath && x_parallel && !together(i))  // collective: also on a rank that has failed
            guarded([&] { x_beneath.set_extent(x_objects[i].object.path, batch.extents[i]); });
        x_objects[i].dims = batch.extents[i];
    }
}

const std::byte* Sink::memory_of(const Write& piece) {
    const PartInMemory part(piece.place, piece.place, piece.memory);
    const std::uint64_t element_bytes = core::size_of(piece.type);
    if (part.contiguous()) return piece.data + part.first_element() * element_bytes;
    x_packed.resize(piece.place.volume() * element_bytes);
    part.pack(piece.data, element_bytes, x_packed.data());
    return x_packed.data();
}

void Sink::transfer_one(std::size_t i, const Write* piece) {
    const core::Object& object = x_objects[i].object;
    const std::string where = x_target.path().string() + ":" + object.path;
    const std::byte* data = nullptr;
    std::optional<Error> failed;
    if (piece != nullptr) failed = comm::Comm::caught([&] { data = memory_of(*piece); });
    if (piece != nullptr && !failed) {
        x_bytes_asked += piece->place.volume() * core::size_of(object.type);
        return nc::put(x_variables[i], piece->place, piece->type, data, where);
    }
    // With nothing, where the others wait for it.
    const core::Extents none(object.dims.size(), 0);
    if (!failed || together(i)) nc::put(x_variables[i], {none, none}, object.type, nullptr, where);
    if (failed) throw Error(*failed);
}

void Sink::flush() {
    const hdf5::Silence silence;
    const std::string name = x_target.path().string();
    collective_step("flush", "flushing " + name, [&] {
        if (!x_defining) nc::check(nc_sync(x_file.get()), "nc_sync", name);
    });
}

std::unique_ptr<core::Sink> open_sink(const comm::Comm& comm, const core::Target& target,
                                      const Options& options, core::Phases& phases) {
    return in_turns(comm, target.path, [&]() -> std::unique_ptr<core::Sink> {
        return std::make_unique<Sink>(comm, target, options, phases);
    });
}

void check_path(const std::filesystem::path& path) {
    if (path.string().find('\\') != std::string::npos)
        throw Error(Code::bad_input, "netCDF takes the backslash of a name for a folder's /",
                    path.string(), "choose a name without a backslash");
}

void check(const Options& options, int ranks) {
    const Turn turn;
    check_options(options, ranks);
}

void check_schema(const Options& options, const core::Schema& schema) {
    const Turn turn;
    const hdf5::Silence silence;
    (void)checked_objects(options, {}, schema);
}

}  // namespace tailrace::formats::netcdf4
