// SPDX-License-Identifier: Apache-2.0
// Keys that several formats share.
#include "formats/hint_list.hpp"
#include "formats/keys.hpp"
#ifdef TAILRACE_HAVE_MPI
#include "comm/mpi_io.hpp"
#endif

namespace tailrace::formats {

std::uint64_t whole_number(const core::Config& config, const char* key, const std::string& word) {
    std::string why;
    const auto number = core::parse_number(word, why);
    if (!number)
        throw config.error(key, core::in_quotes(word) + " of " + key + " " + why,
                           "write `" + core::KeyTable::usage(*config.table().find(key)) + "`");
    return *number;
}

Alignment alignment_of(const core::Config& config) {
    Alignment alignment;
    if (!config.has("alignment")) return alignment;
    const core::Words& words = config.words("alignment");
    alignment.bytes = whole_number(config, "alignment", words[0]);
    if (words.size() == 2) alignment.threshold_bytes = whole_number(config, "alignment", words[1]);
    return alignment;
}

std::vector<hdf5::Filter> filters_of(const core::Config& config) {
    std::vector<hdf5::Filter> filters;
    if (!config.has("filter")) return filters;
    for (const core::Words& words : config.lists("filter")) {
        hdf5::Filter filter;
        filter.name = words.front();
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint64_t number = whole_number(config, "filter", words[i]);
            const std::uint64_t largest = i == 0 ? 65535 : 4294967295;
            if (number > largest || (i == 0 && number == 0))
                throw config.error("filter",
                                   core::in_quotes(words[i]) + " is not a filter " +
                                       (i == 0 ? "number" : "parameter"),
                                   "filter numbers are 1 to 65535, parameters fit 32 bits");
            if (i == 0)
                filter.id = static_cast<unsigned>(number);
            else
                filter.parameters.push_back(static_cast<unsigned>(number));
        }
        filters.push_back(std::move(filter));
    }
    return filters;
}

std::uint64_t raw_alignment(const core::Config& config) {
    const core::Words& words = config.words("alignment");
    std::string why;
    const auto bytes = core::parse_number(words.front(), why);
    if (words.size() > 1) why = "has a threshold behind it, which the raw formats do not know";
    if (bytes && *bytes == 0) why = "is zero";
    if (!why.empty())
        throw config.error("alignment", core::in_quotes(words.front()) + " of alignment " + why,
                           "write `alignment BYTES`, BYTES at least 1");
    return *bytes;
}

Hints hints_of(const core::Config& config) {
    Hints hints = config.pairs("hint");
    if (config.has("hints")) {
        try {
            hints.merge(hints_from_list(config.text("hints"), config.text("filename")));
        } catch (const core::Error& error) {
            throw config.error("hints", error.message(), error.remedy());
        }
    }
#ifdef TAILRACE_HAVE_MPI
    for (const auto& [key, value] : hints)
        if (const std::string why = comm::why_no_hint(key, value); !why.empty())
            throw config.error("hint", "hint " + key + " cannot be set: " + why,
                               "this MPI takes " + comm::hint_limits());
#endif
    return hints;
}

}  // namespace tailrace::formats
