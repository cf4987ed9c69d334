# SPDX-License-Identifier: Apache-2.0
"""How the command speaks: streams, exit codes, widths, JSON, mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
import seism_files as files
from tailrace_cli import called, environment, tailrace

from tailrace.cli.main import plain_dashes

COMMANDS = {"run", "sweep", "scale", "suite", "submit", "compare", "report", "verify", "doctor",
            "intents", "profile", "rules", "advise", "apply", "env", "tune",
            "recover", "repack"}  # fmt: skip
ERROR = re.compile(r"tailrace: error: [^\n]+[.?!]\n(       hint: [^\n]+[.?!]\n)?")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    case = files.Case()
    files.write_hdf5(tmp_path / "good.h5", case, files.data(case))
    return tmp_path / "good.h5"


def test_help_names_the_commands_that_exist_and_no_others() -> None:
    ran = tailrace("--help").expect(0)
    shown = set(re.findall(r"^│ (\w+)  ", ran.out.split("Speed up")[1], re.MULTILINE))
    assert shown == COMMANDS
    assert "Begin with: tailrace tune -- " in ran.out and "Exit codes: 0 ok" in ran.out
    assert tailrace().expect(0).out.strip() == ran.out.strip()


@pytest.mark.parametrize("command", ["", *sorted(COMMANDS)])
def test_help_fits_80_columns(command: str) -> None:
    """And has no words of who programs: types, braces around what has to be typed."""
    ran = tailrace(*([command] if command else []), "-h").expect(0)
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert not re.search(r"<(bool|path|str|list)\b", ran.out)
    usage = re.search(r"Usage: (tailrace [^{}]+?)\n *\n", ran.out)
    assert usage is not None and usage[1].startswith(f"tailrace {command}".rstrip()), ran.out


def test_a_command_takes_no_longer_for_the_others() -> None:
    """Those that go with every run of a program import neither numpy nor what others need."""
    script = (
        "import sys; from tailrace.cli.app import app_for; app_for(['--json', 'apply', 'sweep'])\n"
        "print(sorted(name for name in sys.modules if name == 'numpy' or name.endswith('_command')"
        " or name.startswith('tailrace.sweep')))"
    )
    words = [sys.executable, "-c", script]
    run = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout == "['tailrace.cli.apply_command']\n"


def test_version() -> None:
    ran = tailrace("--version").expect(0)
    assert re.match(r"tailrace \d+\.\d+\.\d+ \(commit [0-9a-f]{7,}(-dirty)?\)\n", ran.out)
    found = tailrace("--version", "--json").expect(0).json
    assert {"tailrace", "commit", "python", "modules", "programs"} <= set(found)
    assert found["modules"]["h5py"] and found["hdf5_of_h5py"]


MISTAKES: list[tuple[list[str], int, str]] = [
    (["verfy"], 2, "Did you mean 'verify'?"),
    (["frobnicate"], 2, "there is no command 'frobnicate'"),
    (["verify"], 2, "Missing argument"),
    (["verify", "--jsn", "x"], 2, "--json"),
    (["verify", "--rtol", "abc", "a", "b"], 2, "'--rtol': Input should be a valid number"),
    (["verify", "--hash", "--rtol", "1e-3", "a"], 2, "not for --hash"),
    (["verify", "--ignore", "x", "a"], 2, "--ignore is for"),
    (["verify", "--plugin-lib", "x", "a", "b"], 2, "--plugin-lib is for"),
    (["verify", "absent"], 2, "absent: cannot be opened: No such file or directory."),
    (["verify", "."], 2, "is a folder"),
    (["verify", "text"], 3, "text: neither HDF5, netCDF nor a complete raw container."),
    (["verify", "void"], 3, "void: empty (0 bytes)."),
    (["verify", "good.h"], 2, 'did you mean "good.h5"?'),
    (["verify", "other.h5"], 2, "is not a kernel's file"),
    (["run", "siesm", "a=b"], 2, 'Did you mean "seism"?'),
    (["run", "seism"], 2, "there are no inputs"),
]


@pytest.mark.parametrize(("words", "code", "text"), MISTAKES, ids=lambda item: str(item)[:40])
def test_mistakes(
    words: list[str], code: int, text: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file.parent / "text").write_text("not a data file\n" * 20)
    (file.parent / "void").touch()
    with h5py.File(file.parent / "other.h5", "w") as other:
        other["x"] = [1]
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("TAILRACE_BIN", str(file.parent))
    program = file.parent / "tailrace-seism"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    ran = called(*words).expect(code)
    assert text in ran.err and ERROR.fullmatch(ran.err), ran.err
    assert ran.out == ""
    found = called(*words, "--json").expect(code).json
    error = found.get("error") or found["files"][0]["error"]
    assert error["exit_code"] == code


@pytest.mark.parametrize(
    ("given", "meant"),
    [("–json", "--json"), ("—json", "--json"), ("–-json", "--json"), ("−−json", "--json"),
     ("-–json", "--json"), ("--json", "--json"), ("–q", "-q"), ("-q", "-q"), ("—q", "--q"),
     ("a–b", "a–b"), ("-", "-"), ("–rtol=1e–3", "--rtol=1e–3"), ("x=—y", "x=—y")],
)  # fmt: skip
def test_pasted_dashes(given: str, meant: str) -> None:
    assert plain_dashes(given) == meant


def test_pasted_dashes_reach_the_command(file: Path) -> None:
    assert tailrace("verify", "–json", file).expect(0).json["ok"]
    assert tailrace("verify", "–q", file).expect(0).out == ""


def test_json_is_all_of_standard_output(file: Path) -> None:
    for words in (["verify", file], ["verify", file, file], ["verify", "--hash", file], ["doctor"]):
        ran = called(*words, "--json").expect(0)
        assert json.loads(ran.out)["command"] in COMMANDS and ran.err == ""


def test_quiet_prints_errors_only(file: Path) -> None:
    assert tailrace("verify", "--quiet", file).expect(0).out == ""
    assert "absent" in tailrace("verify", "--quiet", file.parent / "absent").expect(2).err


def test_documented_keys(file: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "user" / "verify.md").read_text()
    for words in (["verify", file], ["verify", file, file], ["verify", "--hash", file]):
        for key in keys_of(called(*words, "--json").expect(0).json):
            assert f"`{key}`" in page, key


def keys_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys_of(item)}
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item)}
    return set()


def test_verify_fits_80_columns(file: Path, tmp_path: Path) -> None:
    with h5py.File(file, "r+") as stored:
        stored["chunked"][0, 0, 0, :7] = -123456.789
    ran = tailrace("verify", file.name, cwd=file.parent).expect(3)
    assert "-123456.789" in ran.out and "VERIFICATION FAILED" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_names_that_move_the_cursor_are_escaped(tmp_path: Path) -> None:
    name = "evil\x1b[2J\n.h5"
    ran = tailrace("verify", tmp_path / name).expect(2)
    assert "\x1b" not in ran.err and "\\x1b[2J" in ran.err


def test_a_reader_that_leaves_early_is_no_crash(file: Path) -> None:
    command = f"{sys.executable} -m tailrace doctor | head -n 1"
    ran = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=environment(), timeout=60
    )
    assert "Traceback" not in ran.stderr and "Exception" not in ran.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_streams_that_who_starts_it_has_closed(tmp_path: Path, closed: str) -> None:
    """As some schedulers and daemons do."""
    script = f'"$0" -m tailrace verify nowhere.h5 {closed}; test $? = 2'
    ran = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=tmp_path, env=environment(), check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert ("cannot be opened" in ran.stderr) == ("2>" not in closed)
