# SPDX-License-Identifier: Apache-2.0
"""The preloaded library below programs that know nothing of it, and beside other preloads."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from interposer_runs import INJECTOR, our_counts, report_lines, run, strace_counts, traced
from mpi_programs import BUILD, PRELOAD

HELD_WRITER = BUILD / "tests/bin/held_writer"
SOURCE = os.environ["TAILRACE_SOURCE_DIR"]
PYTHON = """
import json, os, subprocess, sys, tempfile, threading
data = b"x" * 100000
def work(index):
    with open(f"{sys.argv[1]}.{index}", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(data)
threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
[thread.start() for thread in threads]
subprocess.run(["true"], check=True)
[thread.join() for thread in threads]
child = os.fork()
if child == 0:
    with open(sys.argv[1] + ".child", "wb", buffering=0) as file:
        file.write(data)
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps({"sum": sum(range(100))}))
"""


def preload(tmp_path, command, environment=None, **options):
    merged = {"LD_PRELOAD": str(PRELOAD), "TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"}
    return run(command, {**merged, **(environment or {})}, **options)


@pytest.mark.parametrize(
    "command",
    [
        ["ls", "-l", "/"],
        ["git", "-C", SOURCE, "--no-optional-locks", "log", "-n", "3", "--oneline"],
        ["git", "-C", SOURCE, "--no-optional-locks", "status", "--short"],
        ["sh", "-c", "for i in 1 2 3; do echo $i; done | sort -r | (read a; echo $a; cat)"],
        ["bash", "-c", "cat <(echo one) <(echo two); exec echo three"],
        ["tar", "-cf", "-", "-C", SOURCE, "VERSION", "README.md"],
        ["python3", "-c", "import sys, ctypes, ssl, multiprocessing as m; print(sys.version)"],
        ["find", SOURCE + "/src", "-name", "*.hpp"],
    ],
)
def test_foreign_programs_do_the_same(tmp_path, command):
    if shutil.which(command[0]) is None:
        pytest.fail(f"{command[0]} is not installed")
    plain = subprocess.run(command, capture_output=True, timeout=60, check=False)
    environment = dict(os.environ, LD_PRELOAD=str(PRELOAD))
    hooked = subprocess.run(command, capture_output=True, timeout=60, check=False, env=environment)
    assert (hooked.returncode, hooked.stderr) == (plain.returncode, plain.stderr)
    if command[:1] != ["ls"]:  # sizes and times of / may change
        assert hooked.stdout == plain.stdout
    assert plain.returncode == 0


def test_dd_is_counted_as_strace_counts_it(tmp_path):
    target = tmp_path / "zeros"
    command = traced(["dd", "if=/dev/zero", f"of={target}", "bs=70000", "count=30"], tmp_path)
    result = preload(tmp_path, command)
    assert result.returncode == 0
    assert our_counts(tmp_path, target) == strace_counts(tmp_path, target)
    assert our_counts(tmp_path, target)[0, "write"] == [30, 2100000, 2100000, 0]


def test_python_with_threads_children_and_a_hard_exit(tmp_path):
    result = preload(tmp_path, ["python3", "-c", PYTHON, tmp_path / "data"])
    assert result.stdout == '{"sum": 4950}\n', result.stderr
    for index in range(4):
        counts = our_counts(tmp_path, tmp_path / f"data.{index}")
        assert counts[0, "write"] == [50, 5000000, 5000000, 0]
    # The child wrote its own report, with nothing of its parent's.
    assert our_counts(tmp_path, tmp_path / "data.child")[0, "write"][0] == 1
    by_process = {}
    for line in report_lines(tmp_path):
        by_process.setdefault(line["pid"], set()).add(line["path"])
    [child] = [paths for paths in by_process.values() if str(tmp_path / "data.child") in paths]
    assert str(tmp_path / "data.0") not in child


def test_paths_that_json_must_escape(tmp_path):
    name = 'a "quoted"\\ \n tab\t ä \U0001f30a'
    target = tmp_path / name
    assert preload(tmp_path, ["dd", "if=/dev/zero", f"of={target}", "count=1"]).returncode == 0
    assert our_counts(tmp_path, target)[0, "write"][0] == 1
    raw = os.fsencode(tmp_path) + b"/bad\xff\xfe"
    command = [b"dd", b"if=/dev/zero", b"of=" + raw, b"count=1"]
    environment = {**os.environ, "LD_PRELOAD": str(PRELOAD),
                   "TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"}  # fmt: skip
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    assert any(line["path"].endswith("bad\ufffd\ufffd") for line in report_lines(tmp_path))


def test_many_processes_share_a_report(tmp_path):
    script = f"for i in $(seq 20); do dd if=/dev/zero of={tmp_path}/f.$i count=1 & done; wait"
    result = preload(
        tmp_path, ["sh", "-c", script], {"TAILRACE_POSIX_REPORT": f"{tmp_path}/report.all"}
    )
    assert result.returncode == 0
    paths = [line["path"] for line in report_lines(tmp_path)]
    assert sorted(p for p in paths if "/f." in p) == sorted(
        f"{tmp_path}/f.{index}" for index in range(1, 21)
    )


def test_a_report_that_cannot_be_written_is_told(tmp_path):
    environment = {"TAILRACE_POSIX_REPORT": f"{tmp_path}/no/such/folder/report"}
    result = preload(tmp_path, ["true"], environment)
    assert result.returncode == 0
    assert "TAILRACE_POSIX_REPORT: cannot write" in result.stderr


def test_faults_below_a_foreign_program(tmp_path):
    target = tmp_path / "full"
    rule = f"op=write,path={target},limit_bytes=100000"
    command = ["dd", "if=/dev/zero", f"of={target}", "bs=64k", "count=4"]
    result = preload(tmp_path, command, {"TAILRACE_FAULT": rule})
    assert result.returncode == 1
    assert "No space left on device" in result.stderr
    assert target.stat().st_size == 100000
    [line] = [line for line in report_lines(tmp_path) if line["path"] == str(target)]
    assert line["write"]["failed_calls"] == 1
    assert line["write"]["short_calls"] == 1
    assert line["write"]["first_errno"] == 28


def test_a_malformed_rule_is_loud(tmp_path):
    broken = {"TAILRACE_FAULT": "op=write,errno=EIO;op=write,erno=EIO"}
    result = preload(tmp_path, ["true"], broken)
    expected = 'TAILRACE_FAULT: rule 2 "op=write,erno=EIO": unknown key "erno"'
    assert expected in result.stderr
    assert "No rule is in force" in result.stderr
    # Our own programs do not start with it.
    result = run([HELD_WRITER, tmp_path / "x"], broken)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "refused: " in result.stderr
    assert not (tmp_path / "x").exists()


def test_ours_sits_ahead_of_a_foreign_injector(tmp_path):
    """Held: the injector's short write and error are seen by us, not by the program."""
    target = tmp_path / "data.victim"
    alone = run([HELD_WRITER, tmp_path / "data.other"], {"LD_PRELOAD": str(INJECTOR)})
    assert alone.stdout == "1000 1000 1000 calls 3 done 3000 failed 0 errno 0\n"
    result = run([HELD_WRITER, target], {"LD_PRELOAD": str(INJECTOR)})
    assert result.stdout == "1000 1000 1000 calls 4 done 500 failed 3 errno 122\n"
    assert target.stat().st_size == 500


