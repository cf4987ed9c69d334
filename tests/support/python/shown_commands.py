# SPDX-License-Identifier: Apache-2.0
"""Pages of which tests run what they show: programs in blocks, whose first line names a file;
commands behind `$`, and the lines that they print."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_program = re.compile(r"^```(python|c)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_number = re.compile(r"\d[\d.,]*(e[+-]?\d+)?")


@dataclass
class Step:
    """A command of the page, and the lines that it shows."""

    command: str
    lines: list[str] = field(default_factory=list)


def programs(page: str) -> dict[str, str]:
    """By the file that their first line names."""
    found = {}
    for _, text in _program.findall(page):
        name = re.match(r"(?:# |/\* )([a-z]+\.(?:py|c))", text)
        assert name is not None, text
        found[name[1]] = text
    return found


def steps(page: str) -> list[Step]:
    """In the order of the page."""
    found: list[Step] = []
    for line in _program.sub("", page).splitlines():
        if line.startswith("    $ "):
            found.append(Step(line[6:]))
        elif line.startswith("    ") and found:
            found[-1].lines.append(line[4:])
        elif line:
            found.append(Step(""))  # words between blocks: what follows belongs to no command
    return [step for step in found if step.command]


def without_numbers(text: str, home: Path) -> str:
    """Units go with their numbers; 'pairs' may be one."""
    text = text.replace(str(home), "/home/me").replace("1 run", "1 runs")
    text = re.sub(r"\bruns+\b", "runs", text)
    text = _number.sub("#", text)
    return re.sub(r"# (ms|s|KiB|MiB|µs)\b", "# units", text)
