# SPDX-License-Identifier: Apache-2.0
"""The layers that are recorded of a program: which hooks, and how it gets them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tailrace
from tailrace import native
from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import plugin, program_file
from tailrace.run.launcher import flavour_of, launchers

most_ranges = 64  # that a profile keeps of one file

LAYERS = ("hdf5", "mpiio", "posix")
PRELOADED = ("mpiio", "posix")


def remedy(layer: str) -> str:
    """How its hook is got."""
    if layer == "mpiio":
        return "build tailrace with MPI (`make build` in a clone); --layers hdf5 records without it"
    return native.why_missing()[1]


@dataclass(frozen=True)
class Layers:
    """What is recorded. `asked`: the user named them; else what is missing is left out."""

    names: tuple[str, ...]
    asked: bool

    @property
    def posix_of_all(self) -> bool:
        """Else system calls are kept only of files that no other layer saw."""
        return self.asked


@dataclass
class Hooks:
    """What a program needs to be recorded, and what the user should know of it."""

    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def parse(text: str) -> Layers:
    """The value of --layers."""
    if text == "auto":
        return Layers(LAYERS, asked=False)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in LAYERS:
            raise TailraceError(
                f'there is no layer "{name}"', where="--layers", code=ExitCode.USAGE,
                hint=f"auto, or some of {', '.join(LAYERS)}, with commas between them",
            )  # fmt: skip
    if not names:
        raise TailraceError("no layer is named", where="--layers", hint=f"{', '.join(LAYERS)}")
    return Layers(tuple(name for name in LAYERS if name in names), asked=True)


def candidates(name: str, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where the hook of a layer may lie, in the order of preference."""
    file = f"libtailrace_{name}.so"
    found = [Path(tailrace.__file__).parent / "hooks" / file]
    if "TAILRACE_BUILD_DIR" in environment:
        found.append(Path(environment["TAILRACE_BUILD_DIR"], "lib", "tailrace", "hooks", file))
    homes = [environment.get("TAILRACE_HOME", ""), str(Path(sys.argv[0]).absolute().parent.parent)]
    for home in homes:
        if home:
            found += [Path(home) / lib / "tailrace" / "hooks" / file for lib in ("lib", "lib64")]
    return found


