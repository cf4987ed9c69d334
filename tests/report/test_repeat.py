# SPDX-License-Identifier: Apache-2.0
"""The command that a report gives, given to a shell: it is the same run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

from tailrace_cli import environment, tailrace

WORDS = (
    "processor=2x1x1", "domain=8x8x16", "chunk=8x8x16", "time=3", "collective_write",
    "filter=1 3", "filter=2",
    "hint=cb_nodes=1", "hint=striping_unit=65536", "fill=position", "alignment=4096 512",
    "libver=v110 v114", "filename=a name with blanks.h5", "compute=0.001 idle", "limit",
)  # fmt: skip


def last_record(folder: Path) -> Any:
    return json.loads((folder / "results.jsonl").read_text().splitlines()[-1])


def test_the_command_repeats_the_run(tmp_path: Path) -> None:
    steering: dict[str, str | None] = {
        name: None for name in os.environ if name.startswith("HDF5_")
    }
    steering["HDF5_USE_FILE_LOCKING"] = "BEST_EFFORT"
    tailrace("run", "seism", *WORDS, "--quiet", cwd=tmp_path, **steering).expect(0)
    first = last_record(tmp_path)
    tailrace("report", "results.jsonl", cwd=tmp_path).expect(0)
    page = (tmp_path / "report.html").read_text()
    command = unescape(page.split('<pre tabindex="0"><code>')[1].split("</code>")[0])
    assert "tailrace run seism --ranks 2 " in command
    assert command.startswith("env HDF5_USE_FILE_LOCKING=BEST_EFFORT tailrace"), "what steers I/O"
    program = command.replace(" tailrace ", f" {sys.executable} -m tailrace ", 1)
    ran = subprocess.run(
        ["sh", "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    second = last_record(tmp_path)
    assert second["run_id"] != first["run_id"]
    assert second["configuration"] == first["configuration"]
    assert second["context"]["ranks"] == first["context"]["ranks"] == 2
