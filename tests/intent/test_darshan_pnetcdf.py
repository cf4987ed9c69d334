# SPDX-License-Identifier: Apache-2.0
"""The modules of PnetCDF in a log, and modules whose memory did not hold all records."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from made_logs import SHARED, made_log, record

from tailrace.intent.darshan import read_darshan
from tailrace.intent.darshan_log import Json

# Ids that no signed 64-bit number holds, as most of Darshan's are.
FILE, TEMPERATURE, MASK = (2**63 + n for n in (1, 2, 3))
NAMES = {FILE: "/data/out.nc", TEMPERATURE: "/data/out.nc:temperature", MASK: "/data/out.nc:mask"}
ROW = 2**29  # numbers of 8 bytes: a row is 4 GiB


def pnetcdf_log(path: Path, partial: tuple[str, ...] = ()) -> Path:
    """Four ranks write eight rows together; rank 2 reads of another variable."""
    file = {
        "CREATES": 1, "OPENS": 2, "REDEFS": 3, "INDEP_WAITS": 4, "COLL_WAITS": 5, "SYNCS": 6,
        "BYTES_READ": 80, "BYTES_WRITTEN": 64 * ROW, "F_OPEN_START_TIMESTAMP": 0.5,
        "F_OPEN_END_TIMESTAMP": 0.75, "F_CLOSE_START_TIMESTAMP": 8.0,
        "F_CLOSE_END_TIMESTAMP": 8.5,
    }  # fmt: skip
    temperature = {
        "OPENS": 4, "COLL_WRITES": 5, "NB_WRITES": 3, "BYTES_WRITTEN": 64 * ROW, "NDIMS": 2,
        "NPOINTS": 8 * ROW, "DATATYPE_SIZE": 8, "SIZE_WRITE_AGG_1G_PLUS": 8,
        "ACCESS1_ACCESS": 8 * ROW, "ACCESS1_COUNT": 8, "ACCESS1_LENGTH_D5": 1,
        "ACCESS1_LENGTH_D4": ROW, "ACCESS1_STRIDE_D5": 1, "ACCESS1_STRIDE_D4": 1,
        "F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 7.0, "F_WRITE_TIME": 20.0,
    }  # fmt: skip
    mask = {
        "OPENS": 1, "INDEP_READS": 2, "BYTES_READ": 80, "NDIMS": 1, "NPOINTS": 10,
        "DATATYPE_SIZE": 4, "SIZE_READ_AGG_0_100": 2, "ACCESS1_ACCESS": 40, "ACCESS1_COUNT": 2,
    }  # fmt: skip
    records = {
        "PNETCDF_FILE": [record("PNETCDF_FILE", FILE, SHARED, file)],
        "PNETCDF_VAR": [
            record("PNETCDF_VAR", TEMPERATURE, SHARED, temperature, FILE),
            record("PNETCDF_VAR", MASK, 2, mask, FILE),
        ],
    }
    return made_log(path, NAMES, records, partial)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Json:
    (found,) = read_darshan([pnetcdf_log(tmp_path_factory.mktemp("logs") / "p.darshan")])
    return found


def test_the_file(profile: Json) -> None:
    assert profile["origin"]["sources"][0]["parts"] == ["PNETCDF_FILE", "PNETCDF_VAR"]
    assert profile["origin"]["command"] == "./program input"
    assert profile["run"]["ranks"] == 4
    (file,) = profile["files"]
    assert (file["path"], file["processes"]) == ("/data/out.nc", "0-3")
    assert file["pnetcdf"] == {
        "creates": 1, "opens": 2, "redefinitions": 3, "independent_waits": 4,
        "collective_waits": 5, "syncs": 6, "bytes_read": 80, "bytes_written": 64 * ROW,
        "open": {"start_s": 0.5, "end_s": 0.75}, "close": {"start_s": 8.0, "end_s": 8.5},
    }  # fmt: skip


def test_the_variables(profile: Json) -> None:
    mask, temperature = profile["files"][0]["datasets"]
    assert [one["interface"] for one in (mask, temperature)] == ["pnetcdf", "pnetcdf"]
    assert (mask["path"], mask["processes"], mask["dims"]) == ("/mask", "2", [10])
    assert (mask["reads"]["calls"], mask["reads"]["bytes"], mask["reads"]["whole"]) == (2, 80, 2)
    assert (mask["reads"]["requested_collective"], mask["reads"]["requested_independent"]) == (0, 2)
    assert "writes" not in mask

    assert (temperature["path"], temperature["processes"]) == ("/temperature", "0-3")
    assert (temperature["ndims"], temperature["elements"]) == (2, 8 * ROW)
    assert temperature["type"]["bytes"] == 8
    writes = temperature["writes"]
    assert (writes["calls"], writes["requested_collective"], writes["bytes"]) == (8, 5, 64 * ROW)
    assert writes["elements"] == 8 * ROW
    assert writes["sizes"] == [{"from_bytes": 2**30 + 1, "calls": 8}]
    assert writes["shapes"] == [
        {"selection": "hyperslab", "length": [1, ROW], "stride": [1, 1], "calls": 8,
         "call_bytes": 8 * ROW}
    ]  # fmt: skip
    assert (writes["elapsed_s"], writes["active"]) == (20.0, {"start_s": 1.0, "end_s": 7.0})
    assert "reads" not in temperature


def test_a_module_without_room_for_all_records(profile: Json, tmp_path: Path) -> None:
    """That is no damage: it is read, and what may be missing is said."""
    (partial,) = read_darshan([pnetcdf_log(tmp_path / "p.darshan", ("PNETCDF_VAR",))])
    assert partial["origin"]["notes"] == [
        "module PNETCDF_VAR: Darshan's memory did not hold all records; "
        "what is missing is not known"
    ]
    assert partial["origin"]["sources"][0]["parts"] == ["PNETCDF_FILE", "!PNETCDF_VAR"]
    assert partial["files"] == profile["files"]
    assert "notes" not in profile["origin"]


def test_the_flag_in_a_log_of_a_program(logs: Path, tmp_path: Path) -> None:
    """Bits by number of module: POSIX is 1, MPI-IO 2."""
    whole = bytearray((logs / "ior_hdf5_example.darshan").read_bytes())
    assert whole[20:24] == bytes(4)
    whole[20] = 1 << 1 | 1 << 2
    marked = tmp_path / "marked.darshan"
    marked.write_bytes(whole)
    (found,) = read_darshan([marked])
    noted = [note.split(":")[0] for note in found["origin"]["notes"]]
    assert noted == ["module MPI-IO", "module POSIX"]
    assert found["origin"]["sources"][0]["parts"] == [
        "DXT_MPIIO", "DXT_POSIX", "H5D", "H5F", "LUSTRE", "!MPI-IO", "!POSIX", "STDIO"
    ]  # fmt: skip


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    """A name is bytes: a log that has such a one is whole, and names stay different."""
    names = {1: os.fsdecode(b"/data/caf\xe9.nc"), 2: os.fsdecode(b"/data/caf\xe8.nc")}
    records = [record("PNETCDF_FILE", file, SHARED, {"OPENS": 4}) for file in names]
    (found,) = read_darshan([made_log(tmp_path / "l.darshan", names, {"PNETCDF_FILE": records})])
    paths = [file["path"] for file in found["files"]]
    assert paths == ["/data/caf\\xe8.nc", "/data/caf\\xe9.nc"]
