# SPDX-License-Identifier: Apache-2.0
"""The subfiling driver under a program that knows nothing of it, on four ranks.

The subfiles are read by h5py through `tailrace.verify`, stripe by stripe, without the driver.
"""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
from mpi_programs import MPIEXEC, SANITIZERS, programs
from plans import Json, entry, setting, write_plan
from tailrace_cli import Ran, tailrace

from tailrace.verify.subfiles import StripedFile, find_subfiles

PROGRAM = programs() / "vol_subfiles"
STRIPE = 1 << 20


def plan_of(folder: Path, *others: Json, per_node: int = 1) -> Path:
    return write_plan(
        folder,
        entry(
            "s.h5",
            setting("34", "driver", "subfiling", "opt_in"),
            setting("34", "subfiling_stripe_bytes", STRIPE, "opt_in"),
            setting("34", "subfiling_concentrators_per_node", per_node, "opt_in"),
            setting("42", "hint.cb_buffer_size", "8388608"),
            *others,
        ),
    )


def run(folder: Path, plan: Path, *words: str, **changes: str | None) -> Ran:
    return tailrace(
        "apply", plan, "--json", "--",
        *MPIEXEC, "-n", "4", PROGRAM, "s.h5", *words, cwd=folder, timeout=60,
        **SANITIZERS, **changes,
    )  # fmt: skip


def lines_of(ran: Ran) -> dict[str, Json]:
    return {line["setting"]: line for line in ran.json["lines"]}


def said(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if " with " in line or "content" in line]


def test_a_file_becomes_subfiles_and_is_read_back(tmp_path: Path) -> None:
    ran = run(tmp_path, plan_of(tmp_path), "multiple").expect(0)
    assert said(ran) == ["created with subfiling", "opened with subfiling", "content right"]
    lines = lines_of(ran)
    for key in ("driver", "subfiling_stripe_bytes", "subfiling_concentrators_per_node"):
        assert lines[key]["became"] == "applied"
    assert "subfiles are not written with MPI-IO" in lines["hint.cb_buffer_size"]["reason"]
    subfiles = find_subfiles(tmp_path / "s.h5")
    assert subfiles is not None
    assert subfiles.stripe_bytes == STRIPE
    with h5py.File(StripedFile(subfiles), "r") as file:
        np.testing.assert_array_equal(file["x"][:], np.arange(1200000) * 3 + 1)


def test_subfiles_of_the_oldest_format_are_found_again(tmp_path: Path) -> None:
    """Where the driver is named in a block of its own behind the first superblock."""
    ran = run(tmp_path, plan_of(tmp_path), "multiple", "oldest").expect(0)
    assert said(ran) == ["created with subfiling", "opened with subfiling", "content right"]
    assert (tmp_path / "s.h5").read_bytes()[8] == 0  # the version of the superblock


def test_a_program_without_threads_keeps_its_driver(tmp_path: Path) -> None:
    ran = run(tmp_path, plan_of(tmp_path), "single").expect(0)
    assert said(ran) == ["created with mpio", "opened with mpio", "content right"]
    assert lines_of(ran)["driver"]["became"] == "held"
    assert "MPI_THREAD_MULTIPLE" in lines_of(ran)["driver"]["reason"]
    with h5py.File(tmp_path / "s.h5") as file:
        np.testing.assert_array_equal(file["x"][:], np.arange(1200000) * 3 + 1)


def test_a_file_without_subfiles_is_opened_as_it_is(tmp_path: Path) -> None:
    """Also one that was made anew, with the name and number of one that had them."""
    plan = plan_of(tmp_path)
    run(tmp_path, plan, "multiple").expect(0)
    before = (tmp_path / "s.h5").stat().st_ino
    tailrace("apply", write_plan(tmp_path, name="none.json"), "--", *MPIEXEC, "-n", "4", PROGRAM,
             "s.h5", "multiple", cwd=tmp_path, timeout=60).expect(0)  # fmt: skip
    assert (tmp_path / "s.h5").stat().st_ino == before
    assert (tmp_path / f"s.h5.subfile_{before}.config").exists()
    ran = run(tmp_path, plan, "multiple", "read").expect(0)
    assert said(ran) == ["opened with mpio", "content right"]
    assert "has no subfiles" in lines_of(ran)["driver"]["reason"]


def test_what_the_environment_says_wins(tmp_path: Path) -> None:
    ran = run(tmp_path, plan_of(tmp_path, per_node=2), "multiple",
              H5FD_SUBFILING_STRIPE_SIZE=str(2 * STRIPE)).expect(0)  # fmt: skip
    lines = lines_of(ran)
    assert lines["driver"]["became"] == "applied"
    assert lines["subfiling_stripe_bytes"]["became"] == "kept"
    assert "H5FD_SUBFILING_IOC_PER_NODE" in lines["subfiling_concentrators_per_node"]["reason"]
    subfiles = find_subfiles(tmp_path / "s.h5")
    assert subfiles is not None
    assert subfiles.stripe_bytes == 2 * STRIPE


def test_one_rank_may_have_subfiles_too(tmp_path: Path) -> None:
    """But under MPICH, where HDF5's driver waits for ever for a message of the rank to itself."""
    ran = tailrace("apply", plan_of(tmp_path), "--json", "--",
                   *MPIEXEC, "-n", "1", PROGRAM, "s.h5", "multiple", cwd=tmp_path, timeout=60,
                   **SANITIZERS)  # fmt: skip
    ran.expect(0)
    driver = lines_of(ran)["driver"]
    if os.environ["TAILRACE_TEST_MPI"] == "mpich":
        assert said(ran) == ["created with mpio", "opened with mpio", "content right"]
        assert driver["became"] == "held"
        assert "hangs on a single rank under MPICH" in driver["reason"]
    else:
        assert said(ran) == ["created with subfiling", "opened with subfiling", "content right"]
        assert driver["became"] == "applied"


def test_the_programs_own_subfiles_are_none_of_ours(tmp_path: Path) -> None:
    """A driver of several ranks that cannot be asked: settings for one process would fill what the
    other ranks have written."""
    never = setting("20", "fill_time", "never", "opt_in")
    deflate = setting("23", "deflate", 1, "opt_in")
    plan = write_plan(tmp_path, entry("s.h5", never, deflate, dataset="*", when="create"))
    ran = run(tmp_path, plan, "multiple", "own").expect(0)
    assert said(ran) == ["created with subfiling", "opened with subfiling", "content right"]
    reasons = {line["reason"] for line in ran.json["lines"] if not line["rule"]}
    assert any("the program's driver may be for several ranks" in reason for reason in reasons)


def test_what_only_mpi_io_has_is_an_error(tmp_path: Path) -> None:
    """HDF5 takes the driver for MPI-IO's and would end in a fault."""
    ran = run(tmp_path, plan_of(tmp_path), "multiple", "atomic").expect(0)
    assert "atomicity not with it" in said(ran)
    ran = run(tmp_path, write_plan(tmp_path, name="none.json"), "multiple", "atomic").expect(0)
    assert "atomicity with it" in said(ran)


def test_lost_subfiles_are_not_taken_for_an_empty_file(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    run(tmp_path, plan, "multiple").expect(0)
    (part,) = tmp_path.glob("s.h5.subfile_*_1_of_1")
    before = (tmp_path / "s.h5").read_bytes()
    part.unlink()
    ran = run(tmp_path, plan, "multiple", "read").expect(1)
    assert "its subfiles could not be opened" in ran.err
    assert "opened with" not in ran.err
    assert (tmp_path / "s.h5").read_bytes() == before
