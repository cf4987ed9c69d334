# SPDX-License-Identifier: Apache-2.0
"""Bad input: a text that names the place, the value and the remedy; exit code 2 on all ranks, one
prints; nothing created, nothing overwritten."""

import os
import pty
import subprocess

import pytest
from seism_tool import MPIEXEC, SOURCE, TOOL, environment, run, seen

GOOD = "processor 1 1 1\ndomain 4 4 4\ntime 1\n"

# (what, lines, parts of the text)
LINES = {
    "unknown key": (
        "processor 1 1 1\ncolective_write\nDONE",
        ["<stdin>:2", '"colective_write"', 'Did you mean "collective_write"?'],
    ),
    "missing keys": ("time 1\nDONE", ["missing keys", "processor X Y Z", "domain X Y Z"]),
    "missing time": ("processor 1 1 1\ndomain 2 2 2\nDONE", ["missing key: time N"]),
    "tuple of two": ("processor 1 1\nDONE", ["<stdin>:1", "needs 3 numbers", '"1 1"']),
    "zero": ("processor 1 1 1\ndomain 4 0 4\ntime 1\nDONE", ["<stdin>:2", "at least 1", '"0"']),
    "zero steps": ("processor 1 1 1\ndomain 4 4 4\ntime 0\nDONE", ["<stdin>:3", "at least 1"]),
    "negative": (GOOD + "chunk 1 -2 1\nDONE", ["<stdin>:4", '"-2"', "negative"]),
    "not a number": (GOOD + "repeat few\nDONE", ["<stdin>:4", '"few"', "not a whole number"]),
    "hexadecimal": (GOOD + "repeat 0x10\nDONE", ['"0x10"', "not a whole number"]),
    "over 64 bits": ("time 18446744073709551616\nDONE", ["<stdin>:1", "does not fit 64 bits"]),
    "product over 64 bits": (
        "processor 1 1 1\ndomain 4294967296 4294967296 1\ntime 1\nDONE",
        ["<stdin>:2", "does not fit 64 bits", "domain smaller"],
    ),
    "larger than a file": (
        "processor 1 1 1\ndomain 2 2 2\ntime 288230376151711744\nDONE",
        ["<stdin>:3", "larger than any file"],
    ),
    "ranks": (
        "processor 2 2 2\ndomain 4 4 4\ntime 1\nDONE",
        ["<stdin>:1", "2 x 2 x 2 needs 8 ranks", "there are 1", "mpiexec -n 8"],
    ),
    "chunk too large": (
        GOOD + "chunk 4 5 4\nDONE",
        ["<stdin>:4", "4 x 5 x 4", "in y", "at most 4 x 4 x 4"],
    ),
    "chunk of 4 GiB": (
        "processor 1 1 1\ndomain 1024 1024 1024\ntime 1\nchunk 1024 1024 1024\nDONE",
        ["<stdin>:4", "4294967296", "less than 4 GiB"],
    ),
    "end before DONE": (GOOD, ["<stdin>", "without DONE"]),
    "empty": ("", ["<stdin>", "without DONE"]),
    "deflate alone": (GOOD + "chunk 4 4 4\ndeflate 1\nDONE", ["<stdin>:5", "collective"]),
    "deflate level": (GOOD + "deflate 10\nDONE", ["<stdin>:4", "at most 9"]),
    "deflate without chunk": (
        GOOD + "collective_write\ndeflate 1\nDONE",
        ["no chunk", "chunk X Y Z"],
    ),
    "filter without plugin": (
        GOOD + "chunk 4 4 4\ncollective_write\nzfp 1\nDONE",
        ["<stdin>:6 (zfp 1)", "32013"],
    ),
    "no such filter": (
        GOOD + "chunk 4 4 4\ncollective_write\nfilter 1\nfilter 32099 1\nDONE",
        ["<stdin>:7 (filter 32099)"],
    ),
    "filter number": (GOOD + "collective_write\nfilter 70000\nDONE", ["<stdin>:5", "70000"]),
    "subfile and deflate": (
        GOOD + "chunk 4 4 4\ncollective_write\ndeflate 1\nsubfile 1\nDONE",
        ["subfile", "deflate"],
    ),
    "subfile and precreate": (GOOD + "precreate\nsubfile 1\nDONE", ["<stdin>:4", "precreate"]),
    "twice": (GOOD + "time 2\nDONE", ["<stdin>:4", "given twice", "<stdin>:3"]),
    "plugin library": (
        GOOD + "use_function_lib libnothere.so\nuse_function_name f\nDONE",
        ["<stdin>:4", "libnothere.so", "searched: LD_LIBRARY_PATH="],
    ),
    "plugin path": (
        GOOD + "use_function_lib ./nothere.so\nuse_function_name f\nDONE",
        ["./nothere.so", "searched: /"],
    ),
    "plugin function": (
        GOOD + "use_function_lib libplugins.so\nuse_function_name nothere\nDONE",
        ["<stdin>:5", 'no function "nothere"', "libplugins.so"],
    ),
    "plugin name missing": (GOOD + "use_function_lib libplugins.so\nDONE", ["use_function_name"]),
    "argc": (
        GOOD + "use_function_lib libplugins.so\nuse_function_name gaussian\n"
        "use_function_argc 4\nuse_function_argv 1 1 1\nDONE",
        ["<stdin>:6", "use_function_argc is 4", "has 3 words"],
    ),
    "plugin's own check": (
        GOOD + "use_function_lib libplugins.so\nuse_function_name gaussian\n"
        "use_function_argv 1 1 0 1\nDONE",
        ["<stdin>:6", "argument 2", "width above 0"],
    ),
    "no folder": (GOOD + "filename nothere/f.h5\nDONE", ["nothere"]),
    "folder as file": (GOOD + "filename .\nDONE", ["."]),
    "no results folder": (GOOD + "results nothere/r.jsonl\nDONE", ["nothere", "results"]),
    "results is the file": (GOOD + "filename a\nresults ./a\nDONE", ["same file"]),
    "memory": (
        "processor 1 1 1\ndomain 1048576 1048576 16\ntime 1\nDONE",
        ["<stdin>:2", "70368744177664 bytes per rank", "memory"],
    ),
    "space": ("processor 1 1 1\ndomain 256 256 4\ntime 100000000\nDONE", ["104857600000000"]),
    "compute": (
        GOOD + "compute 1 sleepy\nDONE",
        ["<stdin>:4", '"sleepy"', "neither busy nor idle"],
    ),
    "choice": (GOOD + "format hfd5\nDONE", ["<stdin>:4", 'Did you mean "hdf5"?']),
    "foreign key": (
        GOOD + "format posix\nchunk 4 4 4\ncollective_write\ndeflate 3\nDONE",
        ["deflate 3 has no meaning for format posix", "hdf5"],
    ),
    "libver": (GOOD + "libver v111\nDONE", ["<stdin>:4", '"v111"']),
    "libver range": (GOOD + "libver v114 v18\nDONE", ["<stdin>:4", "no range"]),
    "alignment": (GOOD + "format posix\nalignment 0\nDONE", ["<stdin>:5", "zero"]),
    "stripe size": (GOOD + "lfs_stripe_size 1000\nDONE", ["<stdin>:4", "65536"]),
    "binary": ("\x7fELF\x01\nDONE", ["<stdin>:1", "unknown key"]),
}

