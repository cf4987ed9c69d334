# SPDX-License-Identifier: Apache-2.0
"""What a failure is depends on when it comes; what was measured is told first; and nothing of a
run touches a file that is something else."""

import fcntl
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest
from own_namespace import not_run
from seism_tool import MPIEXEC, OPEN_MPI, ROMIO, SOURCE, TOOL, environment, good, run, seen

BASE = ("processor=2x1x1", "domain=8x8x8", "time=3")
ONE = ("processor=1x1x1", "domain=4x4x4", "time=1")
FORMATS = ["hdf5", "mpiio", "netcdf4", "pnetcdf", "posix", "posix-per-rank"]
SCHEMA = json.loads((SOURCE / "schemas/record-1.schema.json").read_text())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("fault", ["EROFS", "ENOENT"])
def test_a_place_that_vanishes_in_mid_run_is_a_failed_run(tmp_path, form, fault):
    rule = f"op=write,path=*/seism-test.h5*,phase=write,errno={fault}"
    result = run(tmp_path, 2, *BASE, f"format={form}", env={"TAILRACE_FAULT": rule})
    assert result.codes == [1, 1] and fault in result.err, result.err
    record = result.records[-1]
    jsonschema.validate(record, SCHEMA)
    assert record["error"]["code"] == "io" and record["file"]["path"].endswith("seism-test.h5")
    assert set(record["bytes"].values()) == set(record["elapsed"].values()) == {None}
    assert record["memory"]["peak_bytes_max"] > 0 and "write" in record["phases"]
    assert seen(tmp_path) == ["results.jsonl"]


def test_the_same_before_the_file_is_there_is_bad_input(tmp_path):
    result = run(tmp_path, 2, *BASE, "filename=nothere/f.h5")
    assert result.codes == [2, 2] and result.records == []


@pytest.mark.parametrize(
    "form, fault, first_code",
    [(form, "EIO", 1) for form in FORMATS] + [(form, "EACCES", 2) for form in ("hdf5", "posix")],
)
def test_a_file_that_cannot_be_created_again_is_a_failed_run(tmp_path, form, fault, first_code):
    """The first open that fails is tried at every place of the warm-up and of a repetition."""

    def attempt(after):
        folder = tmp_path / str(after)
        folder.mkdir()
        rule = f"op=open,path=*/seism-test.h5*,after={after},errno={fault}"
        # Of two that Open MPI starts in one folder the first to end takes it from the other.
        env = {"TAILRACE_FAULT": rule, "TMPDIR": tempfile.mkdtemp()}
        return run(folder, 0, *ONE, f"format={form}", "repeat=1", env=env)

    stages = set()
    with ThreadPoolExecutor(2) as pool:  # a start takes most of the time, on one core
        for begin in range(0, 40, 4):
            for result in pool.map(attempt, range(begin, begin + 4)):
                if result.codes == [0]:
                    continue
                good_before = sum(record["status"] == "ok" for record in result.records)
                stages.add(good_before)
                assert result.errors, result.err
                assert result.codes[0] in {1, 1 if good_before else first_code}, result.err
                assert len(result.records) == good_before + (result.codes[0] == 1), result.err
                if result.codes[0] == 1:
                    jsonschema.validate(result.records[-1], SCHEMA)
                    assert result.records[-1]["error"]["code"] == "io"
            if result.codes == [0]:
                break
    assert stages == {0, 1} and result.codes == [0]


@pytest.mark.parametrize("form", FORMATS)
def test_space_that_is_gone_in_a_repetition_is_a_failed_run(tmp_path, form):
    rule = "op=fallocate,path=*/seism-test.h5*,errno=ENOSPC,after="
    words = (*ONE, f"format={form}", "repeat=2")
    result = run(tmp_path, 0, *words, env={"TAILRACE_FAULT": rule + "0"})
    assert result.codes == [2] and result.records == [] and "too little disk space" in result.err
    result = run(tmp_path, 0, *words, env={"TAILRACE_FAULT": rule + "1"})
    assert result.codes == [1] and "too little disk space" in result.err, result.err
    assert [record["status"] for record in result.records] == ["ok", "failed"]
    assert result.records[-1]["error"]["code"] == "no_space"


@pytest.mark.parametrize(
    "results",
    ["./seism-test.h5", "link", "hard", "sub/../seism-test.h5.part", "seism-test.h5.part.lock"]
    + ["seism-test.h5." + end for end in ("manifest", "00000", "00001.part", "subfile_7_1_of_2")],
)
def test_results_are_no_file_of_the_output(tmp_path, results):
    (tmp_path / "sub").mkdir()
    (tmp_path / "seism-test.h5").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("seism-test.h5")
    os.link(tmp_path / "seism-test.h5", tmp_path / "hard")
    before = seen(tmp_path)
    result = run(tmp_path, 0, *ONE, f"results={results}")
    assert result.code == 2 and results in result.err and "<command line>" in result.err
    assert seen(tmp_path) == before and (tmp_path / "hard").read_bytes() == b"precious"


