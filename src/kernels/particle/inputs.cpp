// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/inputs.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "formats/keys.hpp"

namespace tailrace::kernels::particle {

using core::Code;
using core::Config;
using core::Error;

namespace {

constexpr std::uint64_t most_blocks = 1000000;  // a piece of its own each, in every variable
constexpr const char* dim_keys[] = {"dim_1", "dim_2", "dim_3"};
constexpr const char* chunk_keys[] = {"chunk_dim_1", "chunk_dim_2", "chunk_dim_3"};

Error missing(const Config& config, const char* asking, const char* key) {
    return {Code::missing_key,
            std::string(asking) + " " + config.text(asking) + " needs " + key +
                ", which is not "
                "given",
            config.place(asking), std::string("add the line `") + key + " N`"};
}

std::uint64_t needed(const Config& config, const char* asking, const char* key) {
    if (!config.has(key)) throw missing(config, asking, key);
    return config.number(key);
}

Blocks blocks_of(const Config& config, const char* asking, std::uint64_t particles) {
    if (config.number("num_dims") != 1)
        throw config.error(asking, std::string(asking) + " strided needs one dimension",
                           "take num_dims 1, as h5bench does");
    const Blocks blocks{needed(config, asking, "stride_size"), needed(config, asking, "block_size"),
                        needed(config, asking, "block_cnt")};
    if (blocks.stride < blocks.size)
        throw config.error("stride_size",
                           "blocks of " + std::to_string(blocks.size) +
                               " particles overlap at a stride_size of " +
                               std::to_string(blocks.stride),
                           "stride_size leads from one block to the next: at least block_size");
    const bool fits = blocks.size <= particles && blocks.count >= 1 &&
                      (blocks.count - 1) <= (particles - blocks.size) / blocks.stride;
    if (!fits)
        throw config.error("block_cnt",
                           std::to_string(blocks.count) + " blocks of " +
                               std::to_string(blocks.size) + " particles, " +
                               std::to_string(blocks.stride) + " apart, do not fit the dim_1 of " +
                               std::to_string(particles),
                           "(block_cnt - 1) stride_size + block_size must be at most dim_1");
    if (blocks.stride > blocks.size && blocks.count > most_blocks)
        throw config.error("block_cnt", "more than " + std::to_string(most_blocks) + " blocks",
                           "choose fewer and larger blocks");
    return blocks;
}

Geometry geometry_of(const Config& config, std::uint64_t ranks) {
    Geometry geometry;
    geometry.ranks = ranks;
    const std::uint64_t count = config.number("num_dims");
    core::Extents factors{ranks, config.number("timesteps"), particle_bytes};
    for (std::uint64_t d = 0; d < 3; ++d) {
        const std::uint64_t extent = config.number(dim_keys[d]);
        if (d < count)
            geometry.per_rank.push_back(extent);
        else if (extent != 1)
            throw config.error(dim_keys[d],
                               std::string(dim_keys[d]) + " is " + std::to_string(extent) +
                                   ", but num_dims is " + std::to_string(count),
                               std::string("set num_dims, or take ") + dim_keys[d] + " away");
        factors.push_back(extent);
    }
    if (runner::product(config, "dim_1", factors) > runner::largest_file_bytes)
        throw config.error("dim_1",
                           "particles of " + runner::by_x(geometry.per_rank) + " on " +
                               std::to_string(ranks) +
                               " ranks make a file larger than any can be (2^63 bytes)",
                           "make dim_1 smaller");
    const std::uint64_t particles = geometry.particles_per_rank();
    if (config.has("num_particles") && config.number("num_particles") != particles)
        throw config.error("num_particles",
                           "num_particles is " + std::to_string(config.number("num_particles")) +
                               ", but " + runner::by_x(geometry.per_rank) + " particles are " +
                               std::to_string(particles),
                           "take num_particles away: dim_1, dim_2 and dim_3 say it");
    if (config.text("file_pattern") == "strided")
        geometry.blocks = blocks_of(config, "file_pattern", geometry.per_rank.front());
    return geometry;
}

Layout layout_of(const Config& config, std::uint64_t ranks) {
    Layout layout;
    layout.geometry = geometry_of(config, ranks);
    const auto pattern = [&](const char* key) {
        return config.text(key) == "interleaved" ? Pattern::interleaved : Pattern::contig;
    };
    layout.memory = pattern("mem_pattern");
    layout.file = pattern("file_pattern");
    const bool interleaved =
        layout.memory == Pattern::interleaved || layout.file == Pattern::interleaved;
    if (interleaved && config.number("num_dims") == 3)
        throw config.error("num_dims", "interleaved particles have one or two dimensions",
                           "take num_dims 1 or 2, as h5bench does, or contig patterns");
    if (layout.memory == Pattern::interleaved && layout.geometry.blocks)
        throw config.error("mem_pattern", "interleaved memory and file_pattern strided",
                           "take mem_pattern contig, as h5bench does");
    return layout;
}

bool is_yes(const Config& config, const char* key) {
    return config.has(key) && config.text(key) == "yes";
}

/// Of the two names of one thing the one from the source of higher precedence holds: a word on the
/// command line overrides the file. True where that is ours, which makes theirs go.
bool ours_holds(Config& config, const char* theirs, const char* ours) {
    if (!config.given(ours) || config.source(ours) == config.source(theirs)) return false;
    const bool holds = config.source(ours) > config.source(theirs);
    config.forget(holds ? theirs : ours);
    return holds;
}

/// A flag of ours that a yes or no of h5bench stands for.
void take_flag(Config& config, const char* theirs, const char* ours) {
    if (!config.has(theirs) || ours_holds(config, theirs, ours)) return;
    const bool yes = is_yes(config, theirs);
    if (config.given(ours) && config.flag(ours) != yes)
        throw config.error(theirs,
                           std::string(theirs) + " " + config.text(theirs) + " contradicts " +
                               ours + " (" + config.place(ours) + ")",
                           "keep one of the two");
    if (!config.given(ours)) config.derive(ours, yes ? "1" : "0", config.place(theirs));
}

/// Not both names of the same thing.
void refuse_both(const Config& config, const char* theirs, const char* ours) {
    if (config.given(ours))
        throw config.error(theirs,
                           std::string(theirs) + " and " + ours + " (" + config.place(ours) +
                               ") are two names for one thing",
                           "keep one of the two");
}

void take_alignment(Config& config) {
    if (!is_yes(config, "align") || ours_holds(config, "align", "alignment")) return;
    refuse_both(config, "align", "alignment");
    const std::uint64_t bytes = needed(config, "align", "align_len");
    const bool has_threshold =
        config.text("format") == "hdf5" || config.text("format") == "netcdf4";
    std::string text = std::to_string(bytes);
    if (has_threshold && config.has("align_threshold"))
        text += " " + std::to_string(config.number("align_threshold"));
    config.derive("alignment", text, config.place("align"));
}

void take_compression(Config& config, std::vector<std::string>& notes) {
    if (!is_yes(config, "compress") || ours_holds(config, "compress", "deflate")) return;
    refuse_both(config, "compress", "deflate");
    if (!formats::in_use(config, "deflate"))
        throw config.error("compress",
                           "compress has no meaning for format " + config.text("format"),
                           "take it away, or choose format hdf5 or netcdf4");
    config.derive("deflate", "9", config.place("compress"));
    if (config.flag("collective_write")) return;
    if (config.given("collective_data") || config.given("collective_write"))
        notes.push_back("compress makes the writes collective, as in h5bench");
    config.derive("collective_write", "1", config.place("compress"));
}

void take_computation(Config& config) {
    constexpr const char* name = "emulated_compute_time_per_timestep";
    if (!config.has(name) || ours_holds(config, name, "compute")) return;
    refuse_both(config, name, "compute");
    const core::Words& words = config.words(name);
    const std::string unit = words.size() > 1 ? words[1] : "s";
    double scale = 1;
    if (unit == "min")
        scale = 60;
    else if (unit == "ms")
        scale = 1e-3;
    else if (unit == "us")
        scale = 1e-6;
    else if (unit != "s" && unit != "sec")
        throw config.error(name, core::in_quotes(unit) + " is no unit of time",
                           "write `1 s`; known are min, s, ms and us");
    std::string why;
    const auto number = core::parse_real(words[0], why);
    if (!number)
        throw config.error(name, core::in_quotes(words[0]) + " " + why, "write `1 s`, for example");
    config.derive("compute", std::to_string(*number * scale) + " idle", config.place(name));
}

/// Each time step is a group.
void refuse_classic_netcdf(const Config& config) {
    if (config.text("format") == "pnetcdf")
        throw config.error("format", "the time steps are groups, and classic netCDF has no groups",
                           "take format netcdf4 or hdf5");
}

/// h5bench's names become ours, and what has no effect is said.
void take_names(Inputs& inputs) {
    Config& config = inputs.config;
    refuse_classic_netcdf(config);
    take_flag(config, "collective_data", "collective_write");
    take_flag(config, "collective_metadata", "set_collective_metadata");
    if (formats::in_use(config,
                        "collective_metadata_write"))  // h5bench asks for both, reads and writes
        take_flag(config, "collective_metadata", "collective_metadata_write");
    take_alignment(config);
    take_compression(config, inputs.notes);
    take_computation(config);
    if (is_yes(config, "subfiling"))
        throw config.error("subfiling", "subfiling does not say how many subfiles",
                           "use `subfile N` instead, with the number of writers");
    for (const char* name : {"delayed_close_timesteps", "io_mem_limit", "env_metadata_file",
                             "stride_size_2", "stride_size_3", "block_size_2", "block_size_3"})
        if (config.given(name) && !(config.place(name).empty()))
            inputs.notes.push_back(std::string(name) +
                                   " has no effect: " + config.table().find(name)->help);
}

void put_chunks(Inputs& inputs) {
    const Config& config = inputs.config;
    const std::size_t dims = inputs.layout.geometry.per_rank.size();
    if (!inputs.options.facts().needs_chunks) {
        if (config.has("chunk_dim_1"))
            inputs.notes.emplace_back(
                "chunk_dim_1 has no effect without compression, as in h5bench");
        return;
    }
    core::Extents chunk;
    const Geometry& geometry = inputs.layout.geometry;
    const core::Extents all = inputs.file_per_process ? geometry.per_rank : geometry.dims();
    for (std::size_t d = 0; d < dims; ++d) {
        if (!config.has(chunk_keys[d]))
            throw Error(
                Code::missing_key,
                std::string("compression works on chunks, but there is no ") + chunk_keys[d],
                config.place(config.given("encode") ? "encode" : "compress"),
                std::string("add the line `") + chunk_keys[d] + " N`");
        chunk.push_back(config.number(chunk_keys[d]));
        if (chunk.back() > all[d])
            throw config.error(chunk_keys[d],
                               std::string(chunk_keys[d]) + " is " + std::to_string(chunk.back()) +
                                   ", but the file has " + std::to_string(all[d]),
                               "choose a smaller one; the part of a rank is a good one");
    }
    if (inputs.layout.file == Pattern::interleaved) chunk.push_back(variables.size());
    inputs.chunk = chunk;
    for (std::size_t i = 0; i < inputs.steps * inputs.layout.objects_per_step(); ++i)
        inputs.options.set_chunk(inputs.layout.path(i), chunk);
}

/// In HDF5 interleaved particles are compounds, and h5bench writes one variable after the other
/// into them. HDF5 cannot do that with filters on several ranks, and other formats would write
/// single numbers: there the particles are put together in memory first.
void put_compounds(Inputs& inputs) {
    Layout& layout = inputs.layout;
    layout.compounds =
        layout.file == Pattern::interleaved && inputs.options.facts().parts_of_compounds;
    layout.by_variable = layout.compounds && layout.memory == Pattern::contig && !inputs.filtered();
}

void put_files(Inputs& inputs) {
    const Config& config = inputs.config;
    if (!is_yes(config, "file_per_proc")) return;
    if (inputs.several_files())
        throw config.error("file_per_proc", "file_per_proc with a format that writes several files",
                           "take hdf5, netcdf4, mpiio or posix, without subfile");
    if (inputs.striping.asked())
        throw config.error("file_per_proc", "striping is set for one shared file",
                           "set the striping of the folder with lfs setstripe instead");
    inputs.file_per_process = true;
}

/// h5bench's folder, which it makes, and its tables.
void put_places(Inputs& inputs) {
    const Config& config = inputs.config;
    if (config.has("directory")) inputs.folder = config.text("directory");
    const auto path = [&](const char* key) {
        return std::filesystem::path(config.has(key) ? config.text(key) : "");
    };
    inputs.csv_file = path("csv_file");
    inputs.read_csv_file = path("read_csv_file");
}

void put_reading(Inputs& inputs) {
    const Config& config = inputs.config;
    if (!config.has("read_option")) return;
    const std::string& word = config.text("read_option");
    const Geometry& geometry = inputs.layout.geometry;
    if (word == "full") {
        inputs.read_option = ReadOption::full;
        inputs.reads.push_back(runner::ReadPattern::full);
        return;
    }
    if (word == "strided") {
        inputs.read_option = ReadOption::strided;
        inputs.blocks_to_read = blocks_of(config, "read_option", geometry.per_rank.front());
        inputs.reads.push_back(runner::ReadPattern::strided);
        return;
    }
    inputs.read_option = ReadOption::partial;
    inputs.particles_to_read = needed(config, "read_option", "to_read_num_particles");
    const std::uint64_t there = core::checked_product(geometry.per_rank, "particles of a rank");
    if (inputs.particles_to_read > there)
        throw config.error("to_read_num_particles",
                           "to_read_num_particles is " + std::to_string(inputs.particles_to_read) +
                               ", but a rank has " + std::to_string(there),
                           "choose at most that");
    inputs.reads.push_back(runner::ReadPattern::partial);
}

}  // namespace

std::uint64_t Inputs::bytes_per_rank() const {
    return layout.geometry.particles_per_rank() * particle_bytes;
}

std::uint64_t Inputs::bytes() const { return bytes_per_rank() * layout.geometry.ranks * steps; }

std::uint64_t Inputs::reserve_bytes() const {
    if (filtered()) return 0;
    return core::checked_product(layout.geometry.dims(), "particles") * particle_bytes * steps;
}

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    inputs.layout = layout_of(inputs.config, ranks);
    inputs.steps = inputs.config.number("timesteps");
    take_names(inputs);
    runner::take_shared(inputs);
    put_compounds(inputs);
    put_files(inputs);
    put_chunks(inputs);
    put_places(inputs);
    put_reading(inputs);
    runner::settle(inputs);
    return inputs;
}

}  // namespace tailrace::kernels::particle
