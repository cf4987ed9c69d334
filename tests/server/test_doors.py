# SPDX-License-Identifier: Apache-2.0
"""The doors of the I/O server in C, C++ and Fortran: programs as users build them; their files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC
from own_namespace import not_run

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
EXAMPLES, HERE = SOURCE / "examples" / "server", Path(__file__).parent / "doors"
MODULE = SOURCE / "bindings" / "fortran" / "tailrace_server.f90"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
LANGUAGES = {
    ".c": ("mpicc", ("-std=c99",)),
    ".cpp": ("mpicxx", ("-std=c++20", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")),
    ".f90": ("mpifort", ("-std=f2018", MODULE)),
}
KINDS = ("int8", "int16", "int32", "int64", "real32", "real64")
NUMPY = dict(zip(KINDS, ("i1", "i2", "i4", "i8", "f4", "f8"), strict=True))


def built(source: Path, where: Path) -> Path:
    name, words = LANGUAGES[source.suffix]
    wrapper = shutil.which(name + Path(MPIEXEC[0]).suffix)  # mpiexec.mpich: mpicc.mpich
    if wrapper is None:
        not_run(f"needs {name} (Debian: apt-get install gfortran)")
    assert wrapper is not None
    sanitizer = ("-fsanitize=address",) if os.environ.get("TAILRACE_TEST_SANITIZE") else ()
    where.mkdir(parents=True)
    library = BUILD / "lib"
    done = subprocess.run(
        [wrapper, *WARNINGS, *sanitizer, f"-I{SOURCE / 'include'}", *words, source,
         "-o", where / source.stem, f"-L{library}", "-ltailrace_server", f"-Wl,-rpath,{library}"],
        cwd=where, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return where / source.stem


def launched(ranks: int, program: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    cwd.mkdir(exist_ok=True)
    return subprocess.run(
        [*MPIEXEC, "-n", str(ranks), program, *words],
        cwd=cwd, capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip


def said(ranks: int, program: Path, *words: str, cwd: Path) -> list[str]:
    ran = launched(ranks, program, *words, cwd=cwd)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [built(EXAMPLES / f"first{suffix}", tmp_path_factory.mktemp("first") / suffix[1:])
            for suffix in LANGUAGES]  # fmt: skip


@pytest.mark.parametrize("servers", [2, 0])
def test_the_example_holds_every_element_in_each_language(
    examples: list[Path], servers: int, tmp_path: Path
) -> None:
    words = ("--npes_output_server", str(servers)) if servers else ()
    images = []
    for program in examples:
        folder = tmp_path / program.parent.name
        assert said(4 + servers, program, *words, cwd=folder) == ["3 files are complete"]
        names = [f"history.200001{day:02}.nc4" for day in (1, 2, 3)]
        assert sorted(path.name for path in folder.iterdir()) == names
        image = []
        for day, name in enumerate(names):
            with netCDF4.Dataset(folder / name) as file:
                file.set_auto_mask(False)
                step = np.arange(6 * day, 6 * day + 6)
                cell = np.arange(46 * 90).reshape(46, 90)
                assert np.array_equal(file["time"][:], step * 4.0)
                assert np.array_equal(file["T"][:], step[:, None, None] * 10000.0 + cell)
                assert np.array_equal(file["ps"][:], (step[:, None, None] + 100) * 10000.0 + cell)
                assert np.array_equal(file["lat"][:], -90.0 + 180.0 * np.arange(46) / 45)
                image.append([(one, str(v.dtype), v.dimensions, v.ncattrs(), v[:].tobytes())
                              for one, v in file.variables.items()])  # fmt: skip
        images.append(image)
    assert images[0] == images[1] == images[2]


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(HERE / "errors.f90", tmp_path_factory.mktemp("errors") / "f90")


def test_fortran_that_forgets_to_finalize_lets_its_servers_go(tmp_path: Path) -> None:
    program = built(HERE / "forgets.f90", tmp_path / "f90")
    done = launched(3, program, "--npes_output_server", "1", cwd=tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("tailrace server: error: MPI ends, and the server was not")
    assert not list((tmp_path / "run").glob("*.nc4"))


@pytest.mark.parametrize("servers", [1, 0])
def test_wrong_calls_of_fortran_say_what_to_do(errors: Path, servers: int, tmp_path: Path) -> None:
    words = ("--npes_output_server", str(servers)) if servers else ()
    text = "\n".join(said(1 + servers, errors, *words, cwd=tmp_path))
    for what, parts in {
        "length: 2 ": ["length of dimension z", "integer of 32 or 64 bits"],
        "dimension: 2 ": ["variable lost", '"w"', "Did you mean"],
        "fill: 2 ": ["variable field", "real32", "real64", "pass values of the type"],
        "constant: 2 ": ["variable field", "real32", "int32", "pass values of the type"],
        "attribute: 2 ": ["attribute flag takes integers of 8, 16, 32 or 64 bits and reals"],
        "empty: 2 ": ["metadata is NULL", "pass what the library gave you"],
        "name: 2 ": ['"feild". Did you mean "field"?'],
        "shape: 2 ": ["variable field", "1 dimensions", "has 2", "give as many starts and counts"],
        "outside: 2 ": ["variable field", "lies outside", "check start and count"],
        "kind: 2 ": ["variable field", "type real32", "type real64", "pass an array of the type"],
        "start: 2 ": ["variable field", "count from 1"],
        "count: 2 ": ["variable field", "as many elements as the array"],
        "file: 2 ": ["variable field", "no file is open, and none is named", "name it in put"],
        "good: 0 ": [],
        "closed: 2 ": ["variable field", "no file is open, and none is named", "name it in put"],
        "status: 0 ": [],
        "finalized: 2 ": ["variable field", "finalized already", "before finalize"],
    }.items():
        (answer,) = re.findall(rf"^{what}((?:.|\n +)*)", text, re.MULTILINE)
        assert all(part in answer for part in parts), (what, answer)
    with netCDF4.Dataset(tmp_path / "fields.nc4") as file:
        assert (file["field"][:] == 0).all()
        assert file["field"].dimensions == ("y", "x")
        assert (file.title, file["field"]._FillValue, list(file["field"].range)) == (
            "of Fortran", -1, [1, 3])  # fmt: skip
        assert "gone" not in file.ncattrs()
        assert "wrong" not in file.variables


def test_without_stat_fortran_stops_with_the_text(errors: Path, tmp_path: Path) -> None:
    ran = launched(2, errors, "stop", cwd=tmp_path)
    assert ran.returncode == 1
    assert "variable field: the server was finalized already" in ran.stderr
    assert "finalized: " not in ran.stdout


def every_kind() -> str:
    """A program that puts each kind in ranks 0 to 5, each time every second element of an array."""
    declared, described, put = [], [], []
    for kind in KINDS:
        what = f"{'integer' if kind[0] == 'i' else 'real'}({kind})"
        own = f"mod([(i, i=0, 4**{{rank}}/2 - 1)] + me*(4**{{rank}}/2), 100), {kind})"
        convert = "int" if kind[0] == "i" else "real"
        seven = "7" if kind[0] == "i" else "7.0"
        put.append(f"call server%put_replicated(id, '{kind}_0', {seven}_{kind})")
        described.append(f"call m%add_variable('{kind}_0', tailrace_{kind})")
        for rank in range(1, 6):
            shape = [4] * (rank - 1) + [2]
            name, every = f"{kind}_{rank}", ", ".join(["::2"] * rank)
            declared.append(
                f"{what} :: {name}({', '.join(str(2 * extent) for extent in shape)}) = -1"
            )
            described.append(
                f"call m%add_variable('{name}', tailrace_{kind}, '{','.join('abcde'[:rank])}')"
            )
            start = ", ".join(["1_int64"] * (rank - 1) + ["1_int64 + 2*me"])
            put.append(
                f"{name}({every}) = reshape({convert}({own.format(rank=rank)}, {shape})\n"
                f"call server%put(id, '{name}', {name}({every}), start=[{start}])"
            )
    lines = "\n".join
    return f"""program kinds
