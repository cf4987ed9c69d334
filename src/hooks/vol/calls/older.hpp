// SPDX-License-Identifier: Apache-2.0
// HDF5 1.12 has connectors too, of another structure. It cannot be told that it is not served: a
// library whose connector cannot be had does not initialise, and the first call of the program
// fails. So it gets its own connector under our name.
#pragma once

namespace tailrace::hooks::vol {

/// The connector of the HDF5 1.12 that holds `code`, an address in it: its native one with our
/// name. Where something was asked of us it is said, or noted down, that nothing comes of it.
/// nullptr: it is no HDF5 1.12, or HDF5_VOL_CONNECTOR is not set.  [local]
const void* native_of_older(const void* code);

}  // namespace tailrace::hooks::vol