ARGUMENTS = {
    "option": (["--inptu", "x"], ['"--inptu"', 'Did you mean "--input"?']),
    "no such file": (["--input", "nothere.in"], ["nothere.in", "No such file"]),
    "folder as input": (["--input", "."], ["cannot read"]),
    "input twice": (["--input", "a", "--input", "b"], ["--input is given twice", '"a"']),
    "no value": (["--input"], ["--input needs a value"]),
    "key without value": (["time"], ["time needs a value", "time=VALUE"]),
    "tuple": (["processor=1x1"], ["needs 3 numbers", '"1x1"']),
    "twice": (["time=1", "time=1"], ["given twice", "<command line>"]),
    "key": (["tiem=1"], ['Did you mean "time"?']),
}


def check(folder, result, ranks, parts, before, code=2):
    text = result.err
    assert result.code == code, (result.code, text)
    assert result.codes == [code] * ranks
    assert len(result.errors) == 1, text
    for part in parts:
        assert part in text, (part, text)
    assert "hint:" in text
    assert result.out == ""
    assert seen(folder) == before


def with_old_file(folder):
    (folder / "seism-test.h5").write_bytes(b"precious")
    return seen(folder)


@pytest.mark.parametrize("what", LINES)
def test_lines(tmp_path, what):
    lines, parts = LINES[what]
    before = with_old_file(tmp_path)
    result = run(tmp_path, 0, lines=lines)
    if "Number of processes" in result.out:  # found when the file was to be opened
        result.out = ""
    lacking = what in {"filter without plugin", "no such filter"}
    check(tmp_path, result, 1, parts, before, 4 if lacking else 2)
    assert (tmp_path / "seism-test.h5").read_bytes() == b"precious"


@pytest.mark.parametrize("what", ARGUMENTS)
def test_arguments(tmp_path, what):
    arguments, parts = ARGUMENTS[what]
    before = with_old_file(tmp_path)
    check(tmp_path, run(tmp_path, 0, *arguments), 1, parts, before)


@pytest.mark.parametrize("ranks", [3, 8])
@pytest.mark.parametrize(
    "what",
    ["unknown key", "ranks", "end before DONE", "plugin library", "no folder", "memory", "space"],
)
def test_all_ranks_end_with_2_and_one_prints(tmp_path, what, ranks):
    lines, parts = LINES[what]
    if what == "ranks":
        parts = ["needs 8 ranks"]
        lines = lines.replace("2 2 2", "2 2 3") if ranks == 8 else lines
        parts = ["needs 12 ranks"] if ranks == 8 else parts
    lines = lines.replace("processor 1 1 1", f"processor {ranks} 1 1")
    before = with_old_file(tmp_path)
    result = run(tmp_path, ranks, lines=lines)
    result.out = ""
    parts = [p.replace("104857600000000", str(104857600000000 * ranks)) for p in parts]
    check(tmp_path, result, ranks, parts, before)