use, intrinsic :: iso_fortran_env
use mpi_f08
use tailrace_server
implicit none
type(tailrace_server_t) :: server
type(tailrace_metadata_t) :: m
logical :: is_model
integer :: i, id, me
{lines(declared)}
call MPI_Init()
call server%start(MPI_COMM_WORLD%MPI_VAL, is_model)
if (is_model) then
call MPI_Comm_rank(MPI_COMM_WORLD, me)
{lines(f"call m%add_dimension('{name}', 4)" for name in "abcde")}
call m%add_dimension('time', tailrace_unlimited)
{lines(described)}
call m%add_variable('flat', tailrace_int32, 'a,b')
call m%add_variable('later', tailrace_int32, 'a,time')
call m%add_variable('names', tailrace_char, 'a,b')
call m%set_fill('names', '-')
call m%set_fill('names', 'no', stat=i)
if (i /= tailrace_invalid) error stop 'a text is no fill value'
call m%add_variable('letter', tailrace_char)
call m%add_variable('words', tailrace_char, 'a,b')
call m%set_constant('words', ['snow', 'rain', 'hail', 'haze'])
call server%add_collection('kinds', m, id)
call m%free()
call server%put_replicated(id, 'later', [2, 2, 2, 2], record=2, file='kinds.nc4')
call server%put(id, 'names', transfer('wind', ['x']), start=[1, 1 + me], count=[4, 1])
call server%put_replicated(id, 'letter', 'T')
call server%put_replicated(id, 'later', [1, 1, 1, 1], record=1)
call server%put(id, 'flat', [(i, i=8*me, 8*me + 7)], start=[1, 1 + 2*me], count=[4, 2])
{lines(put)}
call server%end_step(id)
call server%metadata(id, m)
call server%finalize()
end if
call server%free()
call MPI_Finalize()
end program kinds
"""


def test_fortran_puts_every_kind_and_rank(tmp_path: Path) -> None:
    source = tmp_path / "kinds.f90"
    source.write_text(every_kind())
    program = built(source, tmp_path / "built")
    assert said(3, program, "--npes_output_server", "1", cwd=tmp_path) == []
    with netCDF4.Dataset(tmp_path / "kinds.nc4") as file:
        for kind in KINDS:
            assert file[f"{kind}_0"][...] == 7
            for rank in range(1, 6):
                data = file[f"{kind}_{rank}"][...]
                assert data.dtype == NUMPY[kind]
                assert data.shape == (4,) * rank
                assert np.array_equal(data.ravel(), np.arange(4**rank) % 100)
        assert np.array_equal(file["later"][:], [[1] * 4, [2] * 4])
        assert np.array_equal(file["flat"][:].ravel(), np.arange(16))
        file.set_auto_mask(False)
        assert file["names"][:].tobytes() == b"windwind--------"
        assert file["words"][:].tobytes() == b"snowrainhailhaze"
        assert file["letter"][...] == b"T"


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(HERE / "kinds.cpp", tmp_path_factory.mktemp("kinds") / "cpp")


def test_cpp_puts_every_type_and_edits_metadata(cpp: Path, tmp_path: Path) -> None:
    text = "\n".join(said(3, cpp, "--npes_output_server", "1", cwd=tmp_path))
    for part in (
        'name: 2 there is no variable "reel64". Did you mean "real64"?',
        "kind: 2 variable real32 of collection kinds: it is of type real32",
        "shape: 2 variable real64 of collection kinds: a block of 1 dimensions",
        "count: 2 variable real64: start has 2 numbers, count 2 for 14 elements",
        "finalized: 2 variable real64: the server was finalized already",
    ):
        assert text.count(part) == 2  # ranks
    with netCDF4.Dataset(tmp_path / "2001.nc4") as file:
        for kind in KINDS:
            data = file[kind]
            assert data.dtype == NUMPY[kind]
            assert np.array_equal(data[:].ravel(), np.arange(24))
            assert (data._FillValue, data.one, list(data.two)) == (99, 1, [1, 2])
            assert file[f"one_{kind}"][...] == 7
        assert file["single"][...] == 5  # of rank 0 alone
        file.set_auto_mask(False)
        assert [row.tobytes() for row in file["name"][:]] == [b"wind--", b"------"] * 2
        assert file["word"][:].tobytes() == b"Tailra"
        assert file.ncattrs() == []
    with netCDF4.Dataset(tmp_path / "2002.nc4") as file:
        assert file.title == "the second file"
        assert set(file.variables) == {"real64"} | {f"one_{kind}" for kind in KINDS}


@pytest.mark.parametrize("servers", [1, 0])
def test_an_exception_on_one_rank_of_cpp_ends_all(cpp: Path, servers: int, tmp_path: Path) -> None:
    words = ("--npes_output_server", str(servers)) if servers else ()
    ran = launched(2 + servers, cpp, *words, "fail", cwd=tmp_path)
    assert ran.returncode != 0
    assert "variable real64 of collection kinds: the block lies outside" in ran.stderr
    assert list(tmp_path.glob("*.nc4")) == []
