// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/check.hpp"

#include <strings.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/json/fields.hpp"
#include "intent/plan/functions.hpp"

namespace tailrace::intent::plan {

namespace {

/// A text that can stand in an environment or a hint: no line ends or other control characters.
bool printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 127; });
}

std::string number_text(double number) {
    return number == std::floor(number) && std::abs(number) < 1e18
               ? std::to_string(static_cast<long long>(number))
               : std::to_string(number);
}

std::string out_of_range(const KeyInfo& info, double value) {
    if (value >= info.low && value <= info.high) return {};
    return core::in_quotes(info.name) + " is " + number_text(value) + ", and may be " +
           number_text(info.low) + " to " + number_text(info.high);
}

std::string chunk_problem(const Extents& chunk) {
    if (chunk.empty() || chunk.size() > most_dimensions)
        return "a chunk has 1 to 32 extents, not " + std::to_string(chunk.size());
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : chunk) {
        if (extent == 0) return "an extent of the chunk is 0";
        elements = times(elements, extent);
    }
    return elements > largest_chunk ? "the chunk has 4 GiB or more" : "";
}

/// Of a number or a flag within quotation marks.
std::string text_instead(const std::string* word) {
    if (word == nullptr) return "";
    return ", and " + core::in_quotes(*word) + " is a text: write it without quotation marks";
}

std::string value_problem(const KeyInfo& info, const std::string& key, const Setting& value) {
    const auto* word = std::get_if<std::string>(&value);
    if (info.key == Key::hint) {
        const std::string_view name = std::string_view(key).substr(hint_prefix.size());
        if (word == nullptr || word->empty() || !printable(*word) || word->size() > 255)
            return "the value of a hint is a text of 1 to 255 characters";
        const bool plain = name.find_first_of(" =:\t*") == std::string_view::npos;
        return plain && printable(name) && name.size() <= 255
                   ? ""
                   : core::in_quotes(name) + " is no name of a hint";
    }
    switch (info.shape) {
        case Shape::flag:
            return std::holds_alternative<bool>(value)
                       ? ""
                       : core::in_quotes(info.name) + " is true or false" + text_instead(word);
        case Shape::number:
            if (const auto* number = std::get_if<std::uint64_t>(&value)) {
                std::string bad = out_of_range(info, static_cast<double>(*number));
                if (bad.empty() && info.key == Key::chunk_cache_slots &&
                    next_prime(*number) != *number)
                    return "the slots of a chunk cache are a prime, not " + std::to_string(*number);
                return bad;
            }
            return core::in_quotes(info.name) + " is a whole number" + text_instead(word);
        case Shape::real:
            if (const auto* real = std::get_if<double>(&value)) return out_of_range(info, *real);
            if (const auto* number = std::get_if<std::uint64_t>(&value))
                return out_of_range(info, static_cast<double>(*number));
            return core::in_quotes(info.name) + " is a number" + text_instead(word);
        case Shape::word:
            return word != nullptr && is_word(info, *word)
                       ? ""
                       : core::in_quotes(info.name) + " is one of: " + std::string(info.words);
        case Shape::extents:
            if (const auto* extents = std::get_if<Extents>(&value)) return chunk_problem(*extents);
            return core::in_quotes(info.name) + " is a list of extents";
    }
    return "";
}

std::string call_problem(const KeyInfo& info, const Call& call) {
    const FunctionInfo* function = find_function(call.name);
    if (function == nullptr) {
        std::vector<std::string> known;
        for (const FunctionInfo& one : functions())
            if (!one.name.empty()) known.emplace_back(one.name);
        const std::string guess = core::nearest(call.name, known);
        return "there is no function " + core::in_quotes(call.name) +
               (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?");
    }
    if (function->result != info.shape || info.key == Key::hint)
        return core::in_quotes(function->name) + " gives no value for " +
               core::in_quotes(info.name);
    std::size_t wanted = 0;
    for (const std::string_view& name : function->numbers) {
        if (name.empty()) continue;
        ++wanted;
        if (!call.numbers.contains(std::string(name)))
            return core::in_quotes(function->name) + " needs the number " + core::in_quotes(name);
    }
    if (call.numbers.size() != wanted)
        return core::in_quotes(function->name) + " takes " + std::to_string(wanted) +
               " numbers, not " + std::to_string(call.numbers.size());
    if (function->extents != !call.extents.empty() || call.extents.size() > most_dimensions)
        return core::in_quotes(function->name) +
               (function->extents ? " needs 1 to 32 extents" : " takes no extents");
    return "";
}

}  // namespace

