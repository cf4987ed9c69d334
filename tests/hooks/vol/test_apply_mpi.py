# SPDX-License-Identifier: Apache-2.0
"""A plan on four ranks: it arrives on all or is off on all, and nothing waits for ever."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from mpi_programs import MPIEXEC, SANITIZERS, mpi_components, programs
from plans import Json, compiled, entry, prove, setting, write_plan
from tailrace_cli import Ran, tailrace
from test_api import run as run_api
from test_api import same

from tailrace.intent import plugin
from tailrace.intent.apply import outcomes

PROGRAM = programs() / "vol_apply_ranks"
# Of ROMIO MPICH tells what is in force, and takes one aggregator a node, whatever is asked for;
# Open MPI tells what was given.
MPICH = os.environ["TAILRACE_TEST_MPI"] == "mpich"
NATIVE = [
    "alignment 1 1", f"cb_nodes {'1' if MPICH else 'none'}",
    f"cb_buffer_size {'16777216' if MPICH else 'none'}", "plain 0x0", "packed 8x32",
    "default transfers are alone", "content right",
]  # fmt: skip


def file_settings() -> Json:
    return entry(
        "*.h5",
        setting("1", "alignment_threshold_bytes", 2048, "layout"),
        setting("1", "alignment_bytes", 4096, "layout"),
        setting("41", "hint.cb_nodes", "2"),
        setting("42", "hint.cb_buffer_size", "8388608"),
        setting("9", "page_buffer_bytes", 1 << 20),
        setting("5", "collective_metadata_writes", True, "collective", ranks=4),
    )


def plan_of(folder: Path, *others: Json) -> Path:
    block = {"name": "block_per_rank", "numbers": {"dimension": 0, "max_bytes": 1 << 24},
             "extents": []}  # fmt: skip
    return write_plan(
        folder,
        file_settings(),
        entry("*.h5", setting("18", "chunk", None, "layout", function=block),
              dataset="/plain", when="create"),
        entry("*.h5", setting("25", "write_mode", "collective", "collective", ranks=4),
              setting("27", "collective_io", "individual", "collective", ranks=4),
              setting("28", "chunk_io", "one_io", "collective", ranks=4), dataset="/packed"),
        entry("*.h5", setting("25", "write_mode", "collective", "collective", ranks=3),
              dataset="/plain"),
        *others,
    )  # fmt: skip


WORDS = [*MPIEXEC, "-n", "4", PROGRAM, "r.h5"]


def run(folder: Path, plan: Path, *options: str, own: str = "", **changes: str | None) -> Ran:
    words = [*WORDS, *([own] if own else [])]
    return tailrace(
        "apply", plan, *options, "--", *words, cwd=folder, timeout=60, **SANITIZERS, **changes
    )


@pytest.mark.parametrize(("component", "added"), mpi_components())
def test_settings_arrive_on_all_ranks(
    tmp_path: Path, component: str, added: dict[str, str]
) -> None:
    plan = prove(plan_of(tmp_path), *WORDS, **SANITIZERS, **added)
    ran = run(tmp_path, plan, "--allow", "collective", **added).expect(0)
    lines, said = ran.out.splitlines(), ran.err.splitlines()
    assert lines[0] == "alignment 2048 4096"
    ompio = component == "ompio"  # which wrote wrong data with several aggregators
    assert lines[1:] == [
        f"cb_nodes {'none' if ompio else '1' if MPICH else '2'}", "cb_buffer_size 8388608",
        "plain 8x32",
        "packed 8x32", "default transfers are collective",
        "content right",
    ]  # fmt: skip
    word = "applied 8 times"
    if ompio:
        word = "held back: OMPIO has been seen"
    if MPICH:
        word = "not there: given, and this MPI-IO has another value in force"
    assert any(line.startswith(f"rule 41, hint.cb_nodes = 2: {word}") for line in said)
    assert any(line.startswith("rule 42, hint.cb_buffer_size = 8388608: applied 8 times")
               for line in said)  # fmt: skip
    assert any(line.startswith("rule 9, page_buffer_bytes = 1048576: held back") for line in said)
    assert any(line.startswith("rule 25, write_mode = collective: applied 4 times")
               for line in said)  # fmt: skip
    assert "tailrace: " not in ran.err
    # Without the word of the user nothing is made collective.
    lines = run(tmp_path, plan, **added).expect(0).out.splitlines()
    assert lines[5] == "default transfers are alone"
    assert lines[0] == "alignment 2048 4096"


def test_a_parameter_file_may_choose_the_mpi_io(tmp_path: Path) -> None:
    """Open MPI reads it by itself: nothing of it is in the environment of the program."""
    home = tmp_path / "home" / ".openmpi"
    home.mkdir(parents=True)
    home.joinpath("mca-params.conf").write_text(f"io = {os.environ['TAILRACE_TEST_ROMIO']}\n")
    ran = run(tmp_path, plan_of(tmp_path), HOME=str(home.parent), OMPI_MCA_io=None).expect(0)
    word = "not there: given, and this MPI-IO has another value" if MPICH else "applied 8 times"
    assert any(line.startswith(f"rule 41, hint.cb_nodes = 2: {word}")
               for line in ran.err.splitlines())  # fmt: skip


def test_what_the_program_set_itself_wins(tmp_path: Path) -> None:
    ran = run(tmp_path, plan_of(tmp_path), "--json", own="own").expect(0)
    assert "alignment 512 1024\ncb_nodes 1\n" in ran.err
    lines = {line["setting"]: line for line in ran.json["lines"]}
    for key in ("hint.cb_nodes", "hint.cb_buffer_size", "alignment_bytes"):
        assert lines[key]["became"] == "kept"
        assert lines[key]["processes"] == "0-3"


@pytest.mark.parametrize(("component", "added"), mpi_components())
def test_a_hint_of_one_rank_alone(tmp_path: Path, component: str, added: dict[str, str]) -> None:
    """All ranks have to open with the same hints: none of the plan's are given then. Without it
    they are, as long as MPI takes them."""
    long = "x" * 60
    others = entry("*.h5", setting("45", "hint.access_style", "random"),
                   setting("42", f"hint.{long}", "1"))  # fmt: skip
    plan = plan_of(tmp_path, others)
    ran = run(tmp_path, plan, "--json", own="one", **added).expect(0)
    assert "content right" in ran.err
    lines = [line for line in ran.json["lines"] if line["setting"].startswith("hint.")]
    assert {line["became"] for line in lines} == {"kept"}
    ran = run(tmp_path, plan, "--json", **added).expect(0)
    assert "content right" in ran.err
    became = {line["setting"]: line["became"] for line in ran.json["lines"]}
    assert became["hint.cb_buffer_size"] == "applied"
    if not MPICH:
        assert became[f"hint.{long}"] == "misfit"


# One rank is told something else than the others: its environment is set in a shell.
OTHER = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 3 ]; then {change}; fi; exec "$@"'


@pytest.mark.parametrize(
    "change",
    [
        "export TAILRACE_PLAN=$PWD/other.compiled",
        "export TAILRACE_PLAN=$PWD/no-such-file",
        "unset TAILRACE_PLAN",
        "export TAILRACE_MODE=off",
        "export TAILRACE_MODE=record",
    ],
)
def test_ranks_that_disagree_go_on_without_a_plan(tmp_path: Path, change: str) -> None:
    other = write_plan(tmp_path, entry("*.h5", setting("3", "meta_block_bytes", 1 << 20)),
                       name="other.json")  # fmt: skip
    compiled(other)
    plan = compiled(plan_of(tmp_path))
    added = plugin.environment_to_apply(plugin.find(), plan, {})
    exports = [word for name in added for word in ("-x", name)]
    if os.environ.get("TAILRACE_TEST_MPI") != "openmpi":
        exports = []
    words = [MPIEXEC[0], *exports, *MPIEXEC[1:], "-n", "4", "sh", "-c",
             OTHER.format(change=change), "sh", str(PROGRAM), "r.h5"]  # fmt: skip
    ran = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, **added}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == NATIVE
    assert ran.stderr.count("the plan is off for this file") == 1


@pytest.mark.parametrize("ranks", [0, 4])
def test_a_plan_that_leaves_the_layout_changes_no_answer_and_no_byte(
    tmp_path: Path, ranks: int
) -> None:
    plan = write_plan(
        tmp_path,
        entry("*", setting("11", "sieve_buffer_bytes", 1 << 20)),
        entry("*", setting("13", "chunk_cache_bytes", 1 << 24),
              setting("14", "chunk_cache_preemption", 1.0),
              setting("38", "conversion_buffer_bytes", 1 << 22), dataset="*"),
    )  # fmt: skip
    added = plugin.environment_to_apply(plugin.find(), compiled(plan), {})
    (tmp_path / "spools").mkdir()
    added["TAILRACE_PROFILE_DIR"] = str(tmp_path / "spools")
    same(run_api(tmp_path / "native", ranks), run_api(tmp_path / "tuned", ranks, **added))
    done = {one["setting"]: one for one in outcomes(tmp_path / "spools")["outcomes"]
            if one["became"] == "applied"}  # fmt: skip
    assert {"chunk_cache_bytes", "conversion_buffer_bytes"} <= set(done)
