// SPDX-License-Identifier: Apache-2.0
// Why a rule is held back, and whether following it all the same would do harm.
#pragma once

#include <cstdint>
#include <string_view>

namespace tailrace::intent::rules {

/// The name that plans and pages have is name(guard).
enum class Guard : std::uint8_t {
    address,
    alternation,
    amount,
    append,
    balance,
    cache,
    collective,
    conflict,
    direct_chunks,
    disagreement,
    evidence,
    existing,
    extents,
    file_system,
    fill,
    filters,
    flush,
    format,
    hdf5_version,
    in_force,
    layout,
    library,
    memory,
    metadata,
    mpi_io,
    name,
    nodes,
    nothing_to_set,
    opens,
    others,
    page_buffer,
    parallel,
    places,
    program,
    proof,
    ranks,
    readers,
    reads,
    reliability,
    rule_class,
    serial,
    shape,
    site,
    size,
    small_calls,
    sparse,
    stripe,
    type,
    validity,
    virtual_dataset,
    written,
};

/// What a rule would do that is followed though it is held back.
enum class Harm : std::uint8_t {
    none,          ///< there is no need of it, or the hooks look again where they put the setting
    always,        ///< contents, or time, may be lost
    unless_alike,  ///< if ranks do not call alike, they wait for ever
    if_written,    ///< only to what was written, or is of several ranks
};

[[nodiscard]] std::string_view name(Guard guard);  ///< [local]
[[nodiscard]] Harm harm(Guard guard);              ///< [local]

}  // namespace tailrace::intent::rules
