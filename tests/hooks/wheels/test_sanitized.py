# SPDX-License-Identifier: Apache-2.0
"""The connector and the hook of system calls, built with AddressSanitizer and UBSan, in scripts
with stock wheels: nothing is found, and the scripts leave what they do without us.

Only in builds with sanitizers. Their run-time library is preloaded before all others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vol"))

from contents import content
from profiled import dataset_of, file_of
from runs import BUILD, STILL, applied, profile_of, recorded, run
from test_wheels import A_DATASET, OUTPUT, a_plan
from wheels import command

from tailrace.intent import plugin

HOOKS = BUILD / "src" / "hooks"
SANITIZED = HOOKS / "vol" / "sanitized"
POSIX = HOOKS / "posix_profile" / "sanitized" / "libtailrace_posix.so"


def sanitizers(*preloaded: Path) -> dict[str, str]:
    """Their library first: each finding ends the program, and is on its standard error."""
    preload = [os.environ["TAILRACE_TEST_ASAN"], *map(str, preloaded), str(STILL)]
    return {
        "LD_PRELOAD": os.pathsep.join(preload),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }


@pytest.mark.parametrize("library", OUTPUT)
def test_the_connector(tmp_path: Path, library: str) -> None:
    words, output = command(library), OUTPUT[library]
    native = run(tmp_path / "native", words)
    again, profile = recorded(tmp_path / "recorded", words, SANITIZED, **sanitizers())
    assert again.err == ""  # where a finding would be
    assert again == native
    assert dataset_of(profile, output, A_DATASET[library])["writes"]["calls"] > 0

    plan = a_plan(tmp_path)
    tuned, lines = applied(tmp_path / "applied", words, plan, SANITIZED, **sanitizers())
    assert (tuned.code, tuned.out, tuned.err) == (native.code, native.out, "")
    assert "applied" in {line.became for line in lines}
    assert tuned.files[output] != native.files[output]
    assert content(tmp_path / "applied" / "run" / output) == content(tmp_path / "native" / output)


def test_the_hook_of_system_calls(tmp_path: Path) -> None:
    native = run(tmp_path / "native", command("h5py"))
    spools = tmp_path / "spools"
    spools.mkdir()
    added = plugin.recording(spools, None) | sanitizers(POSIX)
    assert run(tmp_path / "recorded", command("h5py"), **added) == native
    posix = file_of(profile_of(spools), "all.h5")["posix"]
    assert posix["writes"]["calls"] > 10


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Memory that nobody can free any more, asked for by the connector or below it."""
    (tmp_path / "spools").mkdir()
    (tmp_path / "run").mkdir()
    added = plugin.environment_for(SANITIZED, tmp_path / "spools", None, {})
    done = subprocess.run(
        [BUILD / "tests" / "bin" / "vol_api", tmp_path / "run"],
        env=os.environ | added | {"ASAN_OPTIONS": "detect_leaks=1"},
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert "fatal error" not in done.stderr, done.stderr  # it could not look
    leaks = [part for part in done.stderr.split("\n\n") if " leak of " in part]
    ours = [leak for leak in leaks if "tailrace::" in leak or "libtailrace_vol" in leak]
    assert ours == []
    assert leaks or done.stdout == "done\n", done.stderr
