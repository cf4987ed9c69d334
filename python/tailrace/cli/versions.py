# SPDX-License-Identifier: Apache-2.0
"""`tailrace --version`."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from tailrace.cli.output import Output
from tailrace.native import core
from tailrace.run import programs

_modules = ("numpy", "h5py", "netCDF4", "xxhash", "typer", "rich", "msgspec", "pandas", "jinja2")
_readers = ("numpy", "h5py", "netCDF4", "xxhash")


def version() -> str:
    """Of the package; of the file VERSION in a checkout, and in a tree of `make install`."""
    try:
        return metadata.version("tailrace")
    except metadata.PackageNotFoundError:
        file = Path(__file__).resolve().parents[3] / "VERSION"
        return file.read_text(encoding="utf-8").strip() if file.is_file() else "unknown"


def commit() -> str:
    """That the package was built from; of the checkout where it is not installed."""
    root = Path(__file__).resolve().parents[3]
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
        found = programs.output_of(command).strip()
        if found and "fatal" not in found:
            return found
    try:
        from tailrace._commit import commit as noted
    except ImportError:
        return "unknown"
    return str(noted)


def facts() -> dict[str, Any]:
    """Everything about this installation, with documented keys."""
    tool = programs.find_program(programs.seism)
    return {
        "tailrace": version(),
        "commit": commit(),
        "python": platform.python_version(),
        "modules": {name: _module_version(name) for name in _modules},
        "hdf5_of_h5py": _hdf5_of_h5py(),
        "netcdf_of_netCDF4": _netcdf_of_module(),
        "compiled_helper": core() is not None,
        "programs": None
        if tool is None
        else {"tailrace-seism": str(tool), **programs.versions(tool)},
    }


def print_versions(output: Output) -> None:
    found = facts()
    output.json(found)
    output.line(f"tailrace {found['tailrace']} (commit {found['commit']})")
    shown = {name: found["modules"][name] for name in _readers}
    modules = ", ".join(f"{name} {number}" for name, number in shown.items() if number)
    output.line(f"  Python      {found['python']}: {modules}")
    output.line(
        f"  readers     HDF5 {found['hdf5_of_h5py'] or 'missing'} (h5py), "
        f"netCDF-C {found['netcdf_of_netCDF4'] or 'missing'} (netCDF4)"
    )
    helper = "present" if found["compiled_helper"] else "absent (plugins are called by ctypes)"
    output.line(f"  helper      {helper}")
    tools = found["programs"]
    if tools is None:
        output.line("  programs    tailrace-seism is not installed (`tailrace doctor` says how)")
        return
    output.line(f"  programs    {tools['tailrace-seism']}")
    for label, value in tools.items():
        if label not in {"tailrace-seism", "program"}:
            output.line(f"    {label:<10}{value}")


def _module_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _hdf5_of_h5py() -> str | None:
    try:
        import h5py
    except ImportError:
        return None
    return str(h5py.version.hdf5_version)


def _netcdf_of_module() -> str | None:
    try:
        import netCDF4
    except ImportError:
        return None
    return str(netCDF4.__netcdf4libversion__)
