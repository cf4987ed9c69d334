# SPDX-License-Identifier: Apache-2.0
"""Names of MPI-IO hints, so that `--vary cb_nodes=1,2` is understood as a hint."""

from __future__ import annotations

import re

# Reserved by the MPI standard; then ROMIO's and those of PnetCDF.
known = (
    "access_style", "collective_buffering", "cb_block_size", "cb_buffer_size", "cb_nodes",
    "chunked", "chunked_item", "chunked_size", "file_perm", "io_node_list", "nb_proc",
    "num_io_nodes", "striping_factor", "striping_unit",
    "cb_config_list", "direct_read", "direct_write", "ind_rd_buffer_size", "ind_wr_buffer_size",
    "start_iodevice", "romio_cb_alltoall", "romio_cb_ds_threshold", "romio_cb_fr_alignment",
    "romio_cb_fr_types", "romio_cb_pfr", "romio_cb_read", "romio_cb_write", "romio_ds_read",
    "romio_ds_write", "romio_lustre_co_ratio", "romio_lustre_coll_threshold",
    "romio_lustre_ds_in_coll", "romio_no_indep_rw", "romio_synchronizing_flush",
    "nc_header_align_size", "nc_header_read_chunk_size", "nc_ibuf_size", "nc_record_align_size",
    "nc_var_align_size",
)  # fmt: skip

_families = ("romio_", "nc_", "pnetcdf_", "cray_cb_", "aggregation_")


def is_hint(name: str) -> bool:
    return name in known or name.startswith(_families)


def ignored_by(mpi_io: str, hint: str) -> bool:
    """Whether an MPI-IO (ompio, romio) is known never to read the hint: OMPIO, what only ROMIO
    does (src/core/mpi_hints.hpp). Of all others the Record says what was in force."""
    return mpi_io == "ompio" and (hint.startswith(("romio_", "ind_")) or hint == "cb_config_list")


def named_in(patterns: str) -> list[str]:
    """Hints in the syntax of Cray MPICH: FILES:HINT=VALUE:HINT=VALUE,FILES:..."""
    return re.findall(r":([^:=,]+)=", patterns)
