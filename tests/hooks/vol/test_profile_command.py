# SPDX-License-Identifier: Apache-2.0
"""`tailrace profile` itself: what it says, and what cannot be."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from profiled import SCHEMA, file_of, profiled, script
from tailrace_cli import tailrace

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import plugin, record

HELLO = """
import sys, h5py
with h5py.File("a.h5", "w") as f:
    f["x"] = [1, 2, 3]
    f.create_dataset("never", (5,), "f4")
print("hello")
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def test_the_table_and_the_program(tmp_path: Path) -> None:
    ran, _ = profiled(tmp_path, *script(tmp_path, HELLO))
    assert ran.code == 0
    assert ran.out == "hello\n"
    assert ran.err.startswith("1 process, 1 file\n")
    assert "a.h5:/x" in ran.err
    assert re.search(r"a\.h5:/never +5 f32le +0 B +0 B +nothing moved\s", ran.err)
    lines = [line for line in ran.err.splitlines() if not line.startswith("profile: ")]
    assert [line for line in lines if len(line.rstrip()) > 80] == []


def test_json_and_what_the_program_prints_stay_apart(tmp_path: Path) -> None:
    ran, _ = profiled(tmp_path, *script(tmp_path, HELLO), options=("--json",))
    assert ran.json["profile"] == str(tmp_path / "profile.json")
    assert (ran.json["program_exit_code"], ran.json["files"], ran.json["processes"]) == (0, 1, 1)
    assert "hello" in ran.err


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_a_program_that_fails_leaves_a_profile(tmp_path: Path, option: str) -> None:
    """And its exit code comes through, said to be its own."""
    ran, profile = profiled(tmp_path, *script(tmp_path, HELLO), "7", options=(option,))
    assert ran.code == 7
    assert option == "--quiet" or ran.json["program_exit_code"] == 7
    assert "tailrace: the program ended with exit code 7" in ran.err
    assert len(profile["files"]) == 1


def test_in_a_pipe(tmp_path: Path) -> None:
    """Standard input and output are the program's, and its end by a signal is as in a shell."""
    text = "import sys; n = 0\nfor line in sys.stdin: n += int(line)\nprint(n, flush=True)\n"
    text += "import h5py; h5py.File('a.h5', 'w').close()\n"
    text += "import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n"
    words = ("profile", "-o", "p.json", "--", *script(tmp_path, text))
    ran = tailrace(*words, cwd=tmp_path, stdin="1\n2\n").expect(128 + signal.SIGTERM)
    assert ran.out == "3\n"
    assert "tailrace: the program ended with signal 15 (exit code 143)" in ran.err


def test_a_program_without_hdf5(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, "true")
    assert ran.code == 0
    said = "nothing was recorded: `true` opened none of these: files of HDF5 (1.14 or newer, as a"
    assert said in ran.err and "files of MPI-IO, files of data by system calls. Other" in ran.err
    assert "files" not in profile


def test_a_run_that_recorded_nothing_does_not_replace_a_profile(tmp_path: Path) -> None:
    _, profile = profiled(tmp_path, *script(tmp_path, HELLO))
    ran, now = profiled(tmp_path, "true", options=("--json",))
    assert now == profile and ran.json["profile"] is None and ran.json["processes"] == 0
    assert "no new profile: the earlier" in profiled(tmp_path, "true")[0].err


def test_a_script_that_replaces_what_is_preloaded_is_named(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.sh", tmp_path / "good.sh"
    bad.write_text("#!/bin/sh\nexport LD_PRELOAD=/lib/libz.so\ntrue\n")
    good.write_text("#!/bin/sh\n# LD_PRELOAD=x\nexport LD_PRELOAD=/x.so:$LD_PRELOAD\ntrue\n")
    for file, told in ((bad, True), (good, False)):
        file.chmod(0o755)
        ran, _ = profiled(tmp_path, str(file))
        assert (f"{file} sets LD_PRELOAD: of" in ran.err) == told, ran.err


def test_what_cannot_be_run(tmp_path: Path) -> None:
    ran = tailrace("profile", "--", "no-such-program", cwd=tmp_path).expect(127)
    assert "tailrace: error: no-such-program: the program cannot be started" in ran.err
    ran = tailrace("profile", "--", "/etc/passwd", cwd=tmp_path).expect(126)
    assert "tailrace: error: /etc/passwd: the program cannot be started" in ran.err
    for words, what in ((("-o", "no/p.json", "--", "true"), "there is no such folder"),
                        (("--lyers", "hdf5", "--", "true"), "there is no option")):  # fmt: skip
        ran = tailrace("profile", *words, cwd=tmp_path).expect(ExitCode.OWN_FAILURE)
        assert ran.err.startswith("tailrace: error: ") and what in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["option", "environment"])
