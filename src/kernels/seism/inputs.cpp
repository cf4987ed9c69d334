// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/inputs.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "formats/keys.hpp"
#include "runner/chunks.hpp"

namespace tailrace::kernels::seism {

using core::Code;
using core::Config;
using runner::by_x;
using runner::largest_file_bytes;
using runner::product;

namespace {

constexpr std::uint64_t element_bytes = 4;
constexpr std::uint64_t largest_cb_buffer = 2147479552;  // ROMIO reads it as an int

Geometry geometry_of(const Config& config, std::uint64_t ranks) {
    Geometry geometry{config.tuple("processor"), config.tuple("domain"), config.number("time")};
    const std::uint64_t blocks = product(config, "processor", geometry.processor);
    if (blocks != ranks)
        throw config.error("processor",
                           "a processor grid of " + by_x(geometry.processor) + " needs " +
                               std::to_string(blocks) + " ranks, but there are " +
                               std::to_string(ranks),
                           "start it with `mpiexec -n " + std::to_string(blocks) +
                               "`, or choose a grid whose product is " + std::to_string(ranks));
    core::Extents factors = geometry.domain;
    factors.push_back(element_bytes);
    (void)product(config, "domain", factors);
    factors.insert(factors.end(), geometry.processor.begin(), geometry.processor.end());
    (void)product(config, "domain", factors);
    factors.push_back(geometry.steps);
    if (product(config, "time", factors) > largest_file_bytes)
        throw config.error("time",
                           "the dataset of " + by_x(geometry.dims()) +
                               " elements is larger than any file can be (2^63 bytes)",
                           "make domain or time smaller");
    return geometry;
}

std::optional<core::Extents> chunk_of(const Config& config, const Geometry& geometry) {
    if (!config.has("chunk")) return std::nullopt;
    const core::Extents& chunk = config.tuple("chunk");
    const core::Extents slice = geometry.slice();
    static constexpr char axes[] = "xyz";
    for (std::size_t d = 0; d < chunk.size(); ++d)
        if (chunk[d] > slice[d])
            throw config.error("chunk",
                               "a chunk of " + by_x(chunk) +
                                   " is larger than a slice of the dataset, " + by_x(slice) +
                                   ", in " + axes[d],
                               "choose a chunk of at most " + by_x(slice) +
                                   "; the domain of a rank is a good one");
    runner::check_chunk_size(config, chunk, element_bytes);
    return chunk;
}

PluginCall plugin_of(const Config& config) {
    PluginCall call;
    const bool library = config.has("use_function_lib");
    const bool function = config.has("use_function_name");
    if (library && !function)
        throw config.error("use_function_lib", "use_function_lib without use_function_name",
                           "add the line `use_function_name F`", Code::missing_key);
    for (const char* key : {"use_function_name", "use_function_argc", "use_function_argv"})
        if (!library && config.has(key) &&
            !(std::string_view(key) == "use_function_argc" && config.number(key) == 0))
            throw config.error(key, std::string(key) + " without use_function_lib",
                               "add the line `use_function_lib LIBRARY`", Code::missing_key);
    if (!library) return call;
    call.library = config.text("use_function_lib");
    call.function = config.text("use_function_name");
    if (config.has("use_function_argv")) call.arguments = config.words("use_function_argv");
    if (!config.has("use_function_argc")) return call;
    const std::uint64_t argc = config.number("use_function_argc");
    if (argc != call.arguments.size())
        throw config.error("use_function_argc",
                           "use_function_argc is " + std::to_string(argc) +
                               ", but use_function_argv has " +
                               std::to_string(call.arguments.size()) + " words",
                           "make the two agree");
    return call;
}

/// With a plugin the configuration says so, wherever it is shown.
FillKind fill_of(Config& config) {
    if (config.has("use_function_lib")) {
        if (config.given("fill") && config.text("fill") != "plugin")
            throw config.error("fill",
                               "fill " + config.text("fill") + " and use_function_lib (" +
                                   config.place("use_function_lib") + ") contradict each other",
                               "keep one of the two");
        if (!config.given("fill"))
            config.derive("fill", "plugin", config.place("use_function_lib"));
        return FillKind::plugin;
    }
    if (config.text("fill") == "plugin")
        throw config.error("fill", "fill plugin without use_function_lib",
                           "add the line `use_function_lib LIBRARY`", Code::missing_key);
    return config.text("fill") == "position" ? FillKind::position : FillKind::rank;
}

/// Smaller ones have no use, and of a few bytes OMPIO cannot read compressed chunks again.
constexpr std::uint64_t smallest_cb_buffer = 4096;

/// The hints of the classic kernel for collective writes, where the user gave no others.
void add_classic_hints(formats::Hints& hints, bool collective, std::uint64_t bytes_per_rank) {
    if (!collective) return;
    hints.emplace("romio_cb_write", "enable");
    hints.emplace("romio_ds_write", "disable");
    hints.emplace("cb_buffer_size", std::to_string(std::clamp(bytes_per_rank, smallest_cb_buffer,
                                                              largest_cb_buffer)));
}

/// Chunk, filters and hints; and what of them the chosen format cannot have.
void complete_options(Inputs& inputs) {
    const std::uint64_t bytes = inputs.geometry.bytes_per_rank();
    if (formats::Hints* hints = inputs.options.hints())
        add_classic_hints(*hints, inputs.collective(), bytes);
    runner::settle_chunk(inputs, inputs.chunk, "`chunk X Y Z`, with the domain of a rank");
    if (inputs.chunk) {
        core::Extents chunk = *inputs.chunk;
        chunk.insert(chunk.begin(), 1);
        inputs.options.set_chunk(object_path, chunk);
    }
}

}  // namespace

std::uint64_t Inputs::reserve_bytes() const {
    if (filtered()) return 0;
    if (!chunk) return geometry.bytes();
    core::Extents factors = runner::padded(geometry.slice(), *chunk);
    factors.insert(factors.end(), {geometry.steps, element_bytes});
    return core::checked_product(factors, "bytes of the chunks");
}

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    const Config& given = inputs.config;
    inputs.geometry = geometry_of(given, ranks);
    inputs.chunk = chunk_of(given, inputs.geometry);
    runner::take_shared(inputs);
    inputs.plugin = plugin_of(given);
    inputs.fill = fill_of(inputs.config);
    runner::settle(inputs);
    complete_options(inputs);
    if (inputs.reserve_bytes() > largest_file_bytes)
        throw given.error("chunk", "the padded chunks take more than 2^63 bytes",
                          "choose a chunk that divides the domain");
    return inputs;
}

}  // namespace tailrace::kernels::seism
