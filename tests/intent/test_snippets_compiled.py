# SPDX-License-Identifier: Apache-2.0
"""Lines for C and Fortran are compiled with the parallel HDF5 and run; lists and hints that they
set are read back with HDF5's and MPI's own functions (lists.c)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_programs import MPIEXEC
from own_namespace import not_run
from snippet_plans import Json, plan_of, preemption_alone

from tailrace.intent.snippets import snippet

HERE = Path(__file__).parent
H5PCC = Path(os.environ.get("TAILRACE_TEST_H5PCC", "/none"))
LISTS = ("fcpl", "fapl", "dcpl", "dapl", "write_dxpl", "read_dxpl")

ODD = "o'dd"
# Said by both languages, and what lists.c reads back.
FILE: Json = {
    "file_space_strategy": "page", "page_bytes": 8192, "alignment_threshold_bytes": 70000,
    "alignment_bytes": 4096, "meta_block_bytes": 1 << 20, "small_data_block_bytes": 65536,
    "sieve_buffer_bytes": 1 << 18, "collective_metadata_writes": True,
    "collective_metadata_reads": False, "libver_low": "v18", "libver_high": "v112",
    "file_locking": False, "driver": "core", "core_increment_bytes": 1 << 17,
    "core_backing_store": False, "hint.cb_nodes": "2", "hint.striping_unit": "1048576",
    f"hint.{ODD}": "it's \"7\" ??/ " + "x" * 200,
}  # fmt: skip
DATASET: Json = {
    "layout": "chunked", "chunk": [16, 50, 3], "fill_time": "never",
    "allocation_time": "incremental", "shuffle": True, "deflate": 3, "chunk_cache_bytes": 3 << 20,
    "chunk_cache_slots": 521, "chunk_cache_preemption": 0.25, "write_mode": "collective",
    "read_mode": "independent", "conversion_buffer_bytes": 1 << 21,
}  # fmt: skip
# MPICH's ROMIO takes one aggregator a node, whatever is asked for.
AGGREGATORS = 1 if os.environ.get("TAILRACE_TEST_MPI") == "mpich" else 2
BACK = f"""\
space 1 0 1 page 8192
alignment 70000 4096
blocks 1048576 65536 262144
versions 1 3
locking 0 1
driver core 131072 0
layout 2 16 50 3
fill 1 allocation 3
filters 2:0 1:3
chunk cache 521 3145728 0.25
hint cb_nodes={AGGREGATORS}
hint striping_unit=1048576
""".splitlines()
# Said by C alone.
C_FILE: Json = {
    "metadata_cache_initial_bytes": 1 << 24, "metadata_cache_max_bytes": 1 << 23,
    "metadata_cache_evictions": False, "metadata_cache_image": True,
    "page_buffer_bytes": 1 << 20, "evict_on_close": True, "collective_metadata_reads": True,
}  # fmt: skip
C_TRANSFER: Json = {
    "collective_io": "individual", "chunk_io": "multi_io", "chunk_io_chunks": 7,
    "chunk_io_percent": 60, "write_mode": "independent", "read_mode": "collective",
    "libver_low": "latest",
}  # fmt: skip
C_BACK = """\
collective metadata 0 1
metadata cache 1 16777216 16777216 0 image 1
page buffer 1048576 evict 1
versions 5 5
writes 0 1 2 7 60 1048576
reads 1 1 2 7 60 1048576
""".splitlines()


def built(folder: Path, *words: object) -> Path:
    """A program of these words of a compiler."""
    done = subprocess.run(
        [str(word) for word in (*words, "-o", "tuned")],
        capture_output=True, text=True, cwd=folder, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "tuned"


def said(program: Path) -> list[str]:
    """Lines of a program. One process needs no launcher.

    Where the environment says how files are locked, HDF5 hears that and no list.
    """
    others = {key: value for key, value in os.environ.items() if key != "HDF5_USE_FILE_LOCKING"}
    ran = subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=others,
        cwd=program.parent,
    )
    assert ran.returncode == 0, ran.stderr
    assert "HDF5-DIAG" not in ran.stderr
    return ran.stdout.splitlines()


def routines(text: str, start: str) -> list[str]:
    """Names of routines whose names begin so, each once."""
    return list(dict.fromkeys(re.findall(rf"(?:int|subroutine) ({start}_\d+)\(", text)))


def modes(lines: list[str]) -> dict[str, str]:
    """Of writes and reads, whose conversion buffers are to be 2 MiB."""
    found = [line.split() for line in lines if line.split()[0] in {"writes", "reads"}]
    assert all(words[-1] == "2097152" for words in found)
    return {words[0]: words[1] for words in found}


C_HEAD = """
#include <hdf5.h>
void make_lists(hid_t lists[6]);
void read_back(const hid_t lists[6]);
void read_hints(int info);
int main(int argc, char** argv)
{
    hid_t l[6];
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
"""


def c_said(folder: Path, plan: Json) -> list[str]:
    """What is read back after all routines of the lines, on the same lists."""
    if not H5PCC.is_file():
        not_run(f"needs the compiler of the parallel HDF5 ({H5PCC})")
    text = snippet("c", plan)
    body = "    make_lists(l);\n"
    for name in routines(text, "tune"):
        body += f"    if ({name}(l[0], l[1], l[2], l[3], l[4], l[5])) return 3;\n"
    for name in routines(text, "hint"):
        body += f"    if ({name}(info)) return 4;\n"
    body += "    read_back(l);\n    read_hints(MPI_Info_c2f(info));\n"
    body += "    MPI_Info_free(&info);\n    MPI_Finalize();\n    return 0;\n}\n"
    (folder / "tuned.c").write_text(f"{text}{C_HEAD}{body}")
    return said(built(folder, H5PCC, "-Wall", "-Wextra", "-Werror", "tuned.c", HERE / "lists.c"))


def test_c_lines_run(tmp_path: Path) -> None:
    found = c_said(tmp_path, plan_of(FILE, DATASET))
    assert sorted(set(BACK) - set(found)) == [], found
    assert "collective metadata 1 0" in found
    assert f"hint {ODD}={FILE['hint.' + ODD]}" in found
    assert modes(found) == {"writes": "1", "reads": "0"}


def test_c_lines_for_the_rest_run(tmp_path: Path) -> None:
    found = c_said(tmp_path, plan_of({**C_FILE, "libver_low": "latest"}, C_TRANSFER))
    assert sorted(set(C_BACK) - set(found)) == [], found


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"libver_high": "v18"}, "versions 0 1"),
        ({"alignment_bytes": 4096}, "alignment 1 4096"),
        ({"alignment_threshold_bytes": 4096}, "alignment 4096 1"),
        ({"driver": "core"}, "driver core 67108864 1"),
        ({"shuffle": False, "meta_block_bytes": 4096}, "filters"),
    ],
)
def test_c_lines_of_one_of_a_pair(tmp_path: Path, values: Json, line: str) -> None:
    assert line in c_said(tmp_path, plan_of(values))


ASKED: Json = {"chunk_cache_bytes": 5 << 20, "chunk_cache_slots": 1009}
OF_FILE = re.compile(r"chunk cache (521 1048576|8191 8388608) 0\.5")  # 1.14, 2.x


def test_c_lines_of_the_preemption_alone(tmp_path: Path) -> None:
    """Size and slots stay: what was asked for, or what HDF5 has for the file."""
    for part in ("asked", "of_file"):
        (tmp_path / part).mkdir()
    found = c_said(tmp_path / "asked", preemption_alone(asked=ASKED))
    assert f"chunk cache 1009 {5 << 20} 0.5" in found
    found = c_said(tmp_path / "of_file", preemption_alone())
    assert any(OF_FILE.fullmatch(line) for line in found), found


def test_c_lines_for_the_direct_driver(tmp_path: Path) -> None:
    settings = H5PCC.parents[1] / "include" / "H5pubconf.h"
    if not settings.is_file() or "#define H5_HAVE_DIRECT 1" not in settings.read_text():
        not_run("needs an HDF5 with the direct driver")
    assert "driver direct 4096 4096 16777216" in c_said(tmp_path, plan_of({"driver": "direct"}))


def mpi_fortran() -> Path:
    """The Fortran wrapper beside the launcher."""
    launcher = Path(shutil.which(MPIEXEC[0]) or MPIEXEC[0])
    found = launcher.with_name(launcher.name.replace("mpiexec", "mpifort"))
    if not found.is_file():
        not_run(f"needs the Fortran compiler of this MPI ({found})")
    return found


FORTRAN_HEAD = """
program main
  use mpi
  use hdf5, only: hid_t
  use tuned_lists
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    subroutine make_lists(lists) bind(c)
      import :: hid_t
      integer(hid_t) :: lists(6)
    end subroutine
    subroutine read_back(lists) bind(c)
      import :: hid_t
      integer(hid_t) :: lists(6)
    end subroutine
    subroutine read_hints(info) bind(c)
      import :: c_int
      integer(c_int), value :: info
    end subroutine
  end interface
  integer(hid_t) :: l(6)
  integer :: info, error
  call MPI_Init(error)
  call MPI_Info_create(info, error)
"""


def fortran_said(folder: Path, plan: Json) -> list[str]:
    """As c_said. With HDF5's own module where h5pfc is there, else with ours (hdf5_module.f90)."""
    text = snippet("fortran", plan)
    opened = "".join(
        f"  call {name}(l(1), l(2), l(3), l(4), l(5), l(6), error)\n  if (error < 0) stop 3\n"
        for name in routines(text, "tune")
    )
    hinted = "".join(f"  call {name}(info, error)\n" for name in routines(text, "hint"))
    own = H5PCC.with_name("h5pfc")
    start, end = ("  call h5open_f(error)\n", "") if own.is_file() else ("", "")
    main = FORTRAN_HEAD.replace("only: hid_t", "only: hid_t, h5open_f") if start else FORTRAN_HEAD
    (folder / "tuned.f90").write_text(
        f"{text}{main}{start}  call make_lists(l)\n{opened}{hinted}  call read_back(l)\n"
        f"  call read_hints(info)\n{end}  call MPI_Finalize(error)\nend program\n"
    )
    if not H5PCC.is_file():
        not_run(f"needs the compiler of the parallel HDF5 ({H5PCC})")
    subprocess.run([H5PCC, "-c", HERE / "lists.c", "-o", folder / "lists.o"], check=True)
    strict = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror")
    if own.is_file():
        return said(built(folder, own, *strict, "tuned.f90", "lists.o"))
    lib = H5PCC.parents[1] / "lib"
    compiler = mpi_fortran()
    subprocess.run([compiler, "-c", HERE / "hdf5_module.f90"], check=True, cwd=folder)
    return said(
        built(folder, compiler, *strict, "tuned.f90", "hdf5_module.o", "lists.o", f"-L{lib}",
              "-lhdf5", f"-Wl,-rpath,{lib}")
    )  # fmt: skip


def test_fortran_lines_run(tmp_path: Path) -> None:
    """Extents are turned round in the lines, and by HDF5's module again."""
    found = fortran_said(tmp_path, plan_of(FILE, DATASET))
    assert sorted(set(BACK) - set(found)) == [], found
    assert "collective metadata 1 0" in found
    assert f"hint {ODD}={FILE['hint.' + ODD]}" in found
    assert modes(found) == {"writes": "1", "reads": "0"}


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"libver_low": "latest"}, "versions 5 5"),
        ({"libver_high": "v18"}, "versions 0 1"),
        ({"alignment_bytes": 4096}, "alignment 1 4096"),
        ({"driver": "core"}, "driver core 67108864 1"),
        ({"fill_time": "ifset", "layout": "compact"}, "fill 2 allocation 1"),
        ({"chunk": list(range(1, 33))}, "layout 2 " + " ".join(map(str, range(1, 33)))),
    ],
)
def test_fortran_lines_of_single_settings(tmp_path: Path, values: Json, line: str) -> None:
    of_dataset = "chunk" in values or "fill_time" in values
    plan = plan_of({}, values) if of_dataset else plan_of(values)
    assert line in fortran_said(tmp_path, plan)


def test_fortran_lines_of_the_preemption_alone(tmp_path: Path) -> None:
    for part in ("asked", "of_file"):
        (tmp_path / part).mkdir()
    found = fortran_said(tmp_path / "asked", preemption_alone(asked=ASKED))
    assert f"chunk cache 1009 {5 << 20} 0.5" in found
    found = fortran_said(tmp_path / "of_file", preemption_alone())
    assert any(OF_FILE.fullmatch(line) for line in found), found
