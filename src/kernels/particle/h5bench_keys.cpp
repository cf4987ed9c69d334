// SPDX-License-Identifier: Apache-2.0
#include "kernels/particle/h5bench_keys.hpp"

#include <array>
#include <string_view>

#include "core/checked.hpp"
#include "core/config.hpp"
#include "core/config_values.hpp"

namespace tailrace::kernels::particle {

namespace {

using core::Code;
using core::Error;
using core::in_quotes;

/// Values that are taken as they are.
constexpr std::array<std::string_view, 4> texts{"CSV_FILE", "ENV_METADATA_FILE", "IO_MEM_LIMIT",
                                                "EMULATED_COMPUTE_TIME_PER_TIMESTEP"};
/// Values that are words.
constexpr std::array<std::string_view, 3> words{"MEM_PATTERN", "FILE_PATTERN", "READ_OPTION"};
constexpr std::array<std::string_view, 6> switches{
    "COLLECTIVE_DATA", "COLLECTIVE_METADATA", "COMPRESS", "ALIGN", "FILE_PER_PROC", "SUBFILING"};

struct Refused {
    std::string_view key, why;
};
constexpr std::array<Refused, 5> refused{{
    {"STDEV_DIM_1", "it belongs to the benchmark write_var_normal_dist"},
    {"DATA_DIST_PATH", "it belongs to the benchmark write_var_normal_dist"},
    {"DATA_DIST_SCALE", "it belongs to the benchmark write_var_normal_dist"},
    {"DYNAMIC_VFD_NAME", "it belongs to the benchmark for graphics cards"},
    {"BENCHMARK", "it belongs beside the configuration, not into it"},
}};

template <std::size_t count>
bool has(const std::array<std::string_view, count>& keys, std::string_view key) {
    for (const std::string_view one : keys)
        if (one == key) return true;
    return false;
}

std::string switch_of(const std::string& key, const std::string& value, const std::string& place) {
    const std::string word = core::lower(value);
    if (word == "yes" || word == "y" || word == "true" || word == "1") return "yes";
    if (word == "no" || word == "n" || word == "false" || word == "0") return "no";
    throw Error(Code::bad_input, in_quotes(value) + " of " + key + " is neither YES nor NO", place,
                "write YES or NO");
}

/// MODE and the older ASYNC_MODE: only the synchronous one is the same measurement.
KeyValue mode_of(const std::string& key, const std::string& value, const std::string& place) {
    if (value == "SYNC" || value == "NON") return {"mode", "sync"};
    throw Error(Code::bad_input,
                key + " " + in_quotes(value) +
                    " would change what is measured: here all writes "
                    "are synchronous",
                place,
                "write \"MODE\": \"SYNC\"; asynchronous output is what tailrace-serve is for");
}

/// COMPRESS_FILTER of newer versions of h5bench: the only one that COMPRESS meant before.
KeyValue filter_of(const std::string& key, const std::string& value, const std::string& place) {
    if (core::lower(core::trimmed(value)) == "gzip") return {"compress_filter", "gzip"};
    throw Error(Code::bad_input, key + " " + in_quotes(value) + " is not at hand here", place,
                "write \"GZIP\"; other compression is our option deflate, zstd or shuffle");
}

}  // namespace

std::string number_of(const std::string& key, const std::string& value, const std::string& place) {
    std::string digits(core::trimmed(value));
    std::uint64_t scale = 1;
    const std::size_t end = digits.find_first_not_of("0123456789");
    if (end != std::string::npos && end > 0) {
        std::string unit(core::trimmed(std::string_view(digits).substr(end)));
        if (unit.size() == 2 && unit.back() == 's') unit.pop_back();
        const std::size_t power = std::string_view("KMGT").find(unit);
        if (unit.size() == 1 && power != std::string_view::npos) {
            for (std::size_t i = 0; i <= power; ++i) scale *= 1024;
            digits.resize(end);
        }
    }
    std::string why;
    const auto number = core::parse_number(digits, why);
    if (!number)
        throw Error(Code::bad_input, in_quotes(value) + " of " + key + " " + why, place,
                    "write a whole number, \"8388608\" or \"8 M\" for example");
    try {
        return std::to_string(core::checked_mul(*number, scale, key));
    } catch (const Error&) {
        throw Error(Code::bad_input, in_quotes(value) + " of " + key + " does not fit 64 bits",
                    place, "write a smaller number");
    }
}

KeyValue key_value(const std::string& key, const std::string& value, const std::string& place) {
    const std::string ours = core::lower(key);
    for (const Refused& one : refused)
        if (one.key == key)
            throw Error(Code::bad_input, key + " has no meaning here: " + std::string(one.why),
                        place, "take it away");
    if (key == "MODE" || key == "ASYNC_MODE") return mode_of(key, value, place);
    if (key == "COMPRESS_FILTER") return filter_of(key, value, place);
    if (has(texts, key)) return {ours, std::string(core::trimmed(value))};
    if (has(switches, key)) return {ours, switch_of(key, value, place)};
    if (has(words, key)) return {ours, core::lower(core::trimmed(value))};
    constexpr std::array<std::string_view, 19> numbers{"STRIDE_SIZE_2",
                                                       "BLOCK_SIZE_2",
                                                       "STRIDE_SIZE_3",
                                                       "BLOCK_SIZE_3",
                                                       "TIMESTEPS",
                                                       "NUM_DIMS",
                                                       "DIM_1",
                                                       "DIM_2",
                                                       "DIM_3",
                                                       "NUM_PARTICLES",
                                                       "CHUNK_DIM_1",
                                                       "CHUNK_DIM_2",
                                                       "CHUNK_DIM_3",
                                                       "STRIDE_SIZE",
                                                       "BLOCK_SIZE",
                                                       "BLOCK_CNT",
                                                       "ALIGN_LEN",
                                                       "ALIGN_THRESHOLD",
                                                       "TO_READ_NUM_PARTICLES"};
    if (has(numbers, key) || key == "DELAYED_CLOSE_TIMESTEPS")
        return {ours, number_of(key, value, place)};
    return {ours, value};
}

}  // namespace tailrace::kernels::particle
