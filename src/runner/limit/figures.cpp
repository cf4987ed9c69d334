// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "core/statistics.hpp"
#include "core/units.hpp"
#include "runner/limit/limit.hpp"

namespace tailrace::runner::limit {

namespace {

std::string cell(const char* format, double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string line(const std::string& name, const std::string& mebi, const std::string& mega,
                 const std::string& ratio, const std::string& note) {
    std::array<char, 128> columns{};
    std::snprintf(columns.data(), columns.size(), "  %-22s %11s %11s %12s  ", name.c_str(),
                  mebi.c_str(), mega.c_str(), ratio.c_str());
    return columns.data() + note + "\n";
}

}  // namespace

void Figures::add(const core::Record& record) {
    if (!record.limit) return;
    ++x_records;
    for (const core::LimitArm& arm : record.limit->arms) {
        Arm& figures = x_arms[arm.name];
        figures.against = core::name(arm.against);
        if (arm.error) {
            figures.error = arm.error->message();
            continue;
        }
        if (arm.elapsed_s > 0)
            figures.rates.push_back(static_cast<double>(arm.bytes) / arm.elapsed_s);
        if (const auto ratio = core::limit_ratio(record, arm)) figures.ratios.push_back(*ratio);
    }
}

std::string Figures::text() const {
    if (x_arms.empty()) return {};
    const std::string over =
        x_records > 1 ? ", medians of " + std::to_string(x_records) + " repetitions" : "";
    std::string text = "\nThe limit: the same bytes from the same ranks by plain means" + over +
                       "\n" + line("", "MiB/s", "MB/s", "kernel / it", "time of the kernel");
    for (const auto& [name, arm] : x_arms) {
        if (arm.rates.empty()) {
            text += line(name, "-", "-", "-", "not measured: " + arm.error);
            continue;
        }
        const double rate = core::median(arm.rates);
        const bool compared = !arm.ratios.empty();
        text += line(name, cell("%.1f", rate / core::mebi), cell("%.1f", rate / core::mega),
                     compared ? cell("%.3f", core::median(arm.ratios)) : "-",
                     compared ? arm.against : "");
    }
    return text;
}

}  // namespace tailrace::runner::limit
