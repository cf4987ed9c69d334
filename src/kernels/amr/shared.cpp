// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/shared.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/checked.hpp"

namespace tailrace::kernels::amr {

namespace {

constexpr std::size_t objects_per_level = 4;
constexpr std::size_t processors = 0, boxes = 1, offsets = 2, values_of = 3;
constexpr std::uint64_t least_in_chunk = 32768, most_in_chunk = std::uint64_t{1} << 28;
constexpr const char* test_string = "vMString::testString";

/// The four objects of a level; each name is put behind `prefix`, those of dimensions behind
/// `qualifier`.
std::vector<core::Object> objects_of(const Plot& plot, std::size_t level, const std::string& prefix,
                                     const std::string& qualifier) {
    const std::uint64_t count = plot.mesh.levels[level].boxes.size();
    std::vector<core::Object> objects(objects_per_level);
    objects[processors] = {prefix + "Processors", core::Scalar::i32, {{count}}};
    objects[processors].axes = {qualifier + "procdataspace_0"};
    objects[boxes] = {prefix + "boxes", core::Scalar::i32, {{count}, {6}}};
    objects[boxes].axes = {qualifier + "boxdataspace_0", qualifier + "boxdataspace_1"};
    objects[offsets] = {prefix + "data:offsets=0", core::Scalar::i64, {{count + 1}}};
    objects[offsets].axes = {qualifier + "offsetdataspace_0"};
    objects[values_of] = {prefix + "data:datatype=0", core::Scalar::f64, {{plot.elements(level)}}};
    objects[values_of].axes = {qualifier + "dataspace"};
    return objects;
}

template <class Value>
void put(std::span<std::byte>& bytes, Value value) {
    std::memcpy(bytes.data(), &value, sizeof value);
    bytes = bytes.subspan(sizeof value);
}

template <class Value>
void add(core::Schema& schema, const std::string& object, const std::string& name, Value value) {
    if constexpr (std::is_constructible_v<core::AttributeScalar, Value>)
        schema.attributes.push_back({object, name, core::AttributeScalar(std::move(value))});
    else if constexpr (std::is_same_v<Value, core::Compound>)
        schema.attributes.push_back({object, name, std::move(value)});
    else
        schema.attributes.push_back({object, name, core::AttributeArray(std::move(value))});
}

std::vector<std::int32_t> corners(const CellBox& box) {
    return {box.lo[0], box.lo[1], box.lo[2], box.hi[0], box.hi[1], box.hi[2]};
}

/// To the next finer level; 1 for the finest.
std::int32_t ratio_of(const Mesh& mesh, std::size_t level) {
    return level + 1 < mesh.levels.size() ? static_cast<std::int32_t>(mesh.ref_ratio) : 1;
}

std::int32_t count(std::uint64_t number) { return static_cast<std::int32_t>(number); }

void add_level(core::Schema& schema, const Plot& plot, std::size_t level) {
    const std::string name = "level_" + std::to_string(level) + ".";
    add(schema, "/", name + "data_attributes.comps", count(plot.components));
    add(schema, "/", name + "data_attributes.ghost", std::vector<std::int32_t>{0, 0, 0});
    add(schema, "/", name + "dt", 0.0);
    add(schema, "/", name + "dx", plot.mesh.cell_size(level)[0]);
    add(schema, "/", name + "time", plot.time);
    add(schema, "/", name + "prob_domain", corners(plot.mesh.levels[level].domain));
    add(schema, "/", name + "ref_ratio", ratio_of(plot.mesh, level));
}

constexpr const char* corner_names[] = {"lo_i", "lo_j", "lo_k", "hi_i", "hi_j", "hi_k"};

core::Compound compound_of(const CellBox& box) {
    core::Compound compound{{}, sizeof(CellBox), {}};
    const std::vector<std::int32_t> numbers = corners(box);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        compound.members.push_back(
            {corner_names[i], i * sizeof(std::int32_t), core::AttributeScalar(numbers[i])});
    return compound;
}

template <class Array>
std::vector<double> list(const Array& array) {
    return {array.begin(), array.end()};
}

void add_group(core::Schema& schema, const Plot& plot, std::size_t level) {
    const Level& mesh = plot.mesh.levels[level];
    const std::string group = "/level_" + std::to_string(level);
    add(schema, group, "ref_ratio", ratio_of(plot.mesh, level));
    add(schema, group, "Vec_dx", list(plot.mesh.cell_size(level)));
    add(schema, group, "dx", plot.mesh.cell_size(level)[0]);
    add(schema, group, "dt", 0.0);
    add(schema, group, "prob_lo", std::vector<double>{0, 0, 0});
    add(schema, group, "prob_hi", list(plot.mesh.prob_hi()));
    add(schema, group, "prob_domain", compound_of(mesh.domain));
    add(schema, group, "domain_type", std::vector<std::int32_t>{0, 0, 0});
    add(schema, group, "steps", static_cast<std::int64_t>(plot.step));
    add(schema, group, "ngrid", count(mesh.boxes.size()));
    add(schema, group, "time", plot.time);
    add(schema, group, "ngrow", 0);
    schema.groups.push_back(group + "/data_attributes");
    add(schema, group + "/data_attributes", "comps", count(plot.components));
    add(schema, group + "/data_attributes", "ghost", std::vector<std::int32_t>{0, 0, 0});
}

void add_components(core::Schema& schema, const Plot& plot) {
    for (std::uint64_t c = 0; c < plot.components; ++c)
        add(schema, "/", Plot::component(c), Plot::component(c));
}

}  // namespace

core::Schema pnetcdf_schema(const Plot& plot) {
    check(plot);
    core::Schema schema;
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level) {
        const std::string name = "level_" + std::to_string(level) + ".";
        std::ranges::move(objects_of(plot, level, "/" + name, level == 0 ? "" : name),
                          std::back_inserter(schema.objects));
    }
    add(schema, "/", "Chombo_globalSpaceDim", 3);
    add(schema, "/", "Chombo_globaltestReal", 0.0);
    add(schema, "/", "Chombo_globaltestString", std::string(test_string));
    add(schema, "/", "num_components", count(plot.components));
    add(schema, "/", "num_levels", count(plot.mesh.levels.size()));
    add_components(schema, plot);
    add(schema, "/", "filetype", std::string("VanillaAMRFileType"));
    add(schema, "/", "testString", std::string(test_string));
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level)
        add_level(schema, plot, level);
    return schema;
}