def test_what_it_reads_is_not_overwritten(tmp_path: Path, how: str) -> None:
    text = '{"files": {"a.h5": {"reliability": "scratch"}}}'
    (tmp_path / "d.json").write_text(text)
    option = ("--declare", "d.json") if how == "option" else ()
    given = {} if how == "option" else {"TAILRACE_INTENTS": "d.json"}
    words = ("profile", *option, "-o", "d.json", "--", *script(tmp_path, HELLO))
    ran = tailrace(*words, cwd=tmp_path, **given).expect(ExitCode.OWN_FAILURE)
    assert "is read by this command, and -o would overwrite it" in ran.err
    assert (tmp_path / "d.json").read_text() == text
    assert not (tmp_path / "a.h5").exists()


def test_where_no_profile_can_be_written_nothing_is_run(tmp_path: Path) -> None:
    folder, text = tmp_path / "folder", tmp_path / "notes.txt"
    folder.mkdir()
    text.write_text("mine\n")
    for target in (folder, text):
        ran = tailrace("profile", "-o", str(target), "--", "touch", "ran", cwd=tmp_path)
        assert target.name in ran.expect(ExitCode.OWN_FAILURE).err
    assert text.read_text() == "mine\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "notes.txt"]


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("HDF5_VOL_CONNECTOR", "pass_through under_vol=0;under_info={}", "another connector"),
        ("HDF5_PLUGIN_PRELOAD", "::", "forbids HDF5 to load plugins"),
        ("TAILRACE_MODE", "off", "switches the hooks off"),
    ],
)
def test_settings_that_forbid_it(tmp_path: Path, name: str, value: str, what: str) -> None:
    ran = tailrace("profile", "--", "touch", "x", cwd=tmp_path, **{name: value})
    assert what in ran.expect(ExitCode.OWN_FAILURE).err
    assert list(tmp_path.iterdir()) == []


def test_a_plugin_that_cannot_load(tmp_path: Path) -> None:
    (tmp_path / plugin.file_name).write_text("this is no library")
    with pytest.raises(TailraceError) as caught:
        plugin.check(tmp_path)
    assert caught.value.code == ExitCode.CAPABILITY_MISSING
    assert "invalid ELF header" in caught.value.what or "too short" in caught.value.what
    assert "was not started" in caught.value.hint


def test_the_plugin_path_of_the_user_stays(tmp_path: Path) -> None:
    given = {"HDF5_PLUGIN_PATH": "/some/filters"}
    added = plugin.environment_for(tmp_path, tmp_path / "spools", 4, given)
    assert added["HDF5_PLUGIN_PATH"] == f"{tmp_path}:/some/filters"
    assert added["TAILRACE_PROFILE_MIB"] == "4"


@pytest.mark.parametrize(
    ("words", "flavour", "expected"),
    [
        (["mpiexec", "-n", "2", "p"], "openmpi", ["mpiexec", "-x", "A", "-x", "B", "-n", "2", "p"]),
        (["/opt/bin/mpirun", "p"], "openmpi", ["/opt/bin/mpirun", "-x", "A", "-x", "B", "p"]),
        (["mpiexec.hydra", "-n", "2", "p"], "mpich", ["mpiexec.hydra", "-n", "2", "p"]),
        (["srun", "-n", "2", "p"], "", ["srun", "-n", "2", "p"]),
        (["srun", "--export=NONE", "p"], "", ["srun", "--export=A,B", "p"]),
        (["srun", "--export=HOME", "p"], "", ["srun", "--export=HOME,A,B", "p"]),
        (["srun", "--export=ALL", "p"], "", ["srun", "--export=ALL", "p"]),
        ([sys.executable, "x.py"], "", [sys.executable, "x.py"]),
    ],
)
def test_launchers_hand_the_environment_on(
    words: list[str], flavour: str, expected: list[str]
) -> None:
    assert record.with_environment(words, ["A", "B"], lambda _launcher: flavour) == expected


def test_spools_stay_where_no_profile_can_be_written(tmp_path: Path) -> None:
    text = HELLO.replace('print("hello")', 'import os; os.mkdir("profile.json")')
    ran = tailrace("profile", "--", *script(tmp_path, text), cwd=tmp_path)
    assert "could not be written" in ran.expect(ExitCode.OWN_FAILURE).err
    assert "records of the processes are kept: profile.json.spools" in ran.err
    assert "`tailrace profile --from-spools profile.json.spools` makes a profile" in ran.err
    # One of the connector and one of the system calls.
    assert len(list((tmp_path / "profile.json.spools").glob("*.spool"))) == 2


def test_the_program_s_exit_code_goes_before_a_failure_of_ours(tmp_path: Path) -> None:
    text = HELLO.replace('print("hello")', 'import os; os.mkdir("profile.json")')
    words = ("profile", "--json", "--", *script(tmp_path, text), "3")
    ran = tailrace(*words, cwd=tmp_path).expect(3)
    assert "the program ended with exit code 3" in ran.err
    assert "tailrace: error: " in ran.err and "records of the processes are kept" in ran.err
    assert "could not be written" in ran.json["error"]["what"]


