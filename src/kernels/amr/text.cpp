// SPDX-License-Identifier: Apache-2.0
#include "kernels/amr/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/context.hpp"
#include "core/units.hpp"
#include "runner/text.hpp"

namespace tailrace::kernels::amr {

using runner::labelled;

namespace {

template <class... Values>
std::string printed(const char* form, Values... values) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), form, values...);
    return line.data();
}

std::string time_line(const std::string& name, double seconds) {
    return "Write_" + name + " = " + printed("%.10g", seconds) + "  seconds.\n";
}

double most(const runner::Figures& figures, const std::string& lap) {
    const auto at = figures.laps.find(lap);
    return at == figures.laps.end() ? 0 : at->second.seconds.max;
}

double of(const runner::Laps& laps, std::initializer_list<const char*> names) {
    double sum = 0;
    for (const char* name : names)
        if (const auto at = laps.all().find(name); at != laps.all().end())
            sum += at->second.seconds;
    return sum;
}

std::uint64_t calls_of(const runner::Laps& laps, const std::string& name) {
    const auto at = laps.all().find(name);
    return at == laps.all().end() ? 0 : at->second.calls;
}

std::string in_capitals(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
    return text;
}

std::string bandwidths(const char* what, const runner::Figures& figures) {
    return labelled(std::string(what) + ", data",
                    core::seconds_text(figures.write_s) + ", " +
                        core::rate_text(runner::rate(figures.bytes, figures.write_s))) +
           labelled(std::string(what) + ", open to close",
                    core::seconds_text(figures.aggregate_s()) + ", " +
                        core::rate_text(runner::rate(figures.bytes, figures.aggregate_s())));
}

}  // namespace

std::string cells_text(const Mesh& mesh) {
    const CellBox& domain = mesh.levels.front().domain;
    return std::to_string(domain.length(0)) + " x " + std::to_string(domain.length(1)) + " x " +
           std::to_string(domain.length(2)) + " cells";
}

std::string echo_text(const Inputs& inputs, const Mesh& mesh, std::uint64_t particles) {
    std::string text = "MPI initialized with " + std::to_string(mesh.ranks) + " MPI processes\n" +
                       "Tailrace (" + std::string(core::version()) + ") initialized\n";
    for (std::size_t number = 0; number < mesh.levels.size(); ++number) {
        const Level& level = mesh.levels[number];
        std::vector<std::uint64_t> cells(static_cast<std::size_t>(mesh.ranks), 0);
        for (std::size_t box = 0; box < level.boxes.size(); ++box)
            cells[static_cast<std::size_t>(level.owners[box])] += level.boxes[box].cells();
        const auto [least, most_of] = std::ranges::minmax(cells);
        text += labelled("Level " + std::to_string(number),
                         std::to_string(level.boxes.size()) + " boxes, " +
                             std::to_string(level.cells()) + " cells, " + std::to_string(least) +
                             " to " + std::to_string(most_of) + " of a rank");
    }
    if (inputs.particle_output) text += labelled("Particles", std::to_string(particles));
    return text;
}

std::string shared_text(const Inputs& inputs, const runner::Figures& figures) {
    const std::string format = inputs.config.text("format");
    const double header = most(figures, "create"), schema = most(figures, "schema");
    const double init = header + schema, define = most(figures, "define");
    const double tables = most(figures, "prepare 0"), variables = most(figures, "write 0");
    std::string text = time_line("NCHEADER_time_1_2_0", header) +
                       time_line("NCATT_time_1_3", schema) + time_line("NCINIT_time_1", init) +
                       time_line("NCATT_time_2", define) + time_line("NCATT_time_3", tables) +
                       time_line("NCVAR_time_4", variables) +
                       time_line("NCATT_time", init + define + tables + variables);
    for (std::uint64_t level = 0; level < inputs.mesh.levels; ++level)
        text += "::---- calling NCPUT for the grid data on level " + std::to_string(level) + "\n";
    const double pieces = most(figures, "prepare 1"), data = most(figures, "write 1");
    text += time_line("NCATT_time_5", pieces) + time_line("NCVARPUT_time", data) +
            "Write_NCVARPUT_time_since = " + std::to_string(figures.data_written_at) + "\n" +
            time_line("NC_time_7_closing", figures.close_s) +
            time_line(in_capitals(format) + "_time",
                      init + define + tables + variables + pieces + data + figures.close_s);
    return text;
}