core::Schema hdf5_schema(const Plot& plot) {
    check(plot);
    core::Schema schema;
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level) {
        std::vector<core::Object> objects =
            objects_of(plot, level, "/level_" + std::to_string(level) + "/", "");
        for (core::Object& object : objects) object.axes.clear();
        for (const char* corner : corner_names)
            objects[boxes].members.push_back({corner, core::Scalar::i32});
        std::ranges::move(objects, std::back_inserter(schema.objects));
    }
    const std::int32_t finest = count(plot.mesh.levels.size()) - 1;
    add(schema, "/", "version_name", std::string("HyperCLaw-V1.1"));
    add(schema, "/", "plotfile_type", std::string("VanillaHDF5"));
    add(schema, "/", "filetype", std::string("VanillaAMRFileType"));
    add(schema, "/", "num_components", count(plot.components));
    add_components(schema, plot);
    add(schema, "/", "dim", 3);
    add(schema, "/", "time", plot.time);
    add(schema, "/", "iteration", static_cast<std::int64_t>(plot.step));
    add(schema, "/", "finest_level", finest);
    add(schema, "/", "max_level", finest);
    add(schema, "/", "num_levels", finest + 1);
    add(schema, "/", "coordinate_system", 0);
    schema.groups = {"/Chombo_global"};
    add(schema, "/Chombo_global", "SpaceDim", 3);
    add(schema, "/Chombo_global", "testReal", 0.0);
    add(schema, "/Chombo_global", "testString", std::string(test_string));
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level)
        add_group(schema, plot, level);
    for (core::Attribute& attribute : schema.attributes) attribute.plain_text = true;
    return schema;
}

