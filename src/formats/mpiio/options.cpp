// SPDX-License-Identifier: Apache-2.0
// The keys of format mpiio; those that it shares with hdf5 are described there.
#include "formats/keys.hpp"

namespace tailrace::formats::mpiio {

void register_keys(core::KeyTable& table) {
    for (const auto& [name, shape] :
         {std::pair{"alignment", core::Shape::words},
          std::pair{"collective_write", core::Shape::flag}, std::pair{"hint", core::Shape::pairs}})
        table.add(key_of("mpiio", "", name, shape));
}

Facts Options::facts() const { return {.format = "mpiio", .collective = collective}; }

Options options_from(const core::Config& config) {
    Options options;
    options.collective = config.flag("collective_write");
    options.hints = hints_of(config);
    if (config.has("alignment")) options.alignment_bytes = raw_alignment(config);
    return options;
}

}  // namespace tailrace::formats::mpiio