Class least_class(Key key) noexcept {
    switch (key) {
        case Key::collective_metadata_writes:
        case Key::collective_metadata_reads:
        case Key::write_mode:
        case Key::read_mode:
        case Key::collective_io:
        case Key::chunk_io:
        case Key::chunk_io_chunks:
        case Key::chunk_io_percent:
            return Class::collective;
        case Key::file_space_strategy:
        case Key::page_bytes:
        case Key::page_buffer_bytes:
        case Key::metadata_cache_image:
        case Key::libver_low:
        case Key::libver_high:
        case Key::evict_on_close:
        case Key::file_locking:
        case Key::driver:
        case Key::core_increment_bytes:
        case Key::core_backing_store:
        case Key::subfiling_stripe_bytes:
        case Key::subfiling_concentrators_per_node:
        case Key::shuffle:
        case Key::deflate:
            return Class::opt_in;
        case Key::alignment_threshold_bytes:
        case Key::alignment_bytes:
        case Key::meta_block_bytes:
        case Key::small_data_block_bytes:
        case Key::layout:
        case Key::chunk:
        case Key::fill_time:
        case Key::allocation_time:
            return Class::layout;
        default:
            return Class::safe;
    }
}

bool is_enough(Class cls, Key key) noexcept {
    switch (least_class(key)) {
        case Class::collective:
            return cls == Class::collective;
        case Class::opt_in:
            return cls == Class::opt_in || cls == Class::collective;
        case Class::layout:
            return cls != Class::safe;
        default:
            return true;
    }
}

bool delays(const std::string& key, const std::optional<Setting>& value) {
    if (!value) return false;
    if (key == "metadata_cache_evictions") return *value == Setting(false);
    const auto* word = std::get_if<std::string>(&*value);
    // PnetCDF does not look at the case of letters.
    return key == "hint.nc_burst_buf" && word != nullptr &&
           strcasecmp(word->c_str(), "enable") == 0;
}

std::string problem_of(const Planned& setting) {
    const KeyInfo* info = find_key(setting.key);
    if (info == nullptr) {
        std::vector<std::string> known;
        for (const KeyInfo& one : keys()) known.emplace_back(one.name);
        const std::string guess = core::nearest(setting.key, known);
        return "there is no setting " + core::in_quotes(setting.key) +
               (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?");
    }
    if (setting.value.has_value() == setting.function.has_value())
        return core::in_quotes(setting.key) + " needs a value or a function, and not both";
    if (setting.cls == Class::advice)
        return "what is set is no advice: " + core::in_quotes(setting.key);
    // A plan by hand may call the rest what it likes; this keeps ranks from waiting for ever.
    if (least_class(info->key) == Class::collective && setting.cls != Class::collective)
        return core::in_quotes(setting.key) +
               " makes ranks wait for each other: its class is collective";
    return setting.value ? value_problem(*info, setting.key, *setting.value)
                         : call_problem(*info, *setting.function);
}

std::string problem_of(const Variable& variable) {
    const auto fits = [](char c) {
        return (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    };
    if (variable.name.empty() ||
        !std::all_of(variable.name.begin(), variable.name.end(),
                     [&](char c) { return fits(c) || (c >= 'a' && c <= 'z'); }))
        return core::in_quotes(variable.name) + " is no name of a variable";
    // Whatever makes another program or library run is nothing that a plan may set.
    for (const std::string_view taken : {"LD_", "PATH", "HDF5_", "PYTHON", "TAILRACE_"})
        if (variable.name.rfind(taken, 0) == 0)
            return "a plan does not set " + core::in_quotes(variable.name);
    return printable(variable.value) ? "" : "the value holds control characters";
}

void check(const Plan& plan, const std::string& where) {
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
        const Entry& entry = plan.entries[i];
        const std::string place = "entries[" + std::to_string(i) + "]";
        if (entry.file.empty()) throw json::error_at(where, place, "the file is empty");
        std::set<std::string> seen;
        for (std::size_t k = 0; k < entry.settings.size(); ++k) {
            const std::string one = place + ".settings[" + std::to_string(k) + "]";
            const std::string problem = problem_of(entry.settings[k]);
            if (!problem.empty()) throw json::error_at(where, one, problem);
            if (!seen.insert(entry.settings[k].key).second)
                throw json::error_at(
                    where, one, core::in_quotes(entry.settings[k].key) + " stands there twice");
            const Level level = find_key(entry.settings[k].key)->level;
            const bool of_dataset = level == Level::dataset_create ||
                                    level == Level::dataset_access || level == Level::transfer;
            if (of_dataset == entry.dataset.empty())
                throw json::error_at(where, one,
                                     core::in_quotes(entry.settings[k].key) +
                                         (of_dataset ? " is a setting of datasets, and this entry "
                                                       "is of a file"
                                                     : " is a setting of files, and this entry is "
                                                       "of a dataset"));
        }
    }
    for (std::size_t i = 0; i < plan.environment.size(); ++i) {
        const std::string problem = problem_of(plan.environment[i]);
        if (!problem.empty())
            throw json::error_at(where, "environment[" + std::to_string(i) + "]", problem);
    }
}

}  // namespace tailrace::intent::plan
