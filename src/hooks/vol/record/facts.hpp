// SPDX-License-Identifier: Apache-2.0
// What the connector tells the recorder: plain data, without a word of HDF5.
#pragma once

#include <stdint.h>

#include "hooks/common/spooling.hpp"

namespace tailrace::hooks::vol {

constexpr uint32_t most_dimensions = spool::most_dimensions;
constexpr uint32_t most_settings = 24;
constexpr uint32_t most_filters = 8;
constexpr uint32_t most_filter_values = 16;

struct Setting {
    uint32_t key;
    uint32_t count;
    uint64_t real;
    uint64_t values[4];
};
struct Settings {
    uint32_t count = 0;
    Setting all[most_settings];
};

/// What tells whether somebody else has changed or replaced a file.
struct FileState {
    bool known = false;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t bytes = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
};

struct FileFacts {
    bool created = false;
    bool read_only = false;
    uint32_t driver = spool::driver_not_known;
    uint32_t communicator_size = 0;
    FileState before;  ///< before it was opened
    Settings settings;
};

struct Filter {
    uint32_t id;
    uint32_t count;
    uint64_t values[most_filter_values];
    char name[64];
};

struct DatasetFacts {
    uint32_t rank = 0;
    uint32_t chunk_rank = 0;
    uint64_t dims[most_dimensions];
    uint64_t largest[most_dimensions];
    uint64_t chunk[most_dimensions];
    uint64_t elements = 0;
    uint64_t type_bytes = 0;
    int32_t type_class = spool::not_known;
    int32_t type_order = spool::not_known;
    int32_t type_signed = spool::not_known;
    int32_t variable = 0;
    bool has_members = false;  ///< elements are compounds, or hold some
    int32_t layout = spool::not_known;
    int32_t fill_defined = spool::not_known;
    int32_t fill_time = spool::not_known;
    int32_t allocation = spool::not_known;
    uint32_t filters = 0;
    Filter filter[most_filters];
    Settings settings;
};

/// Which elements a transfer is about.
struct ElementSet {
    spool::Selected selection = spool::select_all;
    bool empty = false;
    bool known = false;  ///< the four below say it; else only the box round it (count 1)
    uint32_t rank = 0;
    uint64_t start[most_dimensions];
    uint64_t stride[most_dimensions];
    uint64_t count[most_dimensions];
    uint64_t block[most_dimensions];
};

struct Transfer {
    spool::Direction direction = spool::reads;
    const ElementSet* place = nullptr;
    uint64_t elements = 0;
    bool multi = false;
    bool collective = false;
    bool failed = false;
    bool in_part = false;  ///< members of the elements were left as they were
    Took took{0, 0};
};

}  // namespace tailrace::hooks::vol
