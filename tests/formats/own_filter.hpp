// SPDX-License-Identifier: Apache-2.0
// A filter that changes nothing, or fails, in this process only.
#pragma once

#include <hdf5.h>

namespace hdf5_test {

class OwnFilter {
public:
    static constexpr H5Z_filter_t id = 311;
    OwnFilter() {
        const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id, 1, 1, "same", nullptr, nullptr, same};
        H5Zregister(&filter);
    }
    ~OwnFilter() { H5Zunregister(id); }
    OwnFilter(const OwnFilter&) = delete;
    OwnFilter& operator=(const OwnFilter&) = delete;

    /// Whether it fails from now on.
    static bool& fails() {
        static bool failing = false;
        return failing;
    }

private:
    static std::size_t same(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                            void**) {
        return fails() ? 0 : bytes;
    }
};

}  // namespace hdf5_test
