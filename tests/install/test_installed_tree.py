# SPDX-License-Identifier: Apache-2.0
"""Consumers are built from the installed tree, in C and C++, by CMake and by pkg-config."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import LAUNCHER, call

from tailrace.cli import man_pages

HERE = Path(__file__).parent


def build_with_cmake(folder: Path, where: Path, prefix: Path, environment: dict[str, str]) -> Path:
    call(
        "cmake",
        "-S",
        folder,
        "-B",
        where,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        env=environment,
    )
    call("cmake", "--build", where, env=environment)
    return where


def flags(kind: str, package: str, prefix: Path, environment: dict[str, str]) -> list[str]:
    path = str(prefix / "lib" / "pkgconfig")
    text = call("pkg-config", kind, package, env=environment | {"PKG_CONFIG_PATH": path})
    return shlex.split(text)


def seism(prefix: Path, environment: dict[str, str], folder: Path, *lines: str) -> Path:
    call(*LAUNCHER, "-n", 2, prefix / "bin" / "tailrace-seism", *lines, cwd=folder, env=environment)
    return folder / "out.h5"


def check_ramp(file: Path, slope: float) -> None:
    with h5py.File(file) as opened:
        data = opened["chunked"][...]
    assert data.shape == (2, 8, 4, 4)
    expected = slope * np.arange(8, dtype=np.float32)
    assert np.array_equal(data, np.broadcast_to(expected[None, :, None, None], data.shape))


RAMP = (
    "processor=2x1x1",
    "domain=4x4x4",
    "time=2",
    "filename=out.h5",
    "use_function_name=ramp",
    "use_function_argc=1",
    "use_function_argv=2.5",
)


def test_c_plugin_by_cmake(prefix, clean_environment, tmp_path):
    built = build_with_cmake(HERE / "consumer_c", tmp_path / "b", prefix, clean_environment)
    library = f"use_function_lib={built / 'libramp.so'}"
    check_ramp(seism(prefix, clean_environment, tmp_path, library, *RAMP), 2.5)


def test_c_plugin_by_pkg_config(prefix, clean_environment, tmp_path):
    cflags = flags("--cflags", "tailrace-plugin", prefix, clean_environment)
    call(
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        *cflags,
        "-o",
        tmp_path / "libramp.so",
        HERE / "consumer_c" / "ramp.c",
        env=clean_environment,
    )
    environment = clean_environment | {"LD_LIBRARY_PATH": str(tmp_path)}  # found by its name only
    check_ramp(seism(prefix, environment, tmp_path, "use_function_lib=libramp.so", *RAMP), 2.5)


def test_a_program_that_declares_by_pkg_config(prefix, clean_environment, tmp_path):
    """It wants neither HDF5 nor MPI; the module for Fortran is there as a source."""
    cflags = flags("--cflags", "tailrace-intent", prefix, clean_environment)
    libs = flags("--libs", "tailrace-intent", prefix, clean_environment)
    source = HERE.parent / "declare" / "no_hdf5.c"
    call("cc", "-std=c99", "-Wall", "-Werror", *cflags, source, "-o", tmp_path / "p", *libs,
         env=clean_environment)  # fmt: skip
    environment = clean_environment | {"LD_LIBRARY_PATH": str(prefix / "lib")}
    assert call(tmp_path / "p", env=environment).startswith("4 tailrace_intent: there is no HDF5")
    assert (prefix / "share" / "tailrace" / "fortran" / "tailrace_intent.f90").is_file()


SERVER = HERE.parents[1] / "examples" / "server"


def serve(program: Path, folder: Path, environment: dict[str, str]) -> None:
    folder.mkdir()
    words = (program, "--npes_output_server", 1)
    said = call(*LAUNCHER, "-n", 3, *words, cwd=folder, env=environment)
    assert said == "3 files are complete\n"
    with h5py.File(folder / "history.20000103.nc4") as file:
        assert np.array_equal(file["T"][5].ravel(), 170000 + np.arange(46 * 90))


def test_programs_with_an_io_server_by_pkg_config(prefix, clean_environment, tmp_path):
    cflags = flags("--cflags", "tailrace-server", prefix, clean_environment)
    libs = flags("--libs", "tailrace-server", prefix, clean_environment)
    environment = clean_environment | {"LD_LIBRARY_PATH": str(prefix / "lib")}
    module = prefix / "share" / "tailrace" / "fortran" / "tailrace_server.f90"
    suffix = Path(LAUNCHER[0]).suffix  # mpiexec.mpich: mpicc.mpich
    for words in (
        ["mpicc", "-std=c99", *cflags, SERVER / "first.c"],
        ["mpicxx", "-std=c++20", *cflags, SERVER / "first.cpp"],
        ["mpifort", module, SERVER / "first.f90"],
    ):
        program = tmp_path / f"by_{words[0]}"
        words[0] += suffix
        call(*words, "-o", program, *libs, cwd=tmp_path, env=clean_environment)
        serve(program, program.with_name(f"of_{words[0]}"), environment)


@pytest.mark.parametrize(("languages", "source"), [("C", "first.c"), ("C CXX", "first.cpp")])
def test_a_program_with_an_io_server_by_cmake(
    prefix, clean_environment, tmp_path, languages, source
):
    """A project of C alone, too."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.26)\nproject(p LANGUAGES {languages})\n"
        "find_package(tailrace REQUIRED COMPONENTS server)\n"
        f"add_executable(first {SERVER}/{source})\n"
        "set_target_properties(first PROPERTIES CXX_STANDARD 20)\n"
        "target_link_libraries(first PRIVATE tailrace::server)\n"
    )
    built = build_with_cmake(tmp_path, tmp_path / "b", prefix, clean_environment)
    serve(built / "first", tmp_path / "files", clean_environment)


