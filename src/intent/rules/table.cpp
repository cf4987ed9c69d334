// SPDX-License-Identifier: Apache-2.0
// The one table of rules, and their order where two of them meet.
#include <algorithm>
#include <array>
#include <charconv>

#include "intent/rules/rule.hpp"

namespace tailrace::intent::rules {

namespace {

int number_of(const Rule* rule) {
    int number = 0;
    std::from_chars(rule->id.data(), rule->id.data() + rule->id.size(), number);
    return number;
}

std::vector<const Rule*> collected() {
    std::vector<const Rule*> all;
    for (const auto part :
         {metadata_rules(), metadata_cache_rules(), cache_rules(), sieve_rules(), layout_rules(),
          written_rules(), storage_rules(), transfer_rules(), driver_rules(), hint_rules(),
          pnetcdf_rules(), advice_rules(), beyond_rules(), access_rules(), plain_rules(),
          run_rules(), mpi_io_rules()})
        for (const Rule& rule : part) all.push_back(&rule);
    std::sort(all.begin(), all.end(),
              [](const Rule* a, const Rule* b) { return number_of(a) < number_of(b); });
    return all;
}

// Who is a loser anywhere is settled before he wins: a rule that is held holds none back.
constexpr std::array order{
    Conflict{"12", "11", "whole transfers gain nothing from a larger sieve buffer"},
    Conflict{"22", "21", "a contiguous dataset has no incremental allocation"},
    Conflict{"13", "16", "the plan sets a cache that holds all the chunks which calls visit"},
    Conflict{"15", "14", "what is read again is kept"},
    Conflict{"23", "17", "a compact dataset has no chunks"},
    Conflict{"23", "18", "a compact dataset has no chunks"},
    Conflict{"23", "30", "a compact dataset has no filters"},
    Conflict{"23", "20", "a compact dataset is written with its header"},
    Conflict{"19", "17", "both choose the chunk; appending decides"},
    Conflict{"19", "18", "both choose the chunk; appending decides"},
    Conflict{"17", "18", "both choose the chunk; the tile serves reads too"},
    Conflict{"29", "25", "filters make collective writes a must"},
    Conflict{"29", "27", "filters want collective writes as they are"},
    Conflict{"27", "43", "large contiguous parts gain nothing from collective buffering"},
    Conflict{"34", "32", "one driver"},
    Conflict{"32", "1", "the core driver holds the whole file in memory"},
    Conflict{"32", "9", "the core driver holds the whole file in memory"},
    Conflict{"9", "1", "with the strategy page HDF5 ignores alignment (rule 10)"},
    Conflict{"9", "2", "with the strategy page HDF5 ignores alignment (rule 10)"},
    Conflict{"9", "3", "with the strategy page metadata is aggregated in pages"},
    Conflict{"9", "4", "with the strategy page small data is aggregated in pages"},
    Conflict{"2", "1", "both align from a block on; that many objects are small is said"},
    Conflict{"32", "11", "the core driver holds the whole file in memory"},
    Conflict{"32", "33", "one driver"},
    Conflict{"34", "33", "one driver"},
    Conflict{"40", "8", "the image decides the size of the metadata cache"},
    Conflict{"8", "7", "both size the metadata cache; re-opens count more"},
    Conflict{"23", "59", "a compact dataset is written with its header"},
    Conflict{"17", "20", "the elements of chunks are not counted"},
    Conflict{"17", "59", "the elements of chunks are not counted"},
    Conflict{"18", "59", "the elements of chunks are not counted"},
    Conflict{"17", "72", "the plan sets the chunk"},
    Conflict{"18", "72", "the plan sets the chunk"},
    Conflict{"19", "72", "the plan sets the chunk"},
    Conflict{"52", "51", "subfiles and the burst buffer exclude each other"},
};

}  // namespace

std::span<const Rule* const> all_rules() {
    static const std::vector<const Rule*> all = collected();
    return all;
}

std::span<const Conflict> conflicts() { return order; }

}  // namespace tailrace::intent::rules
