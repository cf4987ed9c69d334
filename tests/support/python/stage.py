# SPDX-License-Identifier: Apache-2.0
"""A program of known times in the place of a kernel, for commands that make many runs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from records import a_record

from tailrace.run import fresh

# Appends what it was called with to calls.txt and writes one Record per call. truth.py says how
# long that takes: seconds(settings, environment, call number); a text is an error's code.
_program = """#!{python} -IS
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
if words == ["--help"]:
    print((here / "help.txt").read_text())
    sys.exit(0)
if words == ["--version"]:
    print("tailrace-seism 0\\ncommit: " + (here / "commit.txt").read_text())
    sys.exit(0)
settings = dict(word.partition("=")[::2] for word in words if not word.startswith("hint="))
hints = dict(word[5:].partition("=")[::2] for word in words if word.startswith("hint="))
truth = {}
exec((here / "truth.py").read_text(), truth)
ranks = 1
for part in settings.get("processor", "1x1x1").split("x"):
    ranks *= int(part)
if "--dry-run" in words:
    said = truth.get("dry_run", lambda settings, hints: "")(settings, hints)
    if said and not said.startswith("note:"):
        sys.stderr.write("tailrace: error: <command line>: " + said + " (rank 0 of 1)\\n")
        sys.exit(2)
    if said:
        sys.stderr.write("tailrace: warning: " + said[6:] + "\\n")
    print("# effective configuration for %d ranks, 67108864 bytes (64 MiB)" % ranks)
    for key in sorted(settings):
        if key not in ("filename", "results", "--dry-run"):
            print("%-36s# <command line>" % (key + " " + settings[key].replace("x", " ")))
    for key in sorted(hints):
        print("%-36s# <command line>" % ("hint " + key + "=" + hints[key]))
    print("DONE")
    sys.exit(0)
number = len((here / "calls.txt").read_text().splitlines()) if (here / "calls.txt").exists() else 0
with (here / "calls.txt").open("a") as calls:
    calls.write(json.dumps({**settings, **hints}) + "\\n")
time = truth["seconds"]({**settings, **hints}, os.environ, number)
file = "failed.json" if isinstance(time, str) else "record.json"
record = json.loads((here / file).read_text())
record["configuration"].update(settings, hint=hints)
record["context"].update(ranks=ranks, ranks_per_node=ranks)
if isinstance(time, str):
    record["error"]["code"] = time
else:
    size = record["bytes"]["logical"]
    record["elapsed"]["durable_s"] = time
    record["rates"] = dict.fromkeys(record["rates"], size / time)
pathlib.Path(settings["filename"]).write_text("data")
pathlib.Path(settings["results"]).write_text(json.dumps(record) + "\\n")
sys.exit((3 if time == "verification" else 1) if isinstance(time, str) else 0)
"""

_help = """
Geometry:
  processor X Y Z                 blocks
  domain X Y Z                    size
  chunk X Y Z                     size of a chunk
  time N                          steps
  format hdf5|posix               what
  collective_write                collective
  deflate N                       level
  lfs_stripe_count N              stripes
  hint NAME=VALUE                 hint
  filename TEXT                   output
  results TEXT                    file
"""


class Stage:
    """folder: of the program; the command runs in `work`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.launcher = str(folder / "mpiexec-one")

    def truth(self, text: str) -> None:
        """Python that defines `seconds(settings, environment, number)`, perhaps `dry_run`."""
        (self.folder / "truth.py").write_text(text)

    def calls(self) -> list[dict[str, str]]:
        file = self.folder / "calls.txt"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def records(self) -> list[dict[str, Any]]:
        file = self.work / "results.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def a_stage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """With a launcher that starts it once, on a machine that is at rest."""
    program, launcher = folder / "tailrace-seism", folder / "mpiexec-one"
    program.write_text(_program.replace("{python}", sys.executable))
    launcher.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    for file in (program, launcher):
        file.chmod(0o755)
    (folder / "help.txt").write_text(_help)
    (folder / "commit.txt").write_text("one")
    (folder / "record.json").write_text(json.dumps(a_record()))
    (folder / "failed.json").write_text(json.dumps(a_record(failed=True)))
    monkeypatch.setenv("TAILRACE_BIN", str(folder))
    monkeypatch.setattr(fresh, "settle", lambda: True)
    monkeypatch.setattr(os, "fsync", lambda _file: None)  # many Records, of no value
    (folder / "work").mkdir()
    monkeypatch.chdir(folder / "work")
    return Stage(folder)
