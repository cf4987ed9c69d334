// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/guard.hpp"

#include <algorithm>
#include <array>

namespace tailrace::intent::rules {

namespace {

struct GuardRow {
    Guard guard;
    std::string_view name;
    Harm harm = Harm::none;
};

constexpr std::array guard_rows{
    GuardRow{Guard::address, "address", Harm::always},
    GuardRow{Guard::alternation, "alternation"},
    GuardRow{Guard::amount, "amount"},
    GuardRow{Guard::append, "append"},
    GuardRow{Guard::balance, "balance"},
    GuardRow{Guard::cache, "cache", Harm::always},
    GuardRow{Guard::collective, "collective"},
    GuardRow{Guard::conflict, "conflict"},
    GuardRow{Guard::direct_chunks, "direct chunks", Harm::always},
    GuardRow{Guard::disagreement, "disagreement"},
    GuardRow{Guard::evidence, "evidence"},
    GuardRow{Guard::existing, "existing"},
    GuardRow{Guard::extents, "extents", Harm::always},
    GuardRow{Guard::file_system, "file system"},
    GuardRow{Guard::fill, "fill", Harm::always},
    GuardRow{Guard::filters, "filters", Harm::always},
    GuardRow{Guard::flush, "flush", Harm::always},
    GuardRow{Guard::format, "format"},
    GuardRow{Guard::hdf5_version, "HDF5 version"},
    GuardRow{Guard::in_force, "in force"},
    GuardRow{Guard::layout, "layout"},
    GuardRow{Guard::library, "library", Harm::always},
    GuardRow{Guard::memory, "memory"},
    GuardRow{Guard::metadata, "metadata", Harm::always},
    GuardRow{Guard::mpi_io, "MPI-IO"},
    GuardRow{Guard::name, "name"},
    GuardRow{Guard::nodes, "nodes"},
    GuardRow{Guard::nothing_to_set, "nothing to set"},
    GuardRow{Guard::opens, "opens", Harm::always},
    GuardRow{Guard::others, "others", Harm::always},
    GuardRow{Guard::page_buffer, "page buffer"},
    GuardRow{Guard::parallel, "parallel"},
    GuardRow{Guard::places, "places", Harm::always},
    GuardRow{Guard::program, "program"},
    GuardRow{Guard::proof, "proof", Harm::unless_alike},
    GuardRow{Guard::ranks, "ranks"},
    GuardRow{Guard::readers, "readers", Harm::always},
    GuardRow{Guard::reads, "reads", Harm::always},
    GuardRow{Guard::reliability, "reliability", Harm::always},
    GuardRow{Guard::rule_class, "class"},
    GuardRow{Guard::serial, "serial"},
    GuardRow{Guard::shape, "shape", Harm::always},
    GuardRow{Guard::site, "site"},
    GuardRow{Guard::size, "size", Harm::always},
    GuardRow{Guard::small_calls, "small calls"},
    GuardRow{Guard::sparse, "sparse", Harm::if_written},
    GuardRow{Guard::stripe, "stripe"},
    GuardRow{Guard::type, "type"},
    GuardRow{Guard::validity, "validity"},
    GuardRow{Guard::virtual_dataset, "virtual"},
    GuardRow{Guard::written, "written"},
};
constexpr bool guards_in_order() {
    for (std::size_t i = 0; i < guard_rows.size(); ++i)
        if (static_cast<std::size_t>(guard_rows[i].guard) != i) return false;
    return true;
}
static_assert(guards_in_order(), "a row for each guard, as they are declared");

}  // namespace

std::string_view name(Guard guard) { return guard_rows.at(static_cast<std::size_t>(guard)).name; }

Harm harm(Guard guard) { return guard_rows.at(static_cast<std::size_t>(guard)).harm; }

}  // namespace tailrace::intent::rules
