# SPDX-License-Identifier: Apache-2.0
"""On four ranks: how transfers and metadata go, counted in calls of MPI-IO, and what is held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mpi_programs import MPIEXEC, mpi_components, programs
from plans import Json, entry, prove, setting, write_plan
from tailrace_cli import Ran, tailrace

PROGRAM = programs() / "vol_apply_transfers"
NOT_COLLECTIVE = "the transfer is not collective"
WORDS = [*MPIEXEC, "-n", "4", PROGRAM, "t.h5"]


def together(rule: str, key: str, value: Any) -> Json:
    return setting(rule, key, value, "collective", ranks=4)


def both_ways() -> list[Json]:
    return [together("25", "write_mode", "collective"), together("26", "read_mode", "collective")]


def plan_of(folder: Path) -> Path:
    return write_plan(
        folder,
        entry(
            "*.h5",
            together("5", "collective_metadata_writes", True),
            together("6", "collective_metadata_reads", True),
            setting("9", "file_space_strategy", "page", "layout"),
            setting("9", "page_bytes", 65536, "layout"),
            setting("11", "sieve_buffer_bytes", 1 << 20),
            setting("32", "driver", "core", "opt_in"),
            setting("35", "evict_on_close", True),
            setting("40", "metadata_cache_image", True, "opt_in"),
        ),
        entry("*.h5", *both_ways(), together("28", "chunk_io", "one_io"), dataset="/linked*"),
        entry("*.h5", *both_ways(), together("28", "chunk_io", "multi_io"), dataset="/several"),
        entry("*.h5", *both_ways(), together("28", "chunk_io_chunks", 100),
              together("28", "chunk_io_percent", 0), dataset="/each"),
        entry("*.h5", *both_ways(), together("28", "chunk_io_chunks", 100),
              together("28", "chunk_io_percent", 50), dataset="/half"),
        entry("*.h5", *both_ways(), together("27", "collective_io", "individual"),
              dataset="/alone"),
        entry("*.h5", together("26", "read_mode", "collective"),
              together("28", "chunk_io", "one_io"),
              setting("38", "conversion_buffer_bytes", 1 << 22), dataset="/plain"),
        entry("*.h5", setting("23", "layout", "compact", "layout"),
              setting("21", "allocation_time", "late", "layout"), dataset="/plain", when="create"),
        entry("*.h5", setting("30", "deflate", 1, "opt_in"), setting("30", "shuffle", True,
              "opt_in"), setting("21", "allocation_time", "incremental", "layout"),
              dataset="/several", when="create"),
    )  # fmt: skip


def run(
    folder: Path, plan: Path, *words: str | Path, **changes: str | None
) -> tuple[Ran, dict[str, str], list[Json]]:
    """How it ended, what the program printed, and the lines about the plan."""
    command = [*WORDS, *words]
    ran = tailrace("apply", plan, "--json", "--allow", "collective", "--", *command, cwd=folder,
                   timeout=60, **changes).expect(0)  # fmt: skip
    said = dict(line.split(": ", 1) for line in ran.err.splitlines() if ": " in line)
    assert "content right" in ran.err
    return ran, said, ran.json["lines"]


def became(lines: list[Json], key: str, *, place: str = "") -> set[tuple[str, str]]:
    return {
        (line["became"], line["reason"])
        for line in lines
        if line["setting"] == key and any(one.endswith(place) for one in line["places"])
    }


def test_transfers_and_metadata_go_as_the_plan_says(tmp_path: Path) -> None:
    _, said, lines = run(tmp_path, prove(plan_of(tmp_path), *WORDS))
    assert said["metadata together"] == "read 1, written 1"
    for way in ("written", "read"):
        assert said[f"linked {way}"] == "1 together, 0 alone"  # of 4 chunks
        # An operation for each chunk of all ranks. Each is needed by a quarter of the ranks; HDF5
        # makes those collective that six tenths of them need, and here half of them, or none.
        assert said[f"several {way}"] == "0 together, 16 alone"
        assert said[f"half {way}"] == "0 together, 16 alone"
        assert said[f"each {way}"] == "16 together, 0 alone"
        assert said[f"alone {way}"] == "0 together, 1 alone"
        # Two datasets in one call: the plan has one list for both, or neither gets it.
        assert said[f"linked twice {way}"] == "1 together, 0 alone"
        assert said[f"linked and alone {way}"].startswith("0 together")
    # What the program's own list says stays.
    assert said["own list written"] == "0 together, 16 alone"
    own = ("kept", "the program set it itself")
    assert own in became(lines, "write_mode", place="/linked")
    assert own in became(lines, "chunk_io", place="/linked")
    assert said["plain written"] == "0 together, 1 alone"
    assert said["plain read"] == "1 together, 0 alone"
    for key in ("write_mode", "read_mode", "chunk_io"):
        assert ("applied", "") in became(lines, key, place="/linked too")
    assert became(lines, "collective_io") == {
        ("applied", ""),
        ("held", "one call transfers several datasets, and the plan has the same only for some"),
    }
    # Without a collective mode there is nothing for the option to say: two writes of four ranks,
    # while the two reads are collective.
    counts = {(line["became"], line["reason"]): line["count"] for line in lines
              if line["setting"] == "chunk_io" and line["reason"] == NOT_COLLECTIVE}  # fmt: skip
    assert counts == {("held", NOT_COLLECTIVE): 8}
    assert ("applied", "") in became(lines, "chunk_io", place="/plain")


HINTS = {
    "cb_buffer_size": "8388608", "romio_cb_write": "enable", "romio_cb_read": "disable",
    "romio_ds_write": "disable", "romio_ds_read": "enable", "ind_rd_buffer_size": "2097152",
    "striping_factor": "4", "striping_unit": "1048576", "romio_lustre_ds_in_coll": "disable",
}  # fmt: skip


@pytest.mark.parametrize(("component", "added"), mpi_components())
def test_hints_in_force_are_told_from_those_given(
    tmp_path: Path, component: str, added: dict[str, str]
) -> None:
    """A line says "applied" where MPI-IO itself says so, and nowhere else. OMPIO tells what it was
    given, also what only ROMIO knows: that is not there."""
    settings = [setting("hints", f"hint.{key}", value) for key, value in HINTS.items()]
    _, said, lines = run(tmp_path, write_plan(tmp_path, entry("*.h5", *settings)), "hints", **added)
    in_force = {key for key, value in HINTS.items() if said.get(f"hint.{key}") == value}
    of_romio = {key for key in HINTS if key.startswith(("romio_", "ind_"))}
    if component == "ompio":
        reasons = {line["setting"].removeprefix("hint."): line["reason"] for line in lines}
        assert in_force > of_romio
        assert {reasons[key] for key in of_romio} == {"given, and OMPIO has no such hint"}
        in_force -= of_romio
    told = {line["setting"].removeprefix("hint."): line["became"] for line in lines}
    assert told == {key: "applied" if key in in_force else "unavailable" for key in HINTS}
    assert "cb_buffer_size" in in_force
    if component == "romio":
        assert in_force > {"romio_cb_write", "romio_cb_read", "romio_ds_write", "romio_ds_read",
                           "ind_rd_buffer_size"}  # fmt: skip


def test_guards_of_files_of_several_ranks(tmp_path: Path) -> None:
    _, _, lines = run(tmp_path, plan_of(tmp_path))
    serial = {("held", "not for a file of several ranks")}
    for key in ("file_space_strategy", "page_bytes", "sieve_buffer_bytes", "driver",
                "evict_on_close", "metadata_cache_image", "layout"):  # fmt: skip
        assert became(lines, key) == serial, key
    assert became(lines, "deflate") == became(lines, "shuffle") == {
        ("held", "with filters all ranks would have to write together"),
    }  # fmt: skip
    assert became(lines, "allocation_time", place="/plain") == serial
    # HDF5 2 allocates at once whatever it is told: the dataset says so.
    assert became(lines, "allocation_time", place="/several") in (
        {("applied", "")}, {("held", "given, and this HDF5 has another time in force")},
    )  # fmt: skip


def test_what_has_not_been_proven_stays_alone(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    _, said, lines = run(tmp_path, plan)
    assert said["linked written"].startswith("0 together")
    assert said["metadata together"] == "read 0, written 0"
    assert became(lines, "write_mode") == {
        ("held", "collective: the plan has no proof of a run with it"),
    }  # fmt: skip
    # A proof of another run, and one with another library, which only the connector can see.
    document = json.loads(prove(plan, *WORDS).read_text())
    _, said, lines = run(tmp_path, plan, "own")
    assert said["metadata together"] == "read 1, written 0"  # the program's own
    assert became(lines, "write_mode") == {
        ("held", "collective: not the proven run: the command has "
         f"{len(WORDS) + 1} words and had {len(WORDS)}"),
    }  # fmt: skip
    for key, value in (("hdf5_version", "1.14.0"), ("mpi_version", "Some MPI 1")):
        other = {**document, "proof": {**document["proof"], key: value}}
        plan.write_text(json.dumps(other))
        _, said, lines = run(tmp_path, plan)
        assert said["linked written"].startswith("0 together")
        assert said["metadata together"] == "read 0, written 0"
        for name in ("write_mode", "collective_metadata_reads", "collective_io"):
            assert ("held", "this HDF5 or MPI is not that of the proven run") in became(lines, name)


def test_another_number_of_ranks(tmp_path: Path) -> None:
    """The launcher may take it from elsewhere: the connector asks each file."""
    document = json.loads(prove(plan_of(tmp_path), *WORDS).read_text())
    for one in document["entries"]:
        for its in one["settings"]:
            if its["class"] == "collective":
                its["ranks"] = 3
    del document["hash"]
    (tmp_path / "plan.json").write_text(json.dumps(document))
    changed = tailrace("apply", tmp_path / "plan.json", "--json", "--allow", "collective", "--",
                       "true", cwd=tmp_path).expect(0).json["lines"]  # fmt: skip
    assert all("the settings of the plan have been changed since" in line["reason"]
               for line in changed if line["setting"] == "write_mode")  # fmt: skip
    plan = prove(tmp_path / "plan.json", *WORDS)
    _, said, lines = run(tmp_path, plan)
    assert said["linked written"].startswith("0 together")
    found = became(lines, "write_mode")
    assert {what for what, _ in found} == {"not met"}
    assert all("it is for files of 3 ranks" in reason for _, reason in found)
