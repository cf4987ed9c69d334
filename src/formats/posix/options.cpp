// SPDX-License-Identifier: Apache-2.0
// The keys of formats posix and posix-per-rank; shared ones are described with hdf5.
#include "formats/keys.hpp"

namespace tailrace::formats::posix {

void register_keys(core::KeyTable& table) {
    // In a file per rank the pieces are packed.
    table.add(key_of("posix", "", "alignment", core::Shape::words));
}

Facts Options::facts() const {
    if (!file_per_rank) return {.format = "posix"};
    return {.format = "posix-per-rank",
            .contiguous = "with format posix-per-rank: a rank's block is one piece",
            .several_files = true};
}

Options options_from(const core::Config& config) {
    Options options;
    options.file_per_rank = config.text("format") == "posix-per-rank";
    if (config.has("alignment")) options.alignment_bytes = raw_alignment(config);
    return options;
}

}  // namespace tailrace::formats::posix
