// SPDX-License-Identifier: Apache-2.0
// How large a file is in the end.
#pragma once

#include "intent/intents/model.hpp"

namespace tailrace::intent {

/// The last byte that was touched, or what MPI-IO told before the close; where calls are known to
/// lie elsewhere no more than "at least". Nothing where no layer knows of places.  [local]
[[nodiscard]] std::optional<Amount> touched_of(const File& file);
/// The same, never less than what the datasets take that were written; without any place the sizes
/// of the datasets.  [local]
[[nodiscard]] std::optional<Amount> size_of(const File& file, const SizeSummary& datasets);

}  // namespace tailrace::intent