def test_the_launcher_hears_of_it(tmp_path):
    process = subprocess.run(
        [*MPIEXEC, "-n", "4", TOOL, "processor=2x2x2"],
        cwd=tmp_path,
        env=environment(),
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.count("tailrace: error:") == 1


def test_environment_is_as_strict(tmp_path):
    result = run(tmp_path, 0, lines=GOOD + "DONE", env={"TAILRACE_SEISM_TIMES": "3"})
    check(tmp_path, result, 1, ["TAILRACE_SEISM_TIMES", 'Did you mean "TAILRACE_SEISM_TIME"?'], [])
    result = run(tmp_path, 0, lines=GOOD + "DONE", env={"TAILRACE_SEISM_REPEAT": "0"})
    check(tmp_path, result, 1, ["TAILRACE_SEISM_REPEAT", "at least 1"], [])


def test_folder_that_cannot_be_written(tmp_path):
    # Also root cannot write here.
    lines = GOOD + "filename /proc/seism-test.h5\nDONE"
    result = run(tmp_path, 2, lines=lines.replace("1 1 1", "2 1 1"))
    result.out = ""
    check(tmp_path, result, 2, ["/proc"], [])


def test_a_terminal_is_greeted_and_read_to_DONE_only(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            TOOL,
        ],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
        text=True,
    )
    os.write(ours, (GOOD + "DONE\n").encode())
    out, err = process.communicate(timeout=60)
    os.write(ours, b"left for the next program\n")
    assert process.returncode == 0, err
    assert "reading lines" in err and "--help" in err
    assert "Number of processes:            1" in out
    assert b"left for the next" in os.read(theirs, 100)
    os.close(ours)
    os.close(theirs)


def test_more_than_a_person_would_type(tmp_path):
    result = run(tmp_path, 0, lines="#" * (2 << 20))
    check(tmp_path, result, 1, ["more than 1 MiB"], [])


def test_dry_run_writes_nothing_and_its_listing_is_an_input(tmp_path):
    example = SOURCE / "examples/classic/default.in"
    first = run(tmp_path, 0, "--dry-run", "--input", example, "time=3")
    assert first.code == 0, first.err
    assert seen(tmp_path) == []
    assert "8 ranks" in first.out
    assert "<command line>" in first.out
    second = run(tmp_path, 0, "—dry-run", lines=first.out)
    assert second.code == 0, second.err
    strip = [line.split("#")[0].strip() for line in first.out.splitlines()]
    assert strip == [line.split("#")[0].strip() for line in second.out.splitlines()]
    assert "time 3" in strip


def test_help_and_version(tmp_path):
    text = run(tmp_path, 2, "--help").out
    assert text.count("Usage:") == 1
    for key in (
        "processor X Y Z",
        "use_function_argv",
        "hint NAME=VALUE",
        "lfs_stripe_count",
        "early_allocation",
        "compute SECONDS [busy|idle]",
    ):
        assert key in text
    assert (TOOL.parent / "seism-core-slice").resolve() == TOOL.resolve()
    version = run(tmp_path, 0, "--version").out
    assert "tailrace-seism 0." in version and "commit" in version
    assert "HDF5: 2." in version or "HDF5: 1.1" in version


SHELL_OF_SLURM = {"SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "0"}


@pytest.mark.parametrize("launcher", ["OMPI_COMM_WORLD", "PMI"])
def test_a_launcher_of_another_mpi_is_told(tmp_path, launcher):
    """It starts each rank as a run of its own; all would write the same file. One says so."""
    size = f"{launcher}_SIZE"
    words = ("processor=1x1x1", "domain=2x2x2", "time=1")
    first = run(tmp_path, 0, *words, env={size: "3", f"{launcher}_RANK": "0"})
    assert first.code == 2 and len(first.errors) == 1, first.err
    assert "3 processes" in first.err and size in first.err and "belongs to" in first.err
    other = run(tmp_path, 0, *words, env={size: "3", f"{launcher}_RANK": "2"})
    assert other.code == 2 and other.err == "" and seen(tmp_path) == []
    for right in (
        run(tmp_path, 0, *words, "--dry-run", env={size: "3"}),
        run(tmp_path, 0, *words, env={size: "1"}),
        run(tmp_path, 0, *words, env={"OMPI_COMM_WORLD_SIZE": "3", "PMI_SIZE": "1"}),
        run(tmp_path, 0, *words, env={**SHELL_OF_SLURM, "SLURM_STEP_ID": "4294967290"}),
    ):
        assert right.code == 0, right.err
    wrong = run(tmp_path, 0, *words, env={**SHELL_OF_SLURM, "SLURM_STEP_ID": "0"})
    assert wrong.code == 2 and "3 processes" in wrong.err
