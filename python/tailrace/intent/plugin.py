# SPDX-License-Identifier: Apache-2.0
"""The HDF5 connector: where it is, whether it loads, and how a program is told of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import tailrace
from tailrace.errors import ExitCode, TailraceError
from tailrace.native import missing

file_name = "libtailrace_vol.so"
connector = "tailrace under_vol=0;under_info={}"
_default_folder = Path("/usr/local/hdf5/lib/plugin")
_type_of_connectors = 1
_try_it = (
    "import ctypes, sys; "
    "sys.exit(0 if ctypes.CDLL(sys.argv[1]).H5PLget_plugin_type() == int(sys.argv[2]) else 3)"
)


def candidates(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Folders that hold nothing but the connector, in the order of preference."""
    found = [Path(tailrace.__file__).parent / "hdf5_plugin"]
    if "TAILRACE_BUILD_DIR" in environment:
        found.append(Path(environment["TAILRACE_BUILD_DIR"]) / "src" / "hooks" / "vol" / "plugin")
    homes = [environment.get("TAILRACE_HOME", ""), str(Path(sys.argv[0]).absolute().parent.parent)]
    for home in homes:
        if home:
            found += [Path(home) / lib / "tailrace" / "hdf5" for lib in ("lib", "lib64")]
    return found


def find(environment: Mapping[str, str] = os.environ, command: str = "profile") -> Path:
    """The folder of the connector. Raises: exit code 4 with the remedy where it is not there."""
    for folder in candidates(environment):
        if (folder / file_name).is_file():
            return folder
    raise missing(f"the HDF5 connector ({file_name}) is not installed", command)


def check(folder: Path) -> None:
    """Loads the connector in a process of its own: one that cannot load must not meet a program,
    which HDF5 would end."""
    path = folder / file_name
    run = subprocess.run(
        [sys.executable, "-I", "-c", _try_it, str(path), str(_type_of_connectors)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if run.returncode == 0:
        return
    lines = run.stderr.strip().splitlines()
    why = lines[-1] if lines else _how(run.returncode)
    raise TailraceError(
        f"the HDF5 connector cannot be loaded: {why}",
        where=str(path),
        hint="the program was not started; install tailrace again on this machine",
        code=ExitCode.CAPABILITY_MISSING,
    )


def _how(code: int) -> str:
    if code < 0:
        known = {int(one): one.name for one in signal.Signals}
        return f"a process that loads it is ended by {known.get(-code, f'signal {-code}')}"
    return f"a process that loads it ends with exit code {code}"


def environment_for(
    folder: Path, spools: Path, mebibytes: int | None, given: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """What a program needs in its environment to be recorded."""
    return {**_loaded_from(folder, given, "profile"), **recording(spools, mebibytes)}


def recording(spools: Path, mebibytes: int | None) -> dict[str, str]:
    """What every hook needs to record."""
    added = {"TAILRACE_MODE": "record", "TAILRACE_PROFILE_DIR": str(spools)}
    if mebibytes is not None:
        added["TAILRACE_PROFILE_MIB"] = str(mebibytes)
    return added


def environment_to_apply(
    folder: Path, plan: Path, given: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """What a program needs in its environment for a compiled plan to be applied to it."""
    return {
        **_loaded_from(folder, given, "apply"),
        "TAILRACE_MODE": "apply",
        "TAILRACE_PLAN": str(plan.absolute()),
    }


def _loaded_from(folder: Path, given: Mapping[str, str], command: str) -> dict[str, str]:
    refuse_others(given, command)
    plugins = [str(folder)]
    if given.get("HDF5_PLUGIN_PATH"):
        plugins.append(given["HDF5_PLUGIN_PATH"])
    elif _default_folder.is_dir():  # naming a folder would hide it
        plugins.append(str(_default_folder))
    return {"HDF5_PLUGIN_PATH": os.pathsep.join(plugins), "HDF5_VOL_CONNECTOR": connector}


def refuse_others(given: Mapping[str, str], command: str = "profile") -> None:
    """Settings of the user with which nothing could be recorded or applied."""
    other = given.get("HDF5_VOL_CONNECTOR", "")
    if other and not other.startswith("tailrace"):
        raise TailraceError(
            f'the environment names another connector: HDF5_VOL_CONNECTOR="{other}"',
            where=command,
            hint="unset it, or set it yourself to one below ours: "
            '"tailrace under_vol=<its value>;under_info={<its own text>}"',
        )
    if given.get("HDF5_PLUGIN_PRELOAD", "") == "::":
        raise TailraceError(
            'the environment forbids HDF5 to load plugins: HDF5_PLUGIN_PRELOAD="::"',
            where=command,
            hint="unset it",
        )
    refuse_off(given, command)


def refuse_off(given: Mapping[str, str], command: str = "profile") -> None:
    """The kill switch holds here too."""
    if given.get("TAILRACE_MODE") == "off":
        raise TailraceError(
            "the environment switches the hooks off: TAILRACE_MODE=off",
            where=command,
            hint="unset it",
        )
