# SPDX-License-Identifier: Apache-2.0
"""Keeps a script in the job's folder and gives it to the scheduler."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError

_patience_s = 120


@dataclass(frozen=True)
class Submitted:
    """job: the scheduler's name for it. said: its notes."""

    job: str
    said: str


def keep(text: str, folder: Path, stem: str, suffix: str) -> Path:
    """Writes the script, under a new name where another one has the name."""
    content = os.fsencode(text)
    number = 1
    while True:
        path = folder / f"{stem}{'' if number == 1 else f'-{number}'}.{suffix}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if path.is_file() and path.read_bytes() == content:
                return path
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise TailraceError(
                f"cannot be written: {os.strerror(error.errno or 0)}",
                where=str(path),
                hint="give --run-folder in a folder of yours",
            ) from error
        path.chmod(0o755)
        return path


def hand_over(command: list[str], script: Path, scheduler: str) -> Submitted:
    """Raises: exit code 4 where the scheduler is not here, 1 with its text where it refuses."""
    if shutil.which(command[0]) is None:
        raise TailraceError(
            f"there is no {command[0]} here, so nothing was submitted; the script is {script}",
            where="submit",
            hint=f"on the machine with {scheduler} type: {shlex.join([command[0], str(script)])}",
            code=ExitCode.CAPABILITY_MISSING,
        )
    words = [*command, str(script)]
    try:
        done = subprocess.run(
            words, cwd=script.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=_patience_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TailraceError(
            f"{command[0]} does not answer within {_patience_s} s",
            where="submit",
            hint=f"whether the job was taken the scheduler has to say; the script is {script}",
            code=ExitCode.RUN_FAILED,
        ) from error
    said = done.stderr.strip()
    if done.returncode or not done.stdout.strip():
        raise TailraceError(
            f"{command[0]} refused the job: {said or f'exit code {done.returncode}'}",
            where=str(script),
            hint=_remedy(said),
            code=ExitCode.RUN_FAILED,
        )
    # sbatch --parsable on a federation: "job;cluster"
    return Submitted(done.stdout.strip().splitlines()[-1].partition(";")[0], said)


_remedies = (
    ("account", "`sacctmgr show associations user=$USER` lists your accounts: give --account"),
    ("partition", "`sinfo --summarize` lists the partitions: give --partition"),
    ("feature", "`sinfo --format=%f` lists what --constraint can ask for"),
    ("qos", "`sacctmgr show qos` lists what there is: give --qos"),
    ("node count", "`sinfo --summarize` tells how many nodes there are: give fewer --nodes"),
    ("time limit", "`sinfo --summarize` tells the longest time: give a shorter --time"),
)


def _remedy(said: str) -> str:
    low = said.lower()
    found = next((text for word, text in _remedies if word in low), "")
    return found or "the script is kept: mend it and submit it, or call `tailrace submit` again"
