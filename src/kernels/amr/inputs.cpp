// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/inputs.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "formats/keys.hpp"
#include "kernels/amr/layout.hpp"

namespace tailrace::kernels::amr {

using core::Config;
using core::in_quotes;

namespace {

constexpr std::size_t words_per_box = 7;  // the level, and both corners

std::int32_t cells_from(const Config& config, const char* key, const std::string& word,
                        std::uint64_t least) {
    std::string why;
    const auto value = core::parse_number(word, why);
    if (!value)
        throw config.error(key, in_quotes(word) + " of " + key + " " + why,
                           "give a number of cells");
    if (*value < least || *value > most_cells)
        throw config.error(key, in_quotes(word) + " of " + key + " is out of range",
                           "give " + std::to_string(least) + " to " + std::to_string(most_cells));
    return static_cast<std::int32_t>(*value);
}

Cell per_axis(const Config& config, const char* key) {
    core::Words words = config.words(key);
    if (words.size() == 1) {  // 8x12x6, as other keys take it on a command line
        std::string numbers = words.front();
        std::ranges::replace(numbers, 'x', ' ');
        words = core::split_words(numbers);
    }
    if (words.empty() || words.size() > 3)
        throw config.error(key, std::string(key) + " has neither one number nor three",
                           "give one for all axes, or three");
    if (words.size() == 2)
        throw config.error(key, std::string(key) + " has two numbers",
                           "give one for all axes, or three");
    Cell cell;
    for (std::size_t d = 0; d < 3; ++d)
        cell[d] = cells_from(config, key, words[words.size() == 1 ? 0 : d], 1);
    return cell;
}

std::vector<std::vector<CellBox>> refined_of(const Config& config) {
    const core::Words& words = config.words("refine");
    if (words == core::Words{"centre"}) return {};
    if (words.size() % words_per_box != 0)
        throw config.error("refine",
                           "refine has " + std::to_string(words.size()) +
                               " words, which make no boxes of seven numbers",
                           "write centre, or LEVEL I J K I J K for each box");
    std::vector<std::vector<CellBox>> refined;
    const std::uint64_t levels = config.number("nlevs");
    for (std::size_t at = 0; at < words.size(); at += words_per_box) {
        const auto level = static_cast<std::uint64_t>(cells_from(config, "refine", words[at], 0));
        if (level + 1 >= levels)
            throw config.error("refine",
                               "a box to refine on level " + std::to_string(level) +
                                   ", but nlevs is " + std::to_string(levels),
                               "refine levels 0 to nlevs - 2");
        CellBox box;
        for (std::size_t d = 0; d < 3; ++d) {
            box.lo[d] = cells_from(config, "refine", words[at + 1 + d], 0);
            box.hi[d] = cells_from(config, "refine", words[at + 4 + d], 0);
        }
        refined.resize(std::max<std::size_t>(refined.size(), level + 1));
        refined[level].push_back(box);
    }
    return refined;
}

MeshPlan plan_of(const Config& config, std::uint64_t ranks) {
    MeshPlan plan;
    plan.cells = per_axis(config, "ncells");
    plan.levels = config.number("nlevs");
    plan.ref_ratio = config.number("ref_ratio");
    plan.max_grid_size = per_axis(config, "max_grid_size");
    plan.blocking_factor = per_axis(config, "blocking_factor");
    plan.n_proper = config.number("n_proper");
    plan.order = config.text("boxes") == "current" ? BoxOrder::current : BoxOrder::of_2019;
    const std::string& how = config.text("distribution");
    plan.distribution = how == "sfc"        ? Distribution::sfc
                        : how == "knapsack" ? Distribution::knapsack
                                            : Distribution::roundrobin;
    plan.ranks = ranks;
    plan.refined = refined_of(config);
    return plan;
}

void put_grids(Inputs& inputs) {
    const std::string& text = inputs.config.text("grids_from_file");
    if (text == "0") return;
    if (inputs.config.given("refine"))
        throw inputs.config.error("refine", "refine beside grids_from_file",
                                  "the files say which boxes there are: take one of both away");
    inputs.grids = text == "1" ? "grids" : text;
}

void put_outputs(Inputs& inputs) {
    const core::Words& words = inputs.config.words("outputs");
    const auto take = [&](const char* word) { return std::ranges::count(words, word) > 0; };
    inputs.shared_output = take("shared");
    inputs.native_output = take("native");
    inputs.particle_output = take("particles");
    for (const std::string& word : words)
        if (word != "shared" && word != "native" && word != "particles")
            throw inputs.config.error("outputs",
                                      "outputs names " + in_quotes(word) + ", which is none",
                                      "take shared, native or particles");
    if (inputs.particle_output && !inputs.native_output)
        throw inputs.config.error("outputs", "outputs names particles without native",
                                  "they lie in the native folder: add native");
}

/// A format gives the file its usual ending.
void put_format(Inputs& inputs) {
    core::Config& config = inputs.config;
    const std::string& format = config.text("format");
    if (!config.given("filename") && format == "hdf5")
        config.derive("filename", "plt00000.h5", config.place("format"));
    if (!config.given("filename") && (format == "mpiio" || format.starts_with("posix")))
        config.derive("filename", "plt00000.bin", config.place("format"));
    if (!config.given("collective_write") && formats::in_use(config, "collective_write"))
        config.derive("collective_write", "1", "default of amr");
    // A file without an ending has the name that the folder beside it would have.
    if (format != "native" && !config.given("outputs") &&
        !std::filesystem::path(config.text("filename")).has_extension())
        config.derive("outputs", "shared", config.place("filename"));
    if (format == "native" && !config.given("outputs"))
        config.derive("outputs", "native", config.place("format"));
}

/// The values of a rank are its own and no two pieces share them: PnetCDF may turn their bytes
/// where they are, which spares a copy of all in a collective call.
void let_pnetcdf_swap(Inputs& inputs) {
    const formats::Facts facts = inputs.options.facts();
    formats::Hints* hints = inputs.options.hints();
    if (facts.collective && hints != nullptr && !facts.hint_to_swap.empty())
        hints->try_emplace(facts.hint_to_swap, "enable");
}

/// The middle half along each axis, or the corners that are given.
Region region_of(const Config& config, const Cell& cells) {
    Region region{};
    for (std::size_t d = 0; d < 3; ++d) {
        const double length = static_cast<double>(cells[d]) / cells[0];
        region[d] = length / 4;
        region[3 + d] = length * 3 / 4;
    }
    if (!config.has("read_region")) return region;
    const core::Words& words = config.words("read_region");
    for (std::size_t i = 0; i < region.size(); ++i) {
        std::string why;
        const auto value = core::parse_real(words[i], why);
        if (!value)
            throw config.error("read_region", in_quotes(words[i]) + " of read_region " + why,
                               "give six numbers: the lower and the upper corner");
        region[i] = *value;
    }
    for (std::size_t d = 0; d < 3; ++d)
        if (region[3 + d] <= region[d] || region[d] >= static_cast<double>(cells[d]) / cells[0])
            throw config.error("read_region", "read_region holds no cell",
                               "give its lower corner first, inside of the domain");
    return region;
}

/// Both outputs beside each other need names of their own.
void check_names(const Inputs& inputs) {
    if (!inputs.shared_output && !inputs.native_output)
        throw inputs.config.error("outputs", "outputs names no file", "take shared or native");
    const bool both = inputs.shared_output && inputs.native_output;
    if (both && !inputs.filename.has_extension())
        throw inputs.config.error(
            "filename",
            "the file and the native folder would both be " + in_quotes(inputs.filename.string()),
            "give the file an ending, .nc for example");
}

}  // namespace

Inputs inputs_from(Config config, std::uint64_t ranks) {
    Inputs inputs;
    inputs.config = std::move(config);
    put_format(inputs);
    inputs.mesh = plan_of(inputs.config, ranks);
    inputs.components = inputs.config.number("ncomp");
    inputs.per_cell = inputs.config.number("nppc");
    inputs.steps = inputs.config.number("steps");
    inputs.files = inputs.config.number("nfiles");
    inputs.region = region_of(inputs.config, inputs.mesh.cells);
    put_grids(inputs);
    put_outputs(inputs);
    if (inputs.config.text("format") == "native") return native_inputs(std::move(inputs));
    runner::take_shared(inputs);
    let_pnetcdf_swap(inputs);
    runner::settle(inputs);
    check_names(inputs);
    return inputs;
}

Inputs native_inputs(Inputs inputs) {
    const bool native = inputs.config.text("format") == "native";
    if (native && !inputs.filename.empty()) return inputs;  // they are already
    if (native && inputs.shared_output)
        throw inputs.config.error("outputs", "shared with format native",
                                  "take shared away, or choose the format of the shared file");
    inputs.shared_output = false;
    core::Config config = inputs.config;
    for (const core::Setting& setting : inputs.config.effective()) {
        const core::Key* key = config.table().find(setting.key);
        const bool of_format = !key->used_by.empty() || setting.key == "hints";
        if (of_format && setting.source != core::Origin::default_value) config.forget(setting.key);
    }
    inputs.config = config;
    inputs.config.derive("format", "posix", "native");  // what its files are for the common keys
    runner::take_shared(inputs);
    const std::string place = config.place("format");
    inputs.config.derive("format", "native", place);
    inputs.filename = inputs.filename.parent_path() / inputs.filename.stem();
    inputs.config.derive("filename", inputs.filename.string(), place);
    inputs.notes.clear();
    check_names(inputs);
    return inputs;
}

std::filesystem::path of_step(const std::filesystem::path& first, std::uint64_t step,
                              std::uint64_t steps, bool folder) {
    if (steps == 1) return first;
    const std::string ending = folder ? "" : first.extension().string();
    const std::string stem = folder ? first.filename().string() : first.stem().string();
    const std::size_t digits = stem.size() - (stem.find_last_not_of("0123456789") + 1);
    if (digits == 0 || digits > 18) return first.parent_path() / (numbered(stem, step) + ending);
    std::string number = std::to_string(std::stoull(stem.substr(stem.size() - digits)) + step);
    if (number.size() < digits) number.insert(0, digits - number.size(), '0');
    return first.parent_path() / (stem.substr(0, stem.size() - digits) + number + ending);
}

std::filesystem::path grid_file(const Inputs& inputs, std::uint64_t level) {
    return std::filesystem::path(inputs.grids) / ("Level_" + std::to_string(level));
}

std::string text_of_file(const Inputs& inputs, const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
        throw inputs.config.error("grids_from_file",
                                  "grids_from_file: cannot read " + in_quotes(file.string()),
                                  "give the folder with the files Level_0 and so on");
    return text;
}

Mesh mesh_of(const Inputs& inputs, const std::vector<std::string>& grid_files) {
    try {
        MeshPlan plan = inputs.mesh;
        for (std::size_t level = 0; level < grid_files.size(); ++level)
            plan.grids.push_back(
                grids_from(grid_files[level], inputs.grids + "/Level_" + std::to_string(level)));
        Mesh mesh = make_mesh(plan);
        check({mesh, inputs.components, 0, 0});
        return mesh;
    } catch (const core::Error& error) {
        throw runner::at_its_line(inputs.config, error);
    }
}

}  // namespace tailrace::kernels::amr
