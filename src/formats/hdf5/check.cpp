// SPDX-License-Identifier: Apache-2.0
// Options against this build, without a file.
#include "formats/hdf5/open.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/sink/turns.hpp"

namespace tailrace::formats::hdf5 {

void check(const Options& options, int ranks) {
    const Turn turn;
    const h5::Quiet quiet;
    check_options(options, ranks);
    (void)shared_driver(options);
}

}  // namespace tailrace::formats::hdf5
