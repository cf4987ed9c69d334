// SPDX-License-Identifier: Apache-2.0
// Small profiles for tests.
#pragma once

#include <string>

#include "intent/intents/derive.hpp"

namespace tailrace::intent::tests {

inline Transfers transfers(std::uint64_t calls, std::uint64_t bytes, double start_s, double end_s) {
    Transfers made;
    made.calls = calls;
    made.bytes = bytes;
    made.active = Span{start_s, end_s};
    return made;
}

/// A one-dimensional dataset of doubles.
inline Dataset dataset(const std::string& path, std::uint64_t elements, std::uint64_t processes) {
    Dataset made;
    made.path = path;
    made.processes = ProcessSet(0, processes - 1);
    made.type = ElementType{"float", 8, "f64le"};
    made.ndims = 1;
    made.elements = elements;
    made.dims = {elements};
    made.opens = processes;
    return made;
}

inline File file(const std::string& path, std::uint64_t first, std::uint64_t last) {
    File made;
    made.path = path;
    made.processes = ProcessSet(first, last);
    made.hdf5 = Hdf5File{};
    made.hdf5->opens = made.processes.size();
    return made;
}

inline Profile profile(std::uint64_t ranks) {
    Profile made;
    made.run.ranks = ranks;
    made.run.elapsed_s = 10;
    return made;
}

inline Intents intents(const Profile& one) { return intents_of({{"p.json", one}}); }

}  // namespace tailrace::intent::tests