def run_writer(program: Path, folder: Path, environment: dict[str, str]) -> None:
    assert "2 ranks wrote 8192 bytes" in call(
        *LAUNCHER, "-n", 2, program, folder / "a.h5", "hdf5", env=environment
    )
    with h5py.File(folder / "a.h5") as file:
        field = file["field"][...]
    assert field.shape == (2, 8, 8, 16)
    assert (field[:, :4] == 0.5).all()
    assert (field[:, 4:] == 1.5).all()
    call(*LAUNCHER, "-n", 2, program, folder / "a.raw", "posix", env=environment)
    assert (folder / "a.raw").stat().st_size >= 8192


def test_cpp_by_cmake(prefix, clean_environment, tmp_path):
    built = build_with_cmake(HERE / "consumer_cpp", tmp_path / "b", prefix, clean_environment)
    assert "12 elements" in call(built / "core_only", env=clean_environment)
    run_writer(built / "write_file", tmp_path, clean_environment)


def test_cpp_by_pkg_config(prefix, clean_environment, tmp_path):
    for program, package in (("core_only", "tailrace-core"), ("write_file", "tailrace-kernels")):
        cflags = flags("--cflags", package, prefix, clean_environment)
        libs = flags("--libs", package, prefix, clean_environment)
        call(
            "c++",
            "-std=c++20",
            *cflags,
            HERE / "consumer_cpp" / f"{program}.cpp",
            "-o",
            tmp_path / program,
            *libs,
            env=clean_environment,
        )
    assert "12 elements" in call(tmp_path / "core_only", env=clean_environment)
    run_writer(tmp_path / "write_file", tmp_path, clean_environment)


def test_core_and_plugin_want_no_mpi(prefix, clean_environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.26)\nproject(p LANGUAGES C CXX)\n"
        "set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)\n"
        "find_package(tailrace REQUIRED COMPONENTS core plugin intent)\n"
        "if(NOT TARGET tailrace::intent)\n  message(FATAL_ERROR missing)\nendif()\n"
    )
    call(
        "cmake",
        "-S",
        tmp_path,
        "-B",
        tmp_path / "b",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        env=clean_environment,
    )