def test_what_a_run_reads_is_not_written(tmp_path):
    (tmp_path / "run.in").write_text("processor 1 1 1\ndomain 2 2 2\ntime 1\n")
    (tmp_path / "sample").write_bytes(bytes(96))
    sd = ("use_function_lib=libplugins.so", "use_function_name=sd_of_domain")
    for arguments in (
        ("--input", "run.in", "filename=./run.in"),
        ("--input", "run.in", "results=run.in"),
        (*ONE, *sd, "use_function_argv=sample 2 3 4", "filename=sample"),
        (*ONE, *sd, "use_function_argv=sample 2 3 4", "results=sample"),
    ):
        result = run(tmp_path, 0, *arguments)
        assert result.code == 2 and "same file" in result.err, result.err
    assert seen(tmp_path) == ["run.in", "sample"]


@pytest.mark.parametrize("ranks", [0, 2], ids=["a_file", "through_a_pipe"])
@pytest.mark.parametrize("key", ["filename", "results"])
def test_standard_input_is_not_written(tmp_path, key, ranks):
    text = f"processor {max(ranks, 1)} 1 1\ndomain 2 2 2\ntime 1\n"
    for name in ("run.in", "sub/../link"):
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "run.in").write_text(text + f"{key} {name}\nDONE\nwhat follows\n")
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to("run.in")
        before = (tmp_path / "run.in").read_bytes()
        for mode in ([], ["--dry-run"]):
            with (tmp_path / "run.in").open() as stdin:
                result = run(tmp_path, ranks, "--input", "-", *mode, stdin=stdin)
            assert result.codes == [2] * max(ranks, 1), result.err
            why = "begins with the lines" if ranks else "and standard input are the same file"
            assert f'{key} "{name}" {why}' in result.err, result.err
            assert "<stdin>:4" in result.err and f"give {key} another name" in result.err
            assert seen(tmp_path) == ["link", "run.in", "sub"]
            assert (tmp_path / "run.in").read_bytes() == before


def test_a_file_beside_standard_input_is_replaced(tmp_path):
    """Only what begins with all of the lines is taken for them."""
    lines = "processor 1 1 1\ndomain 2 2 2\ntime 1\nfilename old\nDONE\n"
    for old in (lines[:-1], lines[1:] + lines, ""):
        (tmp_path / "old").write_text(old)
        good(tmp_path, 1, lines=lines)
        assert (tmp_path / "old").read_bytes()[1:4] == b"HDF"


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("filename=nothere/f.h5",), "nothere"),
        (("chunk=4x4x4", "collective_write", "zfp=1"), "32013"),
        (("time=1000000000000",), "too little disk space"),
        (("results=nothere/r",), "nothere"),
        (("use_function_lib=nothere.so", "use_function_name=f"), "nothere.so"),
        (("filename=taken",), "taken.part"),
        (("format=posix-per-rank", "filename=taken"), "taken"),
    ],
)
def test_a_dry_run_finds_what_a_run_would_find(tmp_path, arguments, text):
    (tmp_path / "taken.part").write_bytes(b"somebody's")
    for mode in (("--dry-run",), ()):
        given = [a for a in ONE if a.split("=")[0] not in {b.split("=")[0] for b in arguments}]
        result = run(tmp_path, 0, *mode, *given, *arguments)
        lacking = text == "32013"  # a plugin that this machine does not have
        assert result.code == (4 if lacking else 2) and text in result.err, result.err
        assert seen(tmp_path) == ["taken.part"]


def test_a_dry_run_sees_another_run(tmp_path):
    lock = tmp_path / "seism-test.h5.part.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = run(tmp_path, 0, "--dry-run", *ONE)
    assert result.code == 2 and "another run" in result.err


def test_figures_are_told_although_the_record_is_lost(tmp_path):
    with (tmp_path / "held").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for results in ("/dev/full", "held"):
            result = run(tmp_path, 0, *ONE, f"results={results}")
            assert result.code == 1 and "Record is lost" in result.err, result.err
            assert results in result.err and "Durable total:" in result.out
    assert (tmp_path / "seism-test.h5").exists()


def test_results_that_cannot_be_made_are_found_first(tmp_path):
    result = run(tmp_path, 0, *ONE, "results=/proc/r.jsonl")
    assert result.code == 2 and "/proc/r.jsonl" in result.err and seen(tmp_path) == []


