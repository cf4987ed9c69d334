# SPDX-License-Identifier: Apache-2.0
"""How many ranks a command will have, as far as that can be told before it runs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tailrace.run.launcher import by_daemons, launchers

_option = re.compile(r"(?:--?(?:n|np)|--ntasks)(?:=?(\d+))?")
_with_a_value = {"--map-by", "--bind-to", "--rank-by", "-map-by", "-bind-to", "-rank-by", "-x"}
with_two_values = {"--mca", "-mca", "--gmca", "-gmca", "--prtemca", "--pmixmca", "-env", "-genv"}
# With one of these words the number of a batch system need not be that of a run.
_about_ranks = {
    "-n", "--n", "-np", "--np", "-N", "-ppn", "-host", "--host", "-H", "-hosts", "-f", "-hostfile",
    "--hostfile", "-machinefile", "--machinefile", "-npernode", "--npernode", "--ntasks",
    "--ntasks-per-node",
}  # fmt: skip
# Of Slurm, PBS, LSF and Grid Engine.
_of_batch_systems = ("SLURM_NTASKS", "PBS_NP", "LSB_DJOB_NUMPROC", "NSLOTS")


def ranks_of(command: Sequence[str], environment: Mapping[str, str] = os.environ) -> int | None:
    """By the launcher's words, else by the batch system; None: nobody tells, as with a script that
    starts the launcher, or with resource sets (jsrun)."""
    launcher = Path(command[0]).name
    if launcher == "jsrun" or not (launcher.startswith(launchers) or launcher in by_daemons):
        return None
    numbers = [_number(part) for part in parts_of(command[1:])]
    if numbers == [None]:
        others = launcher != "srun"  # which asks the batch system itself
        if others and any(word.split("=")[0] in _about_ranks for word in command[1:]):
            return None  # of which this does not know how many they make
        return next((int(environment[name]) for name in _of_batch_systems
                     if environment.get(name, "").isdigit()), None)  # fmt: skip
    return None if None in numbers else sum(number or 0 for number in numbers)


def parts_of(words: Sequence[str]) -> Iterator[list[str]]:
    """The programs of one start, each with its options: `-n 2 ./a : -n 1 ./b`."""
    part: list[str] = []
    for word in words:
        if word == ":":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _number(words: Sequence[str]) -> int | None:
    """Before the program, behind which options are its own: the first word that is no option, and
    no option's value that is not a program."""
    for at, word in enumerate(words):
        before = ["", "", *words[:at]]
        if match := _option.fullmatch(word):
            number = match[1] or "".join(words[at + 1 : at + 2])
            return int(number) if number.isdigit() else None
        is_value = before[-1] in _with_a_value or {*before[-2:]} & with_two_values
        is_free = not before[-1].startswith("-") or shutil.which(word)
        if not word.startswith("-") and not is_value and is_free:
            return None
    return None