def test_unknown_component_is_named(prefix, clean_environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.26)\nproject(p LANGUAGES C CXX)\n"
        "find_package(tailrace REQUIRED COMPONENTS turbine)\n"
    )
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"],
        env=clean_environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode != 0
    assert "turbine" in done.stderr
    assert "plugin;core;comm;formats;kernels" in done.stderr


def test_programs_run_where_they_were_moved_to(prefix, clean_environment, tmp_path):
    for name in ("tailrace-seism", "seism-core-slice"):
        assert "0.1.0" in call(prefix / "bin" / name, "--version", env=clean_environment)
    libraries = call("ldd", prefix / "bin" / "tailrace-seism", env=clean_environment)
    assert "not found" not in libraries
    assert "libhdf5.so" in libraries


def test_the_command_runs_where_it_was_moved_to(prefix, clean_environment, tmp_path):
    """With its own Python packages, hooks and programs, and none of the clone's."""

    def tailrace(*words):
        command = prefix / "bin" / "tailrace"
        return call(command, *words, env=clean_environment, cwd=tmp_path)

    assert tailrace("--version").startswith("tailrace 0.1.0 (commit ")
    found = json.loads(tailrace("doctor", "--json"))
    paths = re.findall(r'"path": "([^"]*/libtailrace_\w+[.]so)"', json.dumps(found))
    assert {Path(path).stem.removeprefix("libtailrace_") for path in paths} == {
        "vol",
        "mpiio",
        "posix",
    }, paths
    assert all(Path(path).is_relative_to(prefix) for path in paths)
    tailrace("run", "seism", "--ranks", 2, "processor=2x1x1", "domain=4x4x4", "time=2")
    (tmp_path / "script.py").write_text(
        "import h5py\nh5py.File('a.h5', 'w').create_dataset('x', (8,), chunks=(2,))[:] = 1\n"
    )
    tailrace("profile", "-o", "profile.json", "--", sys.executable, "script.py")
    assert '"/x"' in (tmp_path / "profile.json").read_text()
    assert "a.h5" in tailrace("verify", "a.h5", "a.h5")
    # What a program gets from its own environment stays its own.
    (tmp_path / "script.py").write_text("import os; print(os.environ.get('PYTHONPATH'))\n")
    assert "None" in tailrace("profile", "-o", "p.json", "--", sys.executable, "script.py")


def test_man_finds_a_page_of_each_command(prefix):
    pages = {path.stem for path in (prefix / "share/man/man1").glob("*.1")}
    assert pages == {page.name for page in man_pages.pages()}


def test_shipped_plugins_are_found_beside_the_programs(prefix, clean_environment, tmp_path):
    environment = clean_environment | {"LD_LIBRARY_PATH": str(prefix / "lib")}
    file = seism(
        prefix,
        environment,
        tmp_path,
        "processor=2x1x1",
        "domain=4x4x4",
        "time=2",
        "filename=out.h5",
        "use_function_lib=libplugins.so",
        "use_function_name=gaussian",
        "use_function_argc=4",
        "use_function_argv=1 1 1 1",
    )
    with h5py.File(file) as opened:
        assert (opened["chunked"][...] > 0).all()


def test_module_file_names_its_prefix(prefix):
    text = (prefix / "share" / "modulefiles" / "tailrace" / "0.1.0").read_text()
    assert text.startswith("#%Module1.0")
    assert "prepend-path PATH $prefix/bin" in text


def test_module_file_is_tcl(prefix, tmp_path):
    """Read by a Tcl interpreter with the commands of a module defined."""
    script = tmp_path / "check.tcl"
    script.write_text(
        "proc module-whatis {args} {}\nproc conflict {args} {}\nproc setenv {name value} "
        '{puts "$name=$value"}\nproc prepend-path {name value} {puts "$name+$value"}\n'
        f"source {{{prefix}/share/modulefiles/tailrace/0.1.0}}\n"
    )
    output = call("tclsh", script)
    assert "PATH+" in output
