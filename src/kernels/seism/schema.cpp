// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/schema.hpp"

#include <algorithm>
#include <limits>

#include "runner/describe.hpp"

namespace tailrace::kernels::seism {

namespace {

using core::AttributeArray;
using core::AttributeScalar;

constexpr const char* root = "/";

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

void add_plain(core::Schema& schema, const Inputs& inputs) {
    std::vector<std::string> said_below{"fill", "use_function_argc"};
    if (!inputs.chunk) said_below.emplace_back("chunk");
    runner::describe(schema, "seism", inputs.config, said_below);
    const auto add = [&](const char* name, AttributeScalar value) {
        schema.attributes.push_back({root, name, std::move(value)});
    };
    add("fill", std::string(name(inputs.fill)));
    add("use_function_argc", static_cast<std::uint64_t>(inputs.plugin.arguments.size()));
}

/// 32 bits are all that the classic attribute has; what does not fit is shown as the largest.
template <class Narrow>
Narrow narrow(std::uint64_t value) {
    constexpr std::uint64_t largest = std::numeric_limits<Narrow>::max();
    return static_cast<Narrow>(std::min(value, largest));
}

core::Compound classic_compound(const Inputs& inputs) {
    const core::Config& config = inputs.config;
    const auto number = [&](const char* key) -> std::uint64_t {
        return config.has(key) ? config.number(key) : 0;
    };
    const auto flag = [&](const char* key) -> std::int32_t { return config.flag(key) ? 1 : 0; };
    core::Compound all{"/seismCoreAttributes", 184, {}};
    const auto add = [&](const char* name, std::uint64_t offset,
                         std::variant<AttributeScalar, AttributeArray> value) {
        all.members.push_back({name, offset, std::move(value)});
    };
    const core::Extents none{0, 0, 0};
    add("name", 0, AttributeScalar(std::string("my_attr")));
    add("processor_dims", 8, AttributeArray(inputs.geometry.processor));
    add("chunk_dims", 32, AttributeArray(inputs.chunk.value_or(none)));
    add("domain_dims", 56, AttributeArray(inputs.geometry.domain));
    add("simulation_time", 80, AttributeScalar(narrow<std::uint32_t>(inputs.geometry.steps)));
    add("n_nodes", 84, AttributeScalar(narrow<std::uint32_t>(number("n_nodes"))));
    add("subfile", 88, AttributeScalar(narrow<std::uint32_t>(number("subfile"))));
    add("collective_write", 92, AttributeScalar(flag("collective_write")));
    add("precreate", 96, AttributeScalar(flag("precreate")));
    add("set_collective_metadata", 100, AttributeScalar(flag("set_collective_metadata")));
    add("never_fill", 104, AttributeScalar(flag("never_fill")));
    add("deflate", 108, AttributeScalar(narrow<std::int32_t>(number("deflate"))));
    add("zfp", 112, AttributeScalar(narrow<std::int32_t>(number("zfp"))));
    add("use_function_lib", 120, AttributeScalar(inputs.plugin.library));
    add("use_function_name", 128, AttributeScalar(inputs.plugin.function));
    add("use_function_argc", 136,
        AttributeScalar(narrow<std::int32_t>(inputs.plugin.arguments.size())));
    add("use_function_argv", 144, AttributeScalar(joined(inputs.plugin.arguments)));
    return all;
}

}  // namespace

core::Schema schema_of(const Inputs& inputs) {
    core::Object dataset;
    dataset.path = object_path;
    dataset.type = core::Scalar::f32;
    for (std::uint64_t extent : inputs.geometry.dims()) dataset.dims.push_back({extent, false});
    dataset.axes = {"time", "x", "y", "z"};
    core::Schema schema{{dataset}, {}};
    add_plain(schema, inputs);
    schema.attributes.push_back({root, "simulation_attributes", classic_compound(inputs)});
    return schema;
}

}  // namespace tailrace::kernels::seism