def test_spools_can_be_kept(tmp_path: Path) -> None:
    tailrace(
        "profile", "--keep-spools", "--", *script(tmp_path, HELLO), cwd=tmp_path
    ).expect(0)  # fmt: skip
    # One of the connector and one of the system calls.
    assert len(list((tmp_path / "profile.json.spools").glob("*.spool"))) == 2


KILLER = """
import os, h5py
f = h5py.File("a.h5", "w")
f["x"] = [1, 2, 3]
os.kill(os.getppid(), 9)
f["y"] = [1, 2, 3]
"""


def test_a_profile_of_what_a_killed_command_has_left(tmp_path: Path) -> None:
    """A batch system ends a job like this, with the command."""
    ran = tailrace("profile", "--", *script(tmp_path, KILLER), cwd=tmp_path).expect(-9)
    spools = tmp_path / "profile.json.spools"
    options = ("--from-spools", spools, "-o", tmp_path / "made.json")
    deadline = time.monotonic() + 20
    while True:  # the program goes on until it is done
        ran = tailrace("profile", "--json", *options, cwd=tmp_path).expect(0)
        profile = json.loads((tmp_path / "made.json").read_text())
        if time.monotonic() > deadline or len(file_of(profile, "a.h5").get("datasets", [])) == 2:
            break
        time.sleep(0.2)
    jsonschema.validate(profile, SCHEMA)
    assert (ran.json["processes"], ran.json["program_exit_code"]) == (1, None)
    file = file_of(profile, "a.h5")
    assert [one["writes"]["bytes"] for one in file["datasets"]] == [24, 24]
    assert "posix" not in file
    assert len(list(spools.glob("*.spool"))) == 2
    ran = tailrace("intents", tmp_path / "made.json", cwd=tmp_path).expect(0)
    assert "a.h5" in ran.out


def test_from_spools_is_instead_of_a_command(tmp_path: Path) -> None:
    ran = tailrace("profile", "--quiet", cwd=tmp_path).expect(ExitCode.OWN_FAILURE)
    assert "a command after --, or --from-spools FOLDER" in ran.err
    ran = tailrace("profile", "--from-spools", ".", "--", "true", cwd=tmp_path)
    assert "give either a command" in ran.expect(ExitCode.USAGE).err
    ran = tailrace("profile", "--from-spools", "no", cwd=tmp_path).expect(ExitCode.USAGE)
    assert "there are no records of processes here" in ran.err
    assert list(tmp_path.iterdir()) == []


WAITS = """
import signal, sys, time, h5py
def ends(number, frame):
    with h5py.File("late.h5", "w") as f: f["x"] = [1, 2, 3]
    sys.exit(3)
signal.signal(signal.SIGHUP, ends)
open("ready", "w").close()
time.sleep(50)
"""


COUNTS = """
import signal, sys, time
got = []
def heard(number, frame): got.append(number)
for one in (signal.SIGTERM, signal.SIGUSR1): signal.signal(one, heard)
open("ready", "w").close()
until = time.monotonic() + 40
while len(got) < 2 and time.monotonic() < until: time.sleep(0.01)
time.sleep(1)
print(*map(int, got))
"""


def test_a_signal_of_the_whole_group_comes_once_and_one_for_tailrace_is_passed_on(
    tmp_path: Path,
) -> None:
    """As a batch system sends them; a second SIGTERM means to many programs to give up."""
    words = [sys.executable, "-m", "tailrace", "profile", "-q", "--", *script(tmp_path, COUNTS)]
    command = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while command.poll() is None and not (tmp_path / "ready").exists():
        time.sleep(0.05)
    command.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    os.killpg(command.pid, signal.SIGTERM)
    out, _ = command.communicate(timeout=60)
    assert out.split() == ["10", "15"]


@pytest.mark.parametrize("full", [2, 1])
def test_a_full_log_keeps_no_program_from_running(full: int, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tailrace", "profile", "--json", "--", "sh", "-c", "exit 7"]
    with Path("/dev/full").open("w") as log:
        where = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        where["stderr" if full == 2 else "stdout"] = log
        ran = subprocess.run(words, cwd=tmp_path, check=False, **where)
    assert ran.returncode == 7


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    """Like SIGTERM it is the program's to hear, and the profile is written."""
    words = [sys.executable, "-m", "tailrace", "profile", "--", *script(tmp_path, WAITS)]
    command = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while command.poll() is None and not (tmp_path / "ready").exists():
        time.sleep(0.05)
    command.send_signal(signal.SIGHUP)
    _, err = command.communicate(timeout=40)
    assert command.returncode == 3, err
    assert "exit code 3" in err
    profile = json.loads((tmp_path / "profile.json").read_text())
    assert file_of(profile, "late.h5")["hdf5"]["creates"] == 1
