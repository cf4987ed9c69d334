// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "amr_files.hpp"
#include "kernels/amr/shared.hpp"

using namespace tailrace;
using namespace tailrace::kernels::amr;

namespace {

Mesh mesh_of(std::int32_t cells, std::int32_t largest, std::uint64_t ranks,
             std::uint64_t levels = 1) {
    MeshPlan plan;
    plan.cells = {cells, cells, cells};
    plan.max_grid_size = {largest, largest, largest};
    plan.ranks = ranks;
    plan.levels = levels;
    return make_mesh(plan);
}

std::string number(double value) {
    std::string text;
    append_general(text, value);
    return text + (value == static_cast<int>(value) ? "." : "");
}
std::string number(std::int32_t value) { return std::to_string(value); }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string number(const std::string& value) { return "\"" + value + "\""; }
std::string number(std::uint32_t) { return "no type of the original"; }
std::string number(std::uint64_t) { return "no type of the original"; }
template <class Value>
std::string number(const std::vector<Value>& values) {
    std::string text;
    for (const Value& value : values) text += (text.empty() ? "" : ", ") + number(value);
    return text;
}

/// What ncmpidump -h prints of a schema.
std::string header_of(const core::Schema& schema) {
    std::string dimensions, variables, attributes;
    for (const core::Object& object : schema.objects) {
        std::string names;
        for (std::size_t d = 0; d < object.dims.size(); ++d) {
            dimensions += object.axes[d] + " = " + std::to_string(object.dims[d].size) + " ;\n";
            names += (names.empty() ? "" : ", ") + object.axes[d];
        }
        const char* type = object.type == core::Scalar::i32   ? "int"
                           : object.type == core::Scalar::i64 ? "int64"
                                                              : "double";
        variables += type + (" " + object.path.substr(1)) + "(" + names + ") ;\n";
    }
    for (const core::Attribute& attribute : schema.attributes) {
        CHECK(attribute.object == "/");
        const auto text = [](const auto& held) {
            return std::visit([](const auto& value) { return number(value); }, held);
        };
        const auto* scalar = std::get_if<core::AttributeScalar>(&attribute.value);
        attributes +=
            ":" + attribute.name + " = " +
            (scalar ? text(*scalar) : text(std::get<core::AttributeArray>(attribute.value))) +
            " ;\n";
    }
    return dimensions + variables + attributes;
}

const core::Attribute* find(const core::Schema& schema, const std::string& object,
                            const std::string& name) {
    for (const core::Attribute& attribute : schema.attributes)
        if (attribute.object == object && attribute.name == name) return &attribute;
    return nullptr;
}

}  // namespace

