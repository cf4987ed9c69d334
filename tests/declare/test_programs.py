# SPDX-License-Identifier: Apache-2.0
"""Programs in C, C++ and Fortran declare: their lists keep it, profile and intents have it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from declaring import BUILD, SOURCE, dataset_of, declared_of, file_of, intents_of, profiled
from own_namespace import not_run

PROGRAMS = BUILD / "tests" / "bin"


def answers(*words: str | Path) -> dict[str, list[str]]:
    """What the C program printed, by the word in front."""
    ran = subprocess.run(
        [PROGRAMS / "declare_c", *words], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stderr == ""  # no error stack of HDF5 either
    found: dict[str, list[str]] = {}
    for line in re.split(r"\n(?=[a-z][a-z ]*: )", ran.stdout.rstrip("\n")):
        what, _, text = line.partition(": ")
        found.setdefault(what, []).append(text.strip())
    return found


def test_a_list_keeps_copies_and_frees_it() -> None:
    found = answers("lists")
    assert found["equal"] == ["1 0"]
    assert found["copy"] == ['0 {"append":"yes"} 1']
    assert found["plain"] == found["cleared"] == ["0  1"]
    assert found["clear"] == found["clear again"] == ["0"]
    assert found["small"][0].startswith("2 tailrace_intent: the text has 16 bytes, and there is ")
    assert found["small"][1] == "before 16"


def test_bad_input_names_the_place_and_changes_nothing() -> None:
    found = answers("bad")
    bad = found["bad"]
    assert all(text.startswith("2 ") for text in bad), bad
    expected = [
        "nothing is declared: the text is empty", "this is no JSON: it breaks at byte",
        "this is no declaration but a list",
        'unknown key "reliabilty". Did you mean "reliability"?',
        '"scrach" is none of its words. Did you mean "scratch"?',
        "reliability: a text is wanted here, not the number 3",
        "size_bytes: a whole number >= 0 of 64 bits is wanted here, not the number -1",
        '"full_coverage" is declared of datasets, and this is a file',
        'datasets["/x"]: "metadata_dominated" is declared of files, and this is a dataset',
        "datasets: a pattern is empty", "this is no JSON: it breaks at byte 21",
        "it has 8191 bytes, and at most 4096 are taken",
    ]  # fmt: skip
    assert len(bad) == len(expected)
    for text, part in zip(bad, expected, strict=True):
        assert part in text
    assert "hint: words here: durable, recomputable, scratch" in bad[4]
    assert found["null"][0].startswith("2 tailrace_intent: the text is a null pointer")
    assert 'unknown key "datasets"' in found["datasets on a dataset"][0]
    assert '"data transfer"' in found["transfer"][0]
    assert "HDF5 has no property list 0 (H5P_DEFAULT)" in found["default"][0]
    assert "a default list of the library" in found["default of files"][0]
    for what in ("closed", "no list"):
        assert found[what][0].startswith("2 tailrace_intent: HDF5 has no property list")
    assert "no declaration by pattern has the token 12345" in found["token"][0]
    assert 'unknown key "file". Did you mean "files"?' in found["no files"][0]
    assert found["unchanged"] == ['0 {"append":"no"} 1']


def test_patterns_nest_and_are_taken_back_in_any_order() -> None:
    found = answers("patterns")
    assert found["outer"] == found["inner"] == ["0"]
    assert found["both"] == ['{"order":"sequential","reliability":"scratch"}']
    assert found["one"] == ['{"order":"random","reliability":"scratch"}']
    assert found["none"] == ["0"]
    assert found["left"] == ['{"order":"sequential"}']
    assert found["pop"] == ["0", "0"]
    assert found["pop again"][0].startswith("2 ")


def test_a_c_program_from_its_list_to_its_intents(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, PROGRAMS / "declare_c", "write", "out.h5")
    assert ran.code == 0, ran.err
    file = file_of(profile, "out.h5")
    of_file = {"type": "write_only", "reliability": "scratch", "size_bytes": 800}
    assert declared_of(file) == [("property_list", of_file)]
    dataset = dataset_of(profile, "out.h5", "/x")
    assert declared_of(dataset) == [("property_list", {"full_coverage": "yes", "reuse": "once"})]

    ran, found = intents_of(tmp_path)
    (intent,) = found["files"].values()
    reliability = intent["reliability"]
    assert (reliability["value"], reliability["confidence"]) == ("scratch", "full")
    first = reliability["evidence"][0]
    assert (first["name"], first["value"], first["from"]) == (
        "declared",
        "scratch",
        "property_list",
    )
    assert intent["fs_size"] == {"bytes": 800, "from": "declared: property_list"}
    # It reads what it wrote, and said that it would not.
    said = {one["name"]: one for one in intent["declared"]}
    assert said["type"]["contradiction"].startswith("the profile says read_after_write (bytes_read")
    assert (intent["type"]["value"], intent["mode"]["value"]) == ("write_only", "write_only")
    (data,) = found["datasets"].values()
    assert data["full_coverage"]["confidence"] == "full"
    assert "contradiction" not in {key for one in data["declared"] for key in one}
    assert "declared: 5 statements of 2 files or datasets" in ran.out
    text = " ".join(ran.out.split())
    assert "out.h5: type write_only (property list), but the profile says read_after_write" in text


def test_it_runs_as_before_without_a_hook(tmp_path: Path) -> None:
    ran = subprocess.run(
        [PROGRAMS / "declare_c", "write", "out.h5"], cwd=tmp_path, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert "written: 0 0" in ran.stdout
    assert ran.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["out.h5"]
    assert b"tailrace_intent" not in (tmp_path / "out.h5").read_bytes()


def test_a_program_without_hdf5() -> None:
    ran = subprocess.run(
        [PROGRAMS / "declare_no_hdf5"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.startswith("4 tailrace_intent: there is no HDF5 of version 1.10 or newer")


def test_a_cpp_program(tmp_path: Path) -> None:
    plain = subprocess.run(
        [PROGRAMS / "declare_cpp"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    lines = plain.stdout.splitlines()
    assert lines[:2] == ["[]", '{"reliability":"recomputable"}']
    assert lines[2].startswith("2 tailrace_intent: reliability: ")
    assert 'Did you mean "durable"?' in lines[2]
    _, profile = profiled(tmp_path, PROGRAMS / "declare_cpp")
    found = {name: declared_of(file_of(profile, f"{name}.h5"))
             for name in ("listed", "inside", "inner", "cleared")}  # fmt: skip
    assert found == {
        "listed": [("property_list", {"reliability": "recomputable"})],
        "inside": [("context_manager", {"reliability": "scratch"})],
        "inner": [],
        "cleared": [],
    }


def test_a_fortran_program(tmp_path: Path) -> None:
    compiler = shutil.which("mpifort") or shutil.which("gfortran")
    if compiler is None:
        not_run("needs a Fortran compiler (Debian: apt-get install gfortran)")
    hdf5 = Path(os.environ["TAILRACE_TEST_HDF5"])
    library = BUILD / "lib"
    program = tmp_path / "program"
    subprocess.run(
        [compiler, "-std=f2008", "-Wall", "-Wextra", "-Werror", "-o", program,
         SOURCE / "bindings" / "fortran" / "tailrace_intent.f90",
         Path(__file__).with_name("declare.f90"), f"-L{library}", "-ltailrace_intent",
         f"-Wl,-rpath,{library}:{hdf5.parent}", hdf5],
        check=True, timeout=100, cwd=tmp_path,
    )  # fmt: skip
    plain = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                           check=False)  # fmt: skip
    assert plain.returncode == 1
    lines = [line.strip() for line in plain.stdout.splitlines()]
    assert lines[0] == "[]"
    assert lines[1].startswith("2 tailrace_intent: ")
    assert '"sequense"' in lines[1]
    assert '0 {"append":"yes","reliability":"scratch"} []' in lines
    assert lines[-1] == "the last one stops:"
    assert "no declaration by pattern has the token" in plain.stderr
    ran, profile = profiled(tmp_path, program)
    assert ran.code == 1
    listed = ("property_list", {"append": "yes", "reliability": "scratch"})
    assert declared_of(file_of(profile, "fortran.h5")) == [listed]
    pattern = ("context_manager", {"order": "sequential"})
    assert declared_of(file_of(profile, "pattern.h5")) == [pattern]


@pytest.mark.parametrize(
    "word", ["set", "get", "clear", "push", "pop", "error", "use", "declared_as"]
)
def test_what_the_header_promises_is_exported(word: str) -> None:
    text = (SOURCE / "include" / "tailrace" / "intent.h").read_text()
    assert f"tailrace_intent_{word}(" in text
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", BUILD / "lib" / "libtailrace_intent.so"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert f" T tailrace_intent_{word}\n" in symbols
    assert "nlohmann" not in symbols  # nothing of ours meets the program's own
    needed = subprocess.run(
        ["readelf", "-d", BUILD / "lib" / "libtailrace_intent.so"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert "hdf5" not in needed
    assert "mpi" not in needed
