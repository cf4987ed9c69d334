#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over what no clone on this machine has seen pass.   tidy.py BUILD JOBS

A file that passed leaves an empty file in the cache, named by a hash of all that its verdict rests
on: clang-tidy, the checks, the commands that compile it, its text and the text of each header of
this repository that it includes (by ninja's record of the last build; all headers if there is
none). Headers from elsewhere count by path, size and time. So a second call, or one in a fresh
clone, takes seconds.

Cache: ${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}/tidy
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "venv" / "bin"
# That of the private environment passes over system headers: three times as fast as Debian 12's.
TIDY = os.environ.get("CLANG_TIDY", str(VENV / "clang-tidy"))
# Precompiled headers are the compiler's, and each file has to include what it uses.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.hxx")
UNUSED_DAYS = 60


def output(*words: str | Path) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def store() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("TAILRACE_CACHE") or Path(home, "tailrace"), "tidy")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.stat().st_mtime < time.time() - UNUSED_DAYS * 86400:
            old.unlink(missing_ok=True)
    return folder


@cache
def text_hash(path: Path) -> str:
    """By its text if it is ours, else by what a package manager changes with it."""
    if path.is_relative_to(ROOT):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    state = path.stat()
    return f"{state.st_size} {state.st_mtime_ns}"


def included(build: Path) -> dict[Path, set[Path]]:
    """What each source includes, as ninja noted it down when it compiled."""
    found: dict[Path, set[Path]] = defaultdict(set)
    for block in output(VENV / "ninja", "-C", build, "-t", "deps").split("\n\n"):
        paths = [Path(os.path.normpath(build / line.strip())) for line in block.split("\n")[1:]]
        if paths:
            found[paths[0]].update(path for path in paths if path.suffix != ".gch")
    return found


def wanted(build: Path) -> dict[Path, str]:
    """The sources of the product that this build compiles, each with its hash."""
    sources = {ROOT / name for name in output("git", "ls-files", "src/*.cpp").split()}
    headers = [ROOT / name for name in output("git", "ls-files", "*.hpp", "*.h").split()]
    common = output(TIDY, "--version") + (ROOT / ".clang-tidy").read_text()
    database = json.loads((build / "compile_commands.json").read_text())
    for entry in database:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    (build / "tidy-database").mkdir(exist_ok=True)
    (build / "tidy-database" / "compile_commands.json").write_text(json.dumps(database))
    commands: dict[Path, set[str]] = defaultdict(set)
    for entry in database:
        file = Path(entry["file"])
        if file in sources:
            commands[file].add(entry["command"].replace(str(ROOT), ""))
    seen = included(build)
    hashes = {}
    for file, lines in sorted(commands.items()):
        checks = {folder / ".clang-tidy" for folder in file.parents if ROOT in folder.parents}
        rests_on = [path for path in {file, *checks, *(seen.get(file) or headers)} if path.exists()]
        parts = [f"{str(path).replace(str(ROOT), '')} {text_hash(path)}" for path in rests_on]
        whole = "\n".join([common, *sorted(lines), *sorted(parts)])
        hashes[file] = hashlib.sha256(whole.encode()).hexdigest()[:32]
    return hashes


def passes(file: Path, database: Path) -> bool:
    run = subprocess.run(
        [TIDY, "-p", database, "--quiet", "--extra-arg=-Wno-unknown-warning-option", file],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    if run.stdout:
        print(run.stdout, end="", flush=True)
    return run.returncode == 0


def main() -> int:
    build, jobs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    hashes = wanted(build)
    if not hashes:
        print("lint: error: this build compiles no source of src/", file=sys.stderr)
        return 1
    folder = store()
    left = {file: name for file, name in hashes.items() if not (folder / name).exists()}
    for name in set(hashes.values()) - set(left.values()):
        (folder / name).touch()
    print(f"lint: clang-tidy looks at {len(left)} of {len(hashes)} files", file=sys.stderr)

    def look_at(file: Path) -> bool:
        passed = passes(file, build / "tidy-database")
        if passed:
            (folder / left[file]).touch()
        return passed

    with ThreadPoolExecutor(jobs) as pool:
        return 0 if all(list(pool.map(look_at, left))) else 1


if __name__ == "__main__":
    sys.exit(main())
