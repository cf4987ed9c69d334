# SPDX-License-Identifier: Apache-2.0
"""The programs and the file-format libraries they are linked with."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tailrace.doctor.model import Finding, Section, missing, note, ok
from tailrace.run.programs import find_program, output_of, seism, versions

_build = "in a clone of tailrace type `make build`, then `. ./env.sh`"
_superbuild = "in a clone of tailrace `make setup` builds one; or set HDF5_ROOT to your site's"


def programs_section(tool: Path | None) -> Section:
    if tool is None:
        finding = missing(seism, "not installed", f"{_build}; `pip install` alone cannot bring it")
        return Section("programs", "Programs", [finding])
    told = versions(tool)
    text = told.get("program", "").removeprefix(f"{seism} ")
    return Section("programs", "Programs", [ok(seism, f"{text}, {tool}", **told)])


def hdf5_section(tool: Path | None) -> Section:
    library = linked_library(tool, "hdf5")
    if library is None:
        why = "not known: the programs are not built" if tool is None else "the program has none"
        finding = missing("library", why, _superbuild)
        return Section("hdf5", "HDF5 of the programs", [finding])
    settings = hdf5_settings(library)
    version = settings.get("HDF5 Version", "version not told")
    findings = [ok("library", f"{version}, {library}", version=version, path=str(library))]
    findings.append(_feature(settings, "parallel", "Parallel HDF5", _superbuild))
    findings.append(
        _feature(
            settings, "subfiling", "Subfiling VFD", "build HDF5 with HDF5_ENABLE_SUBFILING_VFD"
        )
    )
    filters = settings.get("I/O filters (external)", "").lower()
    names = re.findall(r"[a-z]+", filters.replace("(zlib)", "").replace("(encoder)", ""))
    found = [name for name in names if name not in {"none"}]
    findings.append(
        ok("filters", ", ".join(found), built_in=found)
        if found
        else missing("filters", "no compression built in", "build HDF5 with zlib")
    )
    findings.append(_plugins())
    return Section("hdf5", "HDF5 of the programs", findings)


def netcdf_section(tool: Path | None) -> Section:
    return Section("netcdf", "netCDF and PnetCDF", [_netcdf(tool), _pnetcdf()])


def linked_library(tool: Path | None, name: str) -> Path | None:
    """The file of lib<name> that a program would load."""
    if tool is None:
        return None
    pattern = rf"^\s*lib{name}\S*\.so\S* => (/\S+)"
    found = re.search(pattern, output_of(["ldd", str(tool)]), re.MULTILINE)
    return Path(found.group(1)) if found else None


def hdf5_settings(library: Path) -> dict[str, str]:
    """The configuration that every HDF5 library carries within itself."""
    try:
        raw = library.read_bytes()
    except OSError:
        return {}
    start = raw.find(b"SUMMARY OF THE HDF5 CONFIGURATION")
    if start < 0:
        return {}
    text = raw[start : raw.find(b"\0", start)].decode("utf-8", "replace")
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {label.strip(): value.strip() for label, value in pairs}


def _feature(settings: dict[str, str], name: str, label: str, remedy: str) -> Finding:
    """Builds by CMake say ON or 1, and OFF or nothing; those by autotools say yes and no."""
    if label not in settings:
        return note(name, "not told by the library", available=None)
    if settings[label].upper() in {"ON", "YES", "TRUE", "1"}:
        return ok(name, "yes", available=True)
    return missing(name, "no", remedy, available=False)


def _plugins() -> Finding:
    value = os.environ.get("HDF5_PLUGIN_PATH", "")
    if not value:
        hint = "further filters (zfp, zstd ...) are found in the folders of HDF5_PLUGIN_PATH"
        return note("plugins", "HDF5_PLUGIN_PATH is not set", hint, folders=[])
    folders = value.split(":")
    gone = [folder for folder in folders if not Path(folder).is_dir()]
    if gone:
        return missing(
            "plugins", f"no folder {gone[0]}", "correct HDF5_PLUGIN_PATH", folders=folders
        )
    count = sum(len(list(Path(folder).glob("*.so*"))) for folder in folders)
    return ok("plugins", f"{count} in {value}", folders=folders)


def _netcdf(tool: Path | None) -> Finding:
    library = linked_library(tool, "netcdf") or linked_library(tool, "hdf5")
    near = library.parent.parent / "bin" / "nc-config" if library else None
    config = str(near) if near and os.access(near, os.X_OK) else shutil.which("nc-config")
    if config is None:
        remedy = (
            "only for programs that write netCDF: `make setup` in a clone of tailrace builds it"
        )
        return note("netCDF-C", "not here", remedy, version=None)
    text = output_of([config, "--all"])
    version = output_of([config, "--version"]).strip()
    parallel = re.search(r"--has-parallel4\s*->\s*yes", text) is not None
    return ok(
        "netCDF-C", f"{version}, {'parallel' if parallel else 'serial'}, {config}",
        version=version.removeprefix("netCDF "), parallel=parallel, path=config,
    )  # fmt: skip


def _pnetcdf() -> Finding:
    config = shutil.which("pnetcdf-config")
    if config is None:
        remedy = "only for programs that write by PnetCDF: Debian: apt-get install libpnetcdf-dev"
        return note("PnetCDF", "not here", remedy, version=None)
    version = output_of([config, "--version"]).strip()
    return ok("PnetCDF", f"{version}, {config}", version=version.removeprefix("PnetCDF "))


def found_tool() -> Path | None:
    return find_program(seism)