SharedLayout::SharedLayout(const Plot& plot, const Fill& fill, core::Schema schema)
    : x_plot(plot), x_fill(fill), x_schema(std::move(schema)) {
    for (std::size_t level = 0; level < plot.mesh.levels.size(); ++level) {
        Order order{plot.mesh.levels[level].by_rank(), {0}, {}};
        for (const std::uint32_t box : order.boxes)
            order.begins.push_back(order.begins.back() + plot.elements(level, box));
        order.places.resize(order.boxes.size());
        for (std::uint32_t place = 0; place < order.boxes.size(); ++place)
            order.places[order.boxes[place]] = place;
        x_levels.push_back(std::move(order));
    }
}

void SharedLayout::values(std::size_t object, const core::Box& place,
                          std::span<std::byte> bytes) const {
    const std::size_t number = object / objects_per_level;
    const Level& level = x_plot.mesh.levels[number];
    const auto& [order, begins, places] = x_levels[number];
    const std::uint64_t first = place.offset[0], end = first + place.count[0];
    if (object % objects_per_level != values_of) {
        for (std::uint64_t row = first; row < end; ++row) {
            if (object % objects_per_level == offsets) {
                put(bytes, static_cast<std::int64_t>(begins[row]));
            } else if (object % objects_per_level == processors) {
                put(bytes, level.owners[order[row]]);
            } else {
                const std::vector<std::int32_t> numbers = corners(level.boxes[order[row]]);
                for (std::uint64_t c = 0; c < place.count[1]; ++c)
                    put(bytes, numbers[place.offset[1] + c]);
            }
        }
        return;
    }
    auto box =
        static_cast<std::size_t>(std::ranges::upper_bound(begins, first) - begins.begin()) - 1;
    std::vector<double> some;
    for (std::uint64_t at = first; at < end; ++box) {
        some.resize(static_cast<std::size_t>(std::min(begins[box + 1], end) - at));
        x_fill.values(x_plot.step, number, level.boxes[order[box]], some, at - begins[box]);
        std::memcpy(bytes.data(), some.data(), some.size() * sizeof(double));
        bytes = bytes.subspan(some.size() * sizeof(double));
        at += some.size();
    }
}

runner::Piece SharedLayout::of_box(std::size_t level, std::uint32_t box) const {
    const Order& order = x_levels[level];
    const std::uint32_t place = order.places[box];
    return {level * objects_per_level + values_of,
            {{order.begins[place]}, {order.begins[place + 1] - order.begins[place]}}};
}

std::vector<runner::Piece> SharedLayout::tables() const {
    std::vector<runner::Piece> pieces;
    for (std::size_t object = 0; object < x_schema.objects.size(); ++object)
        if (!is_data(object)) {
            const core::Extents sizes = x_schema.objects[object].sizes();
            pieces.push_back({object, {core::Extents(sizes.size(), 0), sizes}});
        }
    return pieces;
}

bool SharedLayout::is_data(std::size_t object) noexcept {
    return object % objects_per_level == values_of;
}

std::uint64_t chunk_of(const Plot& plot, std::size_t level) {
    std::uint64_t common = 0;
    for (std::size_t box = 0; box < plot.mesh.levels[level].boxes.size(); ++box)
        common = std::gcd(common, plot.elements(level, box));
    return common;
}

std::uint64_t filtered_chunk(const Plot& plot, std::size_t object) {
    const std::size_t level = object / objects_per_level;
    const std::uint64_t all = plot.elements(level);
    std::uint64_t chunk = chunk_of(plot, level);
    if (chunk > most_in_chunk) chunk /= plot.components;  // HDF5 keeps its bytes in 32 bits
    chunk *= std::max<std::uint64_t>(1, least_in_chunk / chunk);
    return std::min({chunk, all, most_in_chunk});
}

}  // namespace tailrace::kernels::amr