def test_results_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    result = run(tmp_path, 0, *ONE, "results=pipe")
    assert result.code == 2 and "nobody reads" in result.err and seen(tmp_path) == ["pipe"]
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        good(tmp_path, 0, *ONE, "results=pipe")
        assert json.loads(os.read(reader, 1 << 16))["status"] == "ok"
        # More than the pipe holds, and nobody takes it out: no end without a limit.
        result = run(tmp_path, 0, "processor=1x1x1", "domain=1x1x1", "time=1500", "results=pipe")
        assert result.code == 1 and "Record is lost" in result.err, result.err
        assert "Durable total:" in result.out
    finally:
        os.close(reader)


def test_secrets_of_the_batch_system_stay_out(tmp_path):
    secrets = {"SLURM_JWT": "eyJhb", "HDF5_SECRET_KEY": "k3y", "OMPI_MCA_password": "geheim"}
    result = good(tmp_path, 2, *BASE, env={**secrets, "SLURM_JOB_ID": "7"})
    text = (tmp_path / "results.jsonl").read_text()
    assert not any(name in text or value in text for name, value in secrets.items())
    assert result.records[-1]["context"]["environment"]["SLURM_JOB_ID"] == "7"


@pytest.mark.parametrize(
    "form, romio",
    [(form, False) for form in FORMATS]
    + [(form, True) for form in FORMATS if ROMIO and not form.startswith("posix")],
)
def test_a_file_size_limit_is_an_error(tmp_path, form, romio):
    if not OPEN_MPI:
        not_run("needs an MPI that starts where no file may have more than 512 bytes, as Open MPI")
    limited = 'case "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" in 1) ulimit -f 1;; esac; exec "$@"'
    (tmp_path / "limited.sh").write_text(limited)
    process = subprocess.run(
        [*MPIEXEC, *(["--mca", "io", ROMIO] if romio else []), "-n", "2", "sh", "limited.sh", TOOL,
         *BASE, f"format={form}"],
        cwd=tmp_path, env=environment(), timeout=60, capture_output=True, text=True, check=False,
    )  # fmt: skip
    # Where the rank sets its own file's space aside the limit is found before anything is written.
    assert process.returncode == (2 if form == "posix-per-rank" else 1), process.stderr
    assert "EFBIG" in process.stderr or "RLIMIT_FSIZE" in process.stderr
    assert process.stderr.count("tailrace: error:") == 1
    assert "seism-test.h5" not in seen(tmp_path)


def test_the_limit_does_not_kill(tmp_path):
    """Compressed data has no reservation: the limit, here 8 MiB, is met in mid-run."""
    lines = ("processor=1x1x1", "domain=128x128x128", "time=3", "fill=position")
    lines += ("chunk=128x128x128", "collective_write", "deflate=1")
    process = subprocess.run(
        ["sh", "-c", 'ulimit -f 16384; exec "$0" "$@"', TOOL, *lines], cwd=tmp_path,
        env=environment(), timeout=60, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 1 and "EFBIG" in process.stderr, process.stderr
    assert "seism-test.h5" not in seen(tmp_path)


def test_a_reader_that_goes_away_does_no_harm(tmp_path):
    process = subprocess.Popen(
        [TOOL, *ONE[:2], "time=4", "compute=0.1 idle"], cwd=tmp_path, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 0, process.stderr.read()
    process.stderr.close()
    assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]


def test_output_that_is_lost_is_said(tmp_path):
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [TOOL, *ONE], cwd=tmp_path, env=environment(), timeout=60, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert process.returncode == 1 and "standard output" in process.stderr
    assert (tmp_path / "results.jsonl").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_closed_standard_descriptors(tmp_path, form):
    script = 'exec "$0" "$@" 0<&- 1>&- 2>&-'
    process = subprocess.run(
        ["sh", "-c", script, TOOL, *ONE, f"format={form}", "verify"], cwd=tmp_path,
        env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert process.returncode == 0
    record = json.loads((tmp_path / "results.jsonl").read_text())
    assert record["verification"]["status"] == "passed"


def test_many_steps_make_a_short_record(tmp_path):
    record = good(tmp_path, 2, "processor=2x1x1", "domain=1x1x1", "time=5000", "format=posix",
                  "fsync=close").records[-1]  # fmt: skip
    jsonschema.validate(record, SCHEMA)
    assert [step.get("steps") for step in record["steps"]] == [5] * 1000
    assert [step["step"] for step in record["steps"]] == list(range(0, 5000, 5))
    highest = sum(step["write_s"]["max"] * 5 for step in record["steps"])
    lowest = sum(step["write_s"]["mean"] * 5 for step in record["steps"])
    assert lowest <= record["elapsed"]["write_s"] <= highest


def test_an_empty_variable_is_not_set(tmp_path):
    names = ("VERIFY", "COLLECTIVE_WRITE", "TIME", "HINT")
    record = good(tmp_path, 2, *BASE, env={f"TAILRACE_SEISM_{n}": "" for n in names}).records[-1]
    assert record["verification"]["status"] == "not_run"
    assert record["transfers"]["collective_requested"] is False
