# SPDX-License-Identifier: Apache-2.0
"""What lines for a program do not say by themselves, as texts for their comments.

Nothing of a plan is left out in silence: a setting is in the code, or named here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Any

from tailrace.intent.snippets.values import Place, Setting, one_line

How = Callable[[Setting], str]

_mistakes: dict[tuple[str, Any], str] = {
    ("fill_time", "never"): (
        "fill_time never: elements that the program does not write are undefined, whatever was on "
        "the disk. Only where every element is written; `tailrace apply` counts that, and fills "
        "holes, these lines do not"
    ),
    ("core_backing_store", False): (
        "core_backing_store false: what the program writes is lost when the file is closed"
    ),
    ("file_locking", False): (
        "file_locking false: only for files that nobody writes meanwhile, this program included"
    ),
    ("metadata_cache_evictions", False): (
        "metadata_cache_evictions false: metadata reaches the disk at flush and close only"
    ),
    ("collective_metadata_reads", True): (
        "collective_metadata_reads: all ranks have to make the same calls in the same order"
    ),
    ("write_mode", "collective"): "write_mode collective: every rank has to take part in each call",
    ("read_mode", "collective"): "read_mode collective: every rank has to take part in each call",
}


def remarks_on(place: Place, opened: str = "", chunk: str = "") -> list[str]:
    """Why the lines of a place are there, and what has to be known before they are used. opened:
    how a dataset is opened once, without its name; chunk: what gives chunks already."""
    first = []
    if place.loses_caches:
        first.append(
            f"open it once{opened and ': ' + one_line(opened.format(place.dataset))} "
            f"(it is opened {place.opens} times, and its cache ends with the last handle of it)"
        )
    if chunk and place.replaces and "chunk" in place.said:
        first.append(f"take {chunk} out of the program's own call: these chunks replace them")
    warnings = [
        text
        for (key, value), text in _mistakes.items()
        if key in place.said and place.value(key) == value
    ]
    return first + place.reasons() + warnings


def subfiling(one: Setting) -> str:
    """The driver that nobody can put below a program."""
    if one.key == "subfiling_stripe_bytes":
        return f"export H5FD_SUBFILING_STRIPE_SIZE={one.value}, with the driver subfiling"
    if one.key == "subfiling_concentrators_per_node":
        return f"export H5FD_SUBFILING_IOC_PER_NODE={one.value}, with the driver subfiling"
    if one.key == "driver" and one.value == "subfiling":
        return "H5Pset_fapl_subfiling in a C program that asks MPI for MPI_THREAD_MULTIPLE"
    return ""


def unsaid(language: str, found: Iterable[Place], plan: dict[str, Any], how: How) -> list[str]:
    """Texts for comments; `how` says how else a setting can be made, or nothing."""
    otherwise: list[str] = []
    never: list[str] = []
    for place in found:
        for one in place.left:
            means = one.note or how(one) or subfiling(one)
            text = f"  {place.name}: {one.text}"
            if means and not one.note:
                otherwise.append(f"{text}: {one_line(means)}")
            else:
                never.append(f"{text}: {means}" if means else text)
    lines: list[str] = []
    if otherwise:
        lines += ["not in these lines, but possible:", *otherwise]
    if never:
        lines += [f"not possible from {language}; use `tailrace apply`:", *never]
    environment = plan.get("environment", [])
    if environment:
        lines.append("in the environment of the run:")
    for one in environment:
        text = f"  export {one['name']}={shlex.quote(one['value'])}"
        lines.append(f"{one_line(text)} (rule {one['because']['rule']})" if "because" in one
                     else one_line(text))  # fmt: skip
    return lines


def locking_by_environment(one: Setting) -> str:
    """HDF5's own variable, where a library has no argument for it."""
    if one.key != "file_locking":
        return ""
    return f"export HDF5_USE_FILE_LOCKING={'TRUE' if one.value else 'FALSE'}"