def find(name: str, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The hook of a layer."""
    return next((path for path in candidates(name, environment) if path.is_file()), None)


def why_not(hook: Path) -> str:
    """What the loader says against it, "" where it can be preloaded: tried on a process of our own.
    The loader leaves out what it cannot load, so no program could be harmed."""
    run = subprocess.run(
        ["/bin/sh", "-c", ":"], env={"LD_PRELOAD": str(hook)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if run.returncode == 0 and not run.stderr.strip():
        return ""
    return run.stderr.strip() or f"a process with it ended with exit code {run.returncode}"


def prepare(
    layers: Layers,
    command: list[str],
    spools: Path,
    mebibytes: int | None,
    given: Mapping[str, str] = os.environ,
) -> Hooks:
    """Finds the hooks, tries each, and says how the command is to be started."""
    hooks = Hooks(list(command))
    if "hdf5" in layers.names:
        folder = plugin.find()
        plugin.check(folder)
        hooks.environment = plugin.environment_for(folder, spools, mebibytes, given)
    else:
        plugin.refuse_off(given)
        hooks.environment = plugin.recording(spools, mebibytes)
    preloads = _preloads(layers, hooks)
    for script in program_file.replaces_preload(command) if preloads else ():
        hooks.notes.append(
            f"{script} sets LD_PRELOAD: of the programs that it starts then, only HDF5 is "
            "recorded; write LD_PRELOAD=LIBRARY:$LD_PRELOAD there"
        )
    if preloads and _can_preload(command, hooks, given):
        hooks.words, more = with_preload(hooks.words, joined(preloads, given))
        hooks.environment.update(more)
    return hooks


def _preloads(layers: Layers, hooks: Hooks) -> list[str]:
    found = []
    for name in layers.names:
        if name not in PRELOADED:
            continue
        path = find(name)
        if path is None:
            if layers.asked:
                raise TailraceError(
                    f"the hook of the layer {name} (libtailrace_{name}.so) is not installed",
                    where="--layers", hint=remedy(name), code=ExitCode.CAPABILITY_MISSING,
                )  # fmt: skip
            continue
        if reason := why_not(path):
            if layers.asked:
                raise TailraceError(
                    f"the hook of the layer {name} cannot be loaded: {reason}", where=str(path),
                    hint="the program was not started; install tailrace again on this machine",
                    code=ExitCode.CAPABILITY_MISSING,
                )  # fmt: skip
            hooks.notes.append(f"the layer {name} is not recorded: {reason}")
            continue
        found.append(str(path))
    return found


def _can_preload(command: list[str], hooks: Hooks, given: Mapping[str, str]) -> bool:
    """Whether the program takes preloaded libraries; where it only ignores them, a note is all."""
    for program in program_file.programs_in(command):
        if reason := program_file.why_no_preload(program, given):
            hooks.notes.append(f"only HDF5 is recorded: {program} {reason}")
            return False
    return True


def joined(preloads: Sequence[str], given: Mapping[str, str] = os.environ) -> str:
    """The value of LD_PRELOAD: the user's own stay."""
    return os.pathsep.join([*preloads, *filter(None, [given.get("LD_PRELOAD", "")])])


def to_set_hints(
    plan: Mapping[str, Any], command: Sequence[str], given: Mapping[str, str] = os.environ
) -> tuple[list[str], str]:
    """The hook that gives a plan's hints to files that HDF5 does not open; none where the plan has
    no hints, or where it cannot be preloaded, and why."""
    settings = [one["key"] for entry in plan.get("entries", []) for one in entry["settings"]]
    if not any(key.startswith("hint.") for key in settings):
        return [], ""
    hook = find("mpiio")
    if hook is None:
        return [], "the MPI-IO hook (libtailrace_mpiio.so) is not installed"
    if reason := why_not(hook):
        return [], reason
    for program in program_file.programs_in(list(command)):
        if reason := program_file.why_no_preload(program, given):
            return [], f"{program} {reason}"
    return [str(hook)], ""


def with_preload(
    words: list[str], value: str, flavour: Callable[[str], str] = flavour_of
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment in which its processes preload `value`, but not a launcher
    that can be told so."""
    if not Path(words[0]).name.startswith(launchers):
        return words, {"LD_PRELOAD": value}
    if flavour(words[0]) == "openmpi":  # an option of each of its programs, which ":" parts
        told = ["-x", f"LD_PRELOAD={value}"]
        rest = [part for word in words[1:] for part in ([word, *told] if word == ":" else [word])]
        return [words[0], *told, *rest], {}
    return [words[0], "-genv", "LD_PRELOAD", value, *words[1:]], {}


def without_doubles(profile: dict[str, object]) -> None:
    """Takes the system calls away from files that another layer saw: those are its own. What stays
    is how far they went in the file, and how many processes wrote."""
    files = profile.get("files", [])
    assert isinstance(files, list)
    for file in files:
        if "hdf5" in file or "mpiio" in file:
            calls = file.pop("posix", None)
            file.pop("stdio", None)
            if calls and (end := _end(calls, file.get("mpiio") or {})):
                file["touched_bytes"] = end
            if calls and (writes := calls.get("writes") or {}).get("bytes"):
                # Those of a single process have no ranges.
                ranges = writes.get("ranges", [])
                if len(ranges) < most_ranges:
                    file["writers"] = max(1, sum(one["bytes"] > 0 for one in ranges))


def _end(calls: Mapping[str, Any], above: Mapping[str, Any]) -> int | None:
    """Behind the last byte, where the system calls moved all that MPI-IO did."""
    written = [(layer.get("writes") or {}).get("bytes", 0) for layer in (calls, above)]
    if calls.get("maps") or written[0] < written[1]:
        return None
    ends = [side["highest_byte"] + 1 for word in ("reads", "writes")
            if (side := calls.get(word) or {}).get("bytes") and "highest_byte" in side]  # fmt: skip
    return max(ends, default=None)
