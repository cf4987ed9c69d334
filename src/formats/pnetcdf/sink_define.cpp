// SPDX-License-Identifier: Apache-2.0
// The file and what it holds: made empty by rank 0, opened and defined by all.
#include <algorithm>
#include <array>
#include <optional>

#include "formats/file/part_file.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/mpiio/open_by_all.hpp"
#include "formats/netcdf_names.hpp"
#include "formats/pnetcdf/attributes.hpp"
#include "formats/pnetcdf/limits.hpp"
#include "formats/pnetcdf/open.hpp"
#include "formats/pnetcdf/sink.hpp"

namespace tailrace::formats::pnetcdf {

using core::Code;
using core::Error;
using core::Object;

namespace {

/// Everything that PnetCDF wants to be equal on all ranks; hints may differ.
std::string shared_text(const Options& options) {
    std::string text = options.burst_buffer + '\n';
    for (const std::uint64_t number :
         {std::uint64_t{options.collective}, static_cast<std::uint64_t>(options.cdf),
          static_cast<std::uint64_t>(options.put), std::uint64_t{options.never_fill},
          std::uint64_t{options.unlimited}, options.alignment_bytes, options.header_alignment_bytes,
          options.record_alignment_bytes, options.header_reserve_bytes})
        text += std::to_string(number) + ' ';
    return text;
}

/// All checks that need no file, on all ranks.
const core::Target& checked(const comm::Comm& comm, const core::Target& target,
                            const Options& options) {
    comm.agree_on([&] {
        if (target.existing == core::Existing::append)
            throw Error(Code::unsupported, "appending to an existing netCDF file is not built",
                        target.path.string(), "write a new file, or use existing = replace");
        check(options);
        if (!mpiio::mpi_running())
            throw Error(Code::unsupported, "PnetCDF without MPI_Init", target.path.string(),
                        "initialise MPI first, or use format posix");
    });
    require_same_options(comm, target.path.string(), shared_text(options));
    return target;
}

/// Options that the library takes as hints. In-place swapping would change the caller's memory
/// while a piece is written, and write wrong bytes where two pieces share some.
Hints hints_for(const Options& options) {
    Hints hints = mpiio::with_safe_defaults(options.hints);
    hints.try_emplace("nc_in_place_swap", "disable");
    const auto add = [&](const char* key, std::uint64_t bytes) {
        if (bytes != 0) hints[key] = std::to_string(bytes);
    };
    add("nc_header_align_size", options.header_alignment_bytes);
    add("nc_var_align_size", options.alignment_bytes);
    add("nc_record_align_size", options.record_alignment_bytes);
    if (!options.burst_buffer.empty()) {
        hints["nc_burst_buf"] = "enable";
        hints["nc_burst_buf_dirname"] = options.burst_buffer;
        hints["nc_burst_buf_overwrite"] = "enable";
        hints["nc_burst_buf_del_on_close"] = "enable";
    }
    return hints;
}

/// A file without anything in it. ncmpi_create would do for one, but some versions remove what
/// stands there: with it its striping and the space that was set aside.
std::vector<std::byte> empty_file(int cdf) {
    const std::size_t count_bytes = cdf == 5 ? 8 : 4;
    std::vector<std::byte> bytes(4 + count_bytes + 3 * (4 + count_bytes));
    const std::array<char, 4> magic{'C', 'D', 'F', static_cast<char>(cdf)};
    std::transform(magic.begin(), magic.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

}  // namespace

void check(const Options& options) {
    if (!options.burst_buffer.empty() && !nc::has_burst_buffer())
        throw Error(Code::unsupported,
                    "PnetCDF " + nc::library_version() + " was built without its burst buffer",
                    "burst_buffer",
                    "take the key away, or build PnetCDF with --enable-burst-buffering and "
                    "configure with -DPNETCDF_ROOT=<its prefix>");
}

Sink::Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
           core::Phases& phases)
    : FileSink(comm, checked(comm, target, options), phases, Reserve::at_once), x_options(options) {
    x_can.records = true;
    x_can.independent = !options.collective;
    x_can.max_rank = greatest_rank;
    x_target.hold_errors(true);
    create_file();
}

Sink::~Sink() { discard_if_open(); }

void Sink::create_file() {
    const std::string name = x_target.path().string();
    collective_step("create", "creating " + name, [&] {
        if (x_comm.rank() != 0) return;
        const Descriptor file(open_file(x_target.part(), O_RDWR));
        if (!file.open()) throw system_error(errno, "cannot open the file", x_target.part());
        const std::vector<std::byte> bytes = empty_file(x_options.cdf);
        write_fully(file.get(), bytes.data(), bytes.size(), 0, x_target.path());
    });
    mpiio::try_to_open(x_comm, x_phases, x_target.part(), "open_file");
    collective_step("open_file", "opening " + name, [&] {
        const Hints hints = hints_for(x_options);
        x_file = mpiio::open_by_all(x_comm, x_target.part(), [&](const auto& path) {
            return nc::File::open(x_comm, path, x_target.path(), true, hints);
        });
    });
}

void Sink::check(const core::Schema& schema) const {
    check_schema(x_options, as_stored(x_options, schema), x_objects);
}

void Sink::create(const core::Schema& asked) {
    const core::Schema schema = as_stored(x_options, asked);
    collective_step("define", "defining the variables of " + x_target.path().string(),
                    [&] { add_definitions(schema); });
    collective_step("define", "filling the records of " + x_target.path().string(),
                    [&] { fill_declared(schema); });
}

void Sink::add_definitions(const core::Schema& schema) {
    if (x_unfinished) wait();
    if (x_independent) x_file.end_independent();
    x_independent = false;
    x_file.begin_definitions();
    // A rank that fails here still ends the definitions, which is collective.
    const std::optional<Error> failed = comm::Comm::caught([&] {
        for (const Object& object : schema.objects) {
            const int variable = add_variable(object);
            x_objects.push_back(object);
            x_variables.push_back(variable);
        }
        for (const core::Attribute& attribute : schema.attributes) {
            const auto value = value_of(attribute, x_options.cdf);
            if (!value) continue;
            int holder = nc::global;
            for (std::size_t i = 0; i < x_objects.size(); ++i)
                if (x_objects[i].path == attribute.object) holder = x_variables[i];
            x_file.put_attribute(holder, attribute.name, *value);
        }
    });
    // Later on the space is there to be used up, not to be made again.
    x_file.end_definitions(x_defined ? 0 : x_options.header_reserve_bytes);
    x_defined = true;
    if (failed) throw Error(*failed);
}

void Sink::fill_declared(const core::Schema& schema) {
    std::uint64_t declared = x_records;
    for (const Object& object : schema.objects)
        if (is_record(object)) declared = std::max(declared, object.dims[0].size);
    fill_records(declared);
    if (!x_options.collective) {
        x_file.begin_independent();
        x_independent = true;
    }
}

int Sink::add_variable(const Object& object) {
    const std::vector<int> dimensions = add_dimensions(object);
    const int variable = x_file.define_variable(variable_name(object), object.type, dimensions);
    x_file.set_fill(variable, object.type, fills(object) ? object.fill : core::Fill{});
    return variable;
}

bool Sink::fills(const Object& object) const { return object.fill.set && !x_options.never_fill; }

std::vector<int> Sink::add_dimensions(const Object& object) {
    std::vector<int> dimensions;
    for (std::size_t d = 0; d < object.dims.size(); ++d)
        dimensions.push_back(object.dims[d].unlimited ? record_dimension_for(object)
                                                      : dimension_for(object, d));
    return dimensions;
}

/// A classic file has one at most; the first object that grows names it.
int Sink::record_dimension_for(const Object& object) {
    if (x_record_dimension >= 0) return x_record_dimension;
    std::string name = object.axes.empty() ? "" : object.axes[0];
    if (name.empty()) name = record_dimension;
    while (x_dimensions.count(name) != 0) name += '_';
    x_record_dimension = x_file.define_dimension(name, 0);
    x_dimensions[name] = {x_record_dimension, 0};
    return x_record_dimension;
}

/// As format netcdf4 names them: those of one name are shared where they are as long, else the
/// variable's name is put in front.
int Sink::dimension_for(const Object& object, std::size_t axis) {
    const std::string own = dimension_name(variable_name(object), axis);
    std::string name = axis < object.axes.size() ? object.axes[axis] : "";
    if (name.empty()) name = own;
    const std::uint64_t size = object.dims[axis].size;
    auto known = x_dimensions.find(name);
    while (known != x_dimensions.end() && known->second.size != size) {
        name = name.rfind(own, 0) == 0 ? name + '_' : own;
        known = x_dimensions.find(name);
    }
    if (known == x_dimensions.end())
        known =
            x_dimensions.emplace(name, Dimension{x_file.define_dimension(name, size), size}).first;
    return known->second.id;
}

// All variables of the file have the same number of records.
void Sink::fill_records(std::uint64_t until) {
    const std::uint64_t from = x_records;
    x_records = std::max(x_records, until);
    std::vector<int> filled;
    for (std::size_t i = 0; i < x_objects.size(); ++i)
        if (is_record(x_objects[i]) && fills(x_objects[i])) filled.push_back(x_variables[i]);
    if (filled.empty() || from >= until) return;
    const bool independent = x_independent;
    if (independent) x_file.end_independent();
    // All of them, also after a failure: the others fill theirs, and all change the mode.
    std::optional<Error> failed;
    for (std::uint64_t record = from; record < until; ++record)
        for (const int variable : filled) {
            const auto error = comm::Comm::caught([&] { x_file.fill_record(variable, record); });
            if (!failed) failed = error;
        }
    x_written_records = std::max(x_written_records, until);
    if (independent) x_file.begin_independent();
    if (failed) throw Error(*failed);
}

}  // namespace tailrace::formats::pnetcdf