void Profile::add(const std::string& name, std::uint64_t calls, double inclusive,
                  double exclusive) {
    x_inclusive.add(name, inclusive, calls);
    x_exclusive.add(name, std::max(exclusive, 0.0), calls);
}

void Profile::add_shared(const std::string& format, const runner::Figures& figures) {
    const runner::Laps& laps = figures.mine;
    x_bandwidths += bandwidths("Plot file", figures);
    const double put = of(laps, {"prepare 1", "write 1"}), grids = of(laps, {"write 1"});
    const double rest = of(laps, {"create", "schema", "define", "prepare 0", "write 0", "close"});
    const std::uint64_t files = calls_of(laps, "create");
    add("WriteMultiLevelPlotfile" + in_capitals(format), files, rest + put, rest);
    add("NCVarPut", calls_of(laps, "prepare 1"), put, put - grids);
    add("NCVarPutGrids", calls_of(laps, "write 1"), grids, grids);
}

void Profile::add_native(const runner::Figures& figures, bool particles) {
    const runner::Laps& laps = figures.mine;
    x_bandwidths += bandwidths("Native folder", figures);
    const double data = of(laps, {"prepare 0", "write 0"}), extremes = of(laps, {"extremes"});
    const double texts = of(laps, {"texts", "prepare 2", "write 2"});
    const double offsets = of(laps, {"schema"});
    const double rest = of(laps, {"create", "define", "close"});
    const std::uint64_t files = calls_of(laps, "create");
    add("WriteMultiLevelPlotfile()", files, rest + data + extremes + texts + offsets, rest);
    add("VisMF::Write(FabArray)", files, data + extremes + texts + offsets, data);
    add("VisMF::CalculateMinMax", calls_of(laps, "extremes"), extremes, extremes);
    add("VisMF::FindOffsets", calls_of(laps, "schema"), offsets, offsets);
    add("VisMF::WriteHeader", calls_of(laps, "write 2"), texts, texts);
    if (!particles) return;
    const double points = of(laps, {"prepare 1", "write 1"});
    add("ParticleContainer::WriteParticles()", calls_of(laps, "write 1"), points, points);
}

namespace {

std::string table(const char* kind, const std::map<std::string, runner::LapOfRanks>& timers,
                  double total_s) {
    std::vector<std::pair<std::string, runner::LapOfRanks>> rows(timers.begin(), timers.end());
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
        return a.second.seconds.max > b.second.seconds.max;
    });
    std::size_t width = std::string_view("Name").size();
    for (const auto& row : rows) width = std::max(width, row.first.size());
    const auto pad = [&](std::string text) {
        text.resize(width, ' ');
        return text;
    };
    const std::string rule(width + 49, '-');
    std::string text =
        "\n" + rule + "\n" + pad("Name") +
        printed("%8s%11s%11s%11s%8s\n", "NCalls", (std::string(kind) + " Min").c_str(),
                (std::string(kind) + " Avg").c_str(), (std::string(kind) + " Max").c_str(),
                "Max %") +
        rule + "\n";
    for (const auto& [name, lap] : rows)
        text += pad(name) + printed("%8llu%11.4g%11.4g%11.4g%7.2f%%\n",
                                    static_cast<unsigned long long>(lap.calls), lap.seconds.min,
                                    lap.seconds.mean, lap.seconds.max,
                                    total_s > 0 ? 100 * lap.seconds.max / total_s : 0);
    return text + rule + "\n";
}

}  // namespace

std::string Profile::text(const comm::Comm& comm) {
    runner::Laps total;
    const double now = core::now_s();
    total.add("total", now - x_start_s);
    const core::Spread all = runner::over_ranks(comm, total).at("total").seconds;
    const std::string text =
        printed(
            "\n\nTinyProfiler total time across processes [min...avg...max]: %.4g ... %.4g ... "
            "%.4g\n",
            all.min, all.mean, all.max) +
        table("Excl.", runner::over_ranks(comm, x_exclusive), all.max) +
        table("Incl.", runner::over_ranks(comm, x_inclusive), all.max) + "\n" +
        std::exchange(x_bandwidths, {});
    x_start_s = now;
    x_inclusive = x_exclusive = {};
    return text;
}

}  // namespace tailrace::kernels::amr