TEST_SUITE("kernels.amr_shared") {
    TEST_CASE("the header is the one that the original's users know") {
        const Mesh mesh = mesh_of(128, 32, 4);
        CHECK(header_of(pnetcdf_schema({mesh, 2, 0, 0})) ==
              "procdataspace_0 = 64 ;\nboxdataspace_0 = 64 ;\nboxdataspace_1 = 6 ;\n"
              "offsetdataspace_0 = 65 ;\ndataspace = 4194304 ;\n"
              "int level_0.Processors(procdataspace_0) ;\n"
              "int level_0.boxes(boxdataspace_0, boxdataspace_1) ;\n"
              "int64 level_0.data:offsets=0(offsetdataspace_0) ;\n"
              "double level_0.data:datatype=0(dataspace) ;\n"
              ":Chombo_globalSpaceDim = 3 ;\n:Chombo_globaltestReal = 0. ;\n"
              ":Chombo_globaltestString = \"vMString::testString\" ;\n:num_components = 2 ;\n"
              ":num_levels = 1 ;\n:component_0 = \"component_0\" ;\n"
              ":component_1 = \"component_1\" ;\n:filetype = \"VanillaAMRFileType\" ;\n"
              ":testString = \"vMString::testString\" ;\n:level_0.data_attributes.comps = 2 ;\n"
              ":level_0.data_attributes.ghost = 0, 0, 0 ;\n:level_0.dt = 0. ;\n"
              ":level_0.dx = 0.0078125 ;\n:level_0.time = 0. ;\n"
              ":level_0.prob_domain = 0, 0, 0, 127, 127, 127 ;\n:level_0.ref_ratio = 1 ;\n");
    }

    TEST_CASE("levels above 0 have names of their own") {
        const Mesh mesh = mesh_of(8, 4, 2, 2);
        const core::Schema schema = pnetcdf_schema({mesh, 1, 0, 0});
        REQUIRE(schema.objects.size() == 8);
        CHECK(schema.objects[7].path == "/level_1.data:datatype=0");
        CHECK(schema.objects[5].axes ==
              std::vector<std::string>{"level_1.boxdataspace_0", "level_1.boxdataspace_1"});
        CHECK(schema.objects[7].dims[0].size == 8 * 8 * 8);
        const std::string header = header_of(schema);
        CHECK(header.find(":level_0.ref_ratio = 2 ;") != std::string::npos);
        CHECK(header.find(":level_1.prob_domain = 0, 0, 0, 15, 15, 15 ;") != std::string::npos);
    }

    TEST_CASE("the ranks write each element once, and the tables say where boxes are") {
        for (const std::uint64_t ranks : {1, 3, 40}) {
            const Mesh mesh = mesh_of(10, 4, ranks, 2);
            const Plot plot{mesh, 3, 2, 0};
            const Fill fill(mesh, 3);
            test::Files files(pnetcdf_schema(plot));
            files.take(SharedLayout(plot, fill, pnetcdf_schema(plot)), mesh);
            CHECK(files.every_byte_once());
            for (std::size_t level = 0; level < 2; ++level) {
                const std::size_t boxes = mesh.levels[level].boxes.size();
                std::vector<std::int32_t> owners(boxes);
                std::vector<CellBox> stored(boxes);
                std::vector<std::int64_t> offsets(boxes + 1);
                std::memcpy(owners.data(), files.text(4 * level).data(), boxes * 4);
                std::memcpy(stored.data(), files.text(4 * level + 1).data(), boxes * 24);
                std::memcpy(offsets.data(), files.text(4 * level + 2).data(), (boxes + 1) * 8);
                CHECK(std::is_sorted(owners.begin(), owners.end()));
                CHECK(offsets[boxes] * 8 ==
                      static_cast<std::int64_t>(files.text(4 * level + 3).size()));
                for (std::size_t box = 0; box < boxes; ++box) {
                    std::vector<double> expected(static_cast<std::size_t>(stored[box].cells() * 3)),
                        found(expected.size());
                    REQUIRE(offsets[box + 1] - offsets[box] ==
                            static_cast<std::int64_t>(expected.size()));
                    fill.values(2, level, stored[box], expected);
                    std::memcpy(
                        found.data(),
                        &files.text(4 * level + 3)[static_cast<std::size_t>(offsets[box] * 8)],
                        found.size() * 8);
                    CHECK(found == expected);
                }
            }
        }
    }

    TEST_CASE("any box of any object holds what was written there") {
        const Mesh mesh = mesh_of(10, 4, 3, 2);
        const Plot plot{mesh, 3, 2, 0};
        const Fill fill(mesh, 3);
        const core::Schema schema = pnetcdf_schema(plot);
        const SharedLayout layout(plot, fill, schema);
        test::Files files(schema);
        files.take(layout, mesh);
        for (std::size_t object = 0; object < schema.objects.size(); ++object) {
            const std::uint64_t all = schema.objects[object].dims[0].size;
            const std::size_t width = core::size_of(schema.objects[object].type);
            const bool wide = schema.objects[object].dims.size() == 2;
            for (std::uint64_t first = 0; first < all; first += 1 + all / 7)
                for (const std::uint64_t count :
                     {std::uint64_t{1}, (all - first) / 2, all - first}) {
                    core::Box place{{first}, {count}};
                    if (wide) {
                        place.offset.push_back(2);
                        place.count.push_back(3);
                    }
                    std::vector<std::byte> found(static_cast<std::size_t>(place.volume()) * width);
                    layout.values(object, place, found);
                    bool same = true;
                    core::for_each_run(
                        place, schema.objects[object].sizes(), [&](auto at, auto from, auto n) {
                            same = same &&
                                   std::memcmp(&found[from * width],
                                               &files.text(object)[at * width], n * width) == 0;
                        });
                    CHECK(same);
                }
        }
    }

    TEST_CASE("a rank without boxes writes nothing, and no rank more than a piece per level") {
        const Mesh mesh = mesh_of(8, 8, 3, 2);
        const Plot plot{mesh, 1, 0, 0};
        const Fill fill(mesh, 1);
        const SharedLayout layout(plot, fill, pnetcdf_schema(plot));
        CHECK(test::pieces_of(layout, mesh, 0).size() == 8);
        CHECK(test::pieces_of(layout, mesh, 1).empty());
    }

    TEST_CASE("chunks are whole boxes, or the largest parts of them that no two share") {
        const Mesh even = mesh_of(16, 8, 2), odd = mesh_of(48, 32, 2);
        CHECK(chunk_of({even, 3, 0, 0}, 0) == 1536);
        CHECK(chunk_of({odd, 2, 0, 0}, 0) == 8192);  // of 32, 16 and 8 times 1024 cells, and 4096
        const Plot plot{odd, 2, 0, 0};
        const Fill fill(odd, 2);
        const SharedLayout layout(plot, fill, pnetcdf_schema(plot));
        for (std::uint64_t rank = 0; rank < 2; ++rank)
            CHECK(test::pieces_of(layout, odd, rank).back().place.offset[0] % chunk_of(plot, 0) ==
                  0);
    }

    TEST_CASE("the HDF5 file has the objects of the netCDF file in groups") {
        const Mesh mesh = mesh_of(8, 4, 2, 2);
        const Plot plot{mesh, 2, 7, 0.5};
        const core::Schema schema = hdf5_schema(plot), flat = pnetcdf_schema(plot);
        REQUIRE(schema.objects.size() == flat.objects.size());
        for (std::size_t i = 0; i < flat.objects.size(); ++i) {
            std::string path = schema.objects[i].path;
            path[path.rfind('/')] = '.';
            CHECK(path == flat.objects[i].path);
            CHECK(schema.objects[i].dims == flat.objects[i].dims);
            CHECK(schema.objects[i].members.size() == (i % 4 == 1 ? 6 : 0));
        }
        CHECK(schema.groups == std::vector<std::string>{"/Chombo_global",
                                                        "/level_0/data_attributes",
                                                        "/level_1/data_attributes"});
        const core::Attribute* domain = find(schema, "/level_1", "prob_domain");
        REQUIRE(domain != nullptr);
        const auto& compound = std::get<core::Compound>(domain->value);
        REQUIRE(compound.members.size() == 6);
        CHECK(compound.members[5].name == "hi_k");
        CHECK(std::get<std::int32_t>(std::get<core::AttributeScalar>(compound.members[5].value)) ==
              15);
        const core::Attribute* levels = find(schema, "/", "num_levels");
        REQUIRE(levels != nullptr);
        CHECK(std::get<std::int32_t>(std::get<core::AttributeScalar>(levels->value)) == 2);
        CHECK(find(schema, "/Chombo_global", "SpaceDim") != nullptr);
        CHECK(find(schema, "/level_0", "ref_ratio") != nullptr);
    }
}