@pytest.mark.parametrize("order", ["{ours}:{theirs}", "{theirs}:{ours}"])
def test_a_preloaded_copy_leaves_it_to_the_program(tmp_path, order):
    preloads = order.format(ours=PRELOAD, theirs=INJECTOR)
    target = tmp_path / "data.victim"
    result = run(
        [HELD_WRITER, target],
        {"LD_PRELOAD": preloads, "TAILRACE_POSIX_REPORT": f"{tmp_path}/report.%p"},
    )
    assert result.stdout == "1000 1000 1000 calls 4 done 500 failed 3 errno 122\n"
    lines = [line for line in report_lines(tmp_path) if line["path"] == str(target)]
    assert len(lines) == 1


def test_faults_are_not_applied_twice(tmp_path):
    rule = "op=write,path=*.dat,after=2,times=1,errno=EIO"
    environment = {"LD_PRELOAD": str(PRELOAD), "TAILRACE_FAULT": rule}
    result = run([HELD_WRITER, tmp_path / "a.dat"], environment)
    assert result.stdout == "1000 1000 1000 calls 3 done 2000 failed 1 errno 5\n"


def test_every_symbol_is_exported_and_nothing_else(tmp_path):
    listed = set(Path(SOURCE, "src/hooks/posix/symbols.txt").read_text().split())
    library = run(["nm", "-D", "--defined-only", PRELOAD]).stdout
    assert {line.split()[-1] for line in library.splitlines()} == listed
    program = run(["nm", "-D", "--defined-only", HELD_WRITER]).stdout
    assert listed <= {line.split()[-1] for line in program.splitlines()}
    needed = run(["readelf", "-d", PRELOAD]).stdout
    assert "libstdc++" not in needed  # nor anything else that a C program does not have


def test_no_hook_shows_a_c_plus_plus_name():
    """In any kind of build: it would stand in for the one of the program."""
    hooks = sorted((BUILD / "lib" / "tailrace" / "hooks").glob("*.so"))
    assert {hook.name for hook in hooks} >= {"libtailrace_posix.so"}
    for hook in hooks:
        names = run(["nm", "-D", "--defined-only", hook]).stdout.split()[2::3]
        assert names and not [name for name in names if name.startswith("_Z")], hook
