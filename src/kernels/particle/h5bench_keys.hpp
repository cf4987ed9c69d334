// SPDX-License-Identifier: Apache-2.0
// One key of h5bench and its value, as ours. Internal to the reader of its files.
#pragma once

#include <string>

namespace tailrace::kernels::particle {

/// A key of ours with its value; an empty key stands for nothing.
struct KeyValue {
    std::string key, value;
};

/// h5bench's KEY in lower case, its value as a line of ours has it: "8 M" is 8388608, "YES" is
/// "yes". A key that is not h5bench's comes back in lower case too: the configuration knows all.
/// [local]
/// @param place  "h5bench.json:12"
/// @throws core::Error{bad_input} also for what would change what is measured
[[nodiscard]] KeyValue key_value(const std::string& key, const std::string& value,
                                 const std::string& place);

/// "8 M" as a number: K, M, G and T are powers of 1024, as in h5bench.  [local]
/// @throws core::Error{bad_input}
[[nodiscard]] std::string number_of(const std::string& key, const std::string& value,
                                    const std::string& place);

}  // namespace tailrace::kernels::particle
