// SPDX-License-Identifier: Apache-2.0
#include "runner/plan.hpp"

#include <algorithm>
#include <span>

#include "core/checked.hpp"
#include "formats/hint_list.hpp"
#include "formats/keys.hpp"

namespace tailrace::runner {

using core::Config;
using core::Error;
using core::in_quotes;
using core::Key;
using core::KeyTable;
using core::Shape;

namespace {

void register_run_keys(KeyTable& table) {
    Key repeat = key("repeat", Shape::number, "Run",
                     "so many measured repetitions after one warm-up, a fresh file each; without "
                     "it one run and no warm-up");
    repeat.min = 1;
    repeat.max = 1000000;
    table.add(repeat);
    Key compute = key("compute", Shape::words, "Run",
                      "emulated computation of so many seconds before every step but the first");
    compute.choices = {"SECONDS", "[busy|idle]"};
    compute.most_words = 2;
    table.add(compute);
    Key fsync = key("fsync", Shape::choice, "Run",
                    "when data is forced to the device: once at the end, or after every step");
    fsync.choices = {"close", "step"};
    fsync.default_text = "close";
    table.add(fsync);
    Key reserve = key("reserve", Shape::choice, "Run",
                      "set space aside for the whole file first; off: only look whether so much is "
                      "free, and a disk that others fill ends the run in the middle");
    reserve.choices = {"on", "off"};
    reserve.default_text = "on";
    table.add(reserve);
    table.add(key("read_back", Shape::flag, "Run",
                  "read the file by another decomposition afterwards, timed"));
    Key reads = key("read", Shape::words, "Run",
                    "read the file afterwards in these patterns, each timed and every element "
                    "checked");
    reads.choices = {"same|other|plane|points|shuffled", "..."};
    table.add(reads);
    table.add(key("cold_cache", Shape::flag, "Run",
                  "drop the file from the page cache before each `read`, where that can be done"));
    table.add(key("verify", Shape::flag, "Run", "read the file again and check every element"));
    table.add(key("limit", Shape::flag, "Run",
                  "write the same bytes by plain means too, interleaved: what the machine can do"));
    Key results = key("results", Shape::text, "Run", "file to which Records are appended");
    results.default_text = "results.jsonl";
    table.add(results);
}

void register_lustre_keys(KeyTable& table) {
    Key count = key("lfs_stripe_count", Shape::number, "Lustre",
                    "number of stripes; 0: the file system's default");
    count.max = 65535;
    table.add(count);
    Key size =
        key("lfs_stripe_size", Shape::number, "Lustre", "size of a stripe, a multiple of 65536");
    size.unit = "bytes";
    table.add(size);
}

/// Those of all kernels, and then those of a mesh with levels.
constexpr ReadPattern read_patterns[] = {
    ReadPattern::same,     ReadPattern::other, ReadPattern::plane, ReadPattern::points,
    ReadPattern::shuffled, ReadPattern::level, ReadPattern::region};
constexpr std::size_t patterns_of_all = 5;

std::vector<ReadPattern> reads_of(const Config& config) {
    std::vector<ReadPattern> reads;
    if (!config.has("read")) {
        if (config.flag("cold_cache"))
            throw config.error("cold_cache", "cold_cache without read",
                               "add the line `read same`, or another pattern");
        return reads;
    }
    std::vector<std::string> names;
    const bool levels = config.table().find("read_region") != nullptr;
    for (ReadPattern pattern :
         std::span(read_patterns).first(levels ? std::size(read_patterns) : patterns_of_all))
        names.emplace_back(name(pattern));
    for (const std::string& word : config.words("read")) {
        const auto at = std::find(names.begin(), names.end(), word);
        if (at == names.end()) {
            const std::string guess = core::nearest(word, names);
            throw config.error("read",
                               "read knows no pattern " + in_quotes(word) +
                                   (guess.empty() ? "" : ". Did you mean \"" + guess + "\"?"),
                               std::string("take some of same, other, plane, points, shuffled") +
                                   (levels ? ", level, region" : ""));
        }
        const ReadPattern pattern = read_patterns[at - names.begin()];
        if (std::find(reads.begin(), reads.end(), pattern) != reads.end())
            throw config.error("read", "the pattern " + word + " is given twice",
                               "name each pattern once; `repeat N` repeats the whole run");
        reads.push_back(pattern);
    }
    return reads;
}

Compute compute_of(const Config& config) {
    Compute compute;
    if (!config.has("compute")) return compute;
    const core::Words& words = config.words("compute");
    const std::string remedy =
        "write `compute SECONDS`, `compute SECONDS busy` or `compute SECONDS idle`";
    std::string why;
    const auto seconds = core::parse_real(words[0], why);
    if (!seconds) throw config.error("compute", in_quotes(words[0]) + " of compute " + why, remedy);
    if (*seconds > 86400)
        throw config.error("compute", in_quotes(words[0]) + " of compute is more than a day",
                           remedy);
    compute.seconds = *seconds;
    if (words.size() == 2 && words[1] != "busy" && words[1] != "idle")
        throw config.error("compute", in_quotes(words[1]) + " of compute is neither busy nor idle",
                           remedy);
    compute.busy = words.size() == 1 || words[1] == "busy";
    return compute;
}

Striping striping_of(const Plan& plan) {
    const Config& config = plan.config;
    Striping striping;
    if (config.has("lfs_stripe_count") && config.number("lfs_stripe_count") > 0)
        striping.count = config.number("lfs_stripe_count");
    if (config.has("lfs_stripe_size") && config.number("lfs_stripe_size") > 0)
        striping.size_bytes = config.number("lfs_stripe_size");
    if (striping.size_bytes && *striping.size_bytes % 65536 != 0)
        throw config.error("lfs_stripe_size",
                           std::to_string(*striping.size_bytes) + " is not a multiple of 65536",
                           "Lustre takes stripes of a multiple of 64 KiB: 1048576, for example");
    if (striping.asked() && plan.several_files())
        throw config.error(striping.count ? "lfs_stripe_count" : "lfs_stripe_size",
                           "striping is set for one shared file, but this run writes several",
                           "set the striping of the folder with lfs setstripe instead");
    return striping;
}

}  // namespace

core::Key key(const char* name, Shape shape, const char* group, const char* help) {
    Key one;
    one.name = name;
    one.shape = shape;
    one.group = group;
    one.help = help;
    return one;
}

const char* name(ReadPattern pattern) noexcept {
    switch (pattern) {
        case ReadPattern::same:
            return "same";
        case ReadPattern::other:
            return "other";
        case ReadPattern::plane:
            return "plane";
        case ReadPattern::points:
            return "points";
        case ReadPattern::shuffled:
            return "shuffled";
        case ReadPattern::full:
            return "full";
        case ReadPattern::partial:
            return "partial";
        case ReadPattern::strided:
            return "strided";
        case ReadPattern::level:
            return "level";
        case ReadPattern::region:
            break;
    }
    return "region";
}

void register_keys(KeyTable& table) {
    register_run_keys(table);
    register_lustre_keys(table);
}

formats::Hints Plan::hints() const {
    const formats::Hints* hints = options.hints();
    return hints ? *hints : formats::Hints{};
}

void take_shared(Plan& plan) {
    const Config& given = plan.config;
    plan.filename = given.text("filename");
    plan.results = given.text("results");
    plan.options = formats::options_from(given);
    if (given.has("hints") && plan.options.hints() == nullptr)
        plan.notes.push_back("hints has no effect with format " + given.text("format"));
    if (given.has("hints") && plan.options.hints() != nullptr &&
        formats::hints_from_list(given.text("hints"), plan.filename).empty())
        plan.notes.push_back("hints (" + given.place("hints") + ") has no pattern for the file " +
                             plan.filename.string());
    for (const std::string& sentence : formats::values_left_out(plan.hints()))
        plan.notes.push_back(sentence);
    plan.compute = compute_of(given);
    plan.striping = striping_of(plan);
    plan.repeat = given.has("repeat") ? given.number("repeat") : 0;
    plan.sync_each_step = given.text("fsync") == "step";
    plan.reserve = given.text("reserve") != "off";
    plan.read_back = given.flag("read_back");
    plan.verify = given.flag("verify");
    plan.reads = reads_of(given);
    plan.cold_cache = given.flag("cold_cache");
    if (given.flag("limit")) plan.limit = LimitMode::beside;
}

void started_as(Plan& plan, const Plan& started) {
    plan.input_file = started.input_file;
    plan.read_once = started.read_once;
    if (started.limit == LimitMode::alone) plan.limit = LimitMode::alone;
}

void settle(Plan& plan) {
    for (const std::string& name : formats::settle(plan.config, plan.options))
        plan.notes.push_back(name + " has no effect with format " + plan.config.text("format"));
}

core::Error at_its_line(const Config& config, const Error& error) {
    const std::string& key = error.where();
    if (config.has("filter"))  // one that is known by its number only
        for (std::size_t i = 0; i < config.lists("filter").size(); ++i)
            if (const core::Words& words = config.lists("filter")[i]; words.front() == key)
                return error.with_where(config.list_places("filter")[i] + " (filter " + key + ")");
    if (!config.given(key)) return error;
    for (const core::Setting& setting : config.effective())
        if (setting.key == key)
            return error.with_where(setting.place + " (" + key + " " + setting.text + ")");
    return error;
}

std::string by_x(const core::Extents& extents) {
    std::string text;
    for (std::uint64_t extent : extents)
        text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

std::uint64_t product(const Config& config, const char* key, const core::Extents& factors) {
    try {
        return core::checked_product(factors, key);
    } catch (const Error&) {
        throw config.error(key, "the product of " + by_x(factors) + " does not fit 64 bits",
                           "make " + std::string(key) + " smaller");
    }
}

}  // namespace tailrace::runner
