# SPDX-License-Identifier: Apache-2.0
"""Options of all commands: one name has one meaning, old names work, values complete."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from tailrace_cli import SOURCE, called, environment

from tailrace.cli import advise_command, app, submit_command
from tailrace.intent import snippets

PAGE = SOURCE / "docs" / "user" / "options.md"
SEISM = ("seism", "processor=1x1x1", "domain=2x2x2", "time=1")


def options() -> dict[str, dict[str, Any]]:
    """By name and command, those in the help."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    group: Any = typer.main.get_command(app.app_for([]))
    for name, command in group.commands.items():
        for parameter in command.params:
            for word in parameter.opts:
                if word.startswith("--") and not parameter.hidden:
                    found[word][name] = parameter
    return found


def test_one_name_takes_one_kind_of_value() -> None:
    """But for where a result goes, and numbers of ranks where a command makes several runs."""
    for name, by_command in options().items():
        kinds = {one.metavar if not one.is_flag else "flag" for one in by_command.values()}
        assert len(kinds) == 1 or name in {"--output", "--ranks"}, (name, kinds)


def test_the_table_names_the_commands_that_have_an_option() -> None:
    there = options()
    rows = re.findall(r"^\| (`-.*?) \| .* \| (.*?) \|$", PAGE.read_text().split("## Old")[0], re.M)
    assert len(rows) > 15
    for names, commands in rows:
        (name,) = re.findall(r"--[a-z-]+", names)
        named = set(re.findall(r"`([a-z]+)`", commands)) or set(app._commands)
        assert set(there[name]) == named, name


@pytest.mark.parametrize("command", sorted(app._commands))
def test_help_has_an_example_and_names_its_page(command: str) -> None:
    shown = called(command, "--help").expect(0).out
    example = re.search(r"^ Example: (.+?) *$", shown, re.M)
    page = re.search(r"^ Its page: (\S+) *$", shown, re.M)
    assert example is not None and f"tailrace {command} " in example[1]
    assert page is not None and f"tailrace {command}" in (SOURCE / page[1]).read_text()


OLD = [
    (("repack", "none.h5", "--as", "x", "--chunk", "x=1"), "--as is called --plan-path now"),
    (("suite", "quick", "--dir", ".", "--dry-run"), "--dir is called --run-folder now"),
    (("submit", *SEISM, "--rundir", "r", "--interactive"), "--rundir is called --run-folder now"),
    (("tune", "--limit", "5", "--dry-run", "--", "true"), "--limit is called --timeout now"),
    (("tune", "--budget", "3", "--dry-run", "--", "true"), "--budget 3 is written 3m now"),
    (("tune", "--search", "3", "--dry-run", "--", "true"), "--search 3 is written 3m now"),
    (("tune", "--allow", "opt_in", "--dry-run", "--", "true"), "opt_in is called opt-in now"),
]


@pytest.mark.parametrize(("words", "said"), OLD, ids=lambda one: str(one)[:40])
def test_old_names_work_with_a_word(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = called(*words)
    assert ran.err.count("version only") == 1 and said in ran.err
    assert "there is no option" not in ran.err and "Invalid value" not in ran.err
    new = [word.replace("opt_in", "opt-in") for word in words]
    new = [{"--as": "--plan-path", "--dir": "--run-folder", "--rundir": "--run-folder",
            "--limit": "--timeout", "3": "3m"}.get(word, word) for word in new]  # fmt: skip
    now = called(*new)
    assert (now.code, now.out) == (ran.code, ran.out) and "version only" not in now.err


@pytest.mark.parametrize("option", ["--budget", "--search", "--timeout"])
@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf"])
def test_what_is_no_time(option: str, value: str, tmp_path: Path,
                         monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ran = called("tune", f"{option}={value}", "--dry-run", "--", "true").expect(2)
    assert f'{option}: "{value}" is no time' in ran.err


def test_wrong_values_are_answered_with_the_nearest(tmp_path: Path) -> None:
    for words, said in (
        (("advise", "--as", "h5pi", "p.json"), '--as: there is no "h5pi". Did you mean "h5py"?'),
        (("compare", "--metric", "durble", "a", "b"), 'Did you mean "durable"?'),
        (("advise", "--allow", "collective,opt", "p.json"), 'there is no class "opt" to allow'),
    ):
        assert said in called(*words).expect(2).err


def completed(line: str) -> list[str]:
    changes = {"_TAILRACE_COMPLETE": "complete_bash", "COMP_WORDS": line,
               "COMP_CWORD": str(line.count(" "))}  # fmt: skip
    words = [sys.executable, "-m", "tailrace"]
    run = subprocess.run(words, env=environment(**changes), capture_output=True, text=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tailrace advise --as ", list(snippets.kinds)),
        ("tailrace tune --allow collective,o", ["collective,opt-in"]),
        ("tailrace submit --scheduler s", ["slurm"]),
        ("tailrace run se", ["seism"]),
        ("tailrace profile --layers hdf5,p", ["hdf5,posix"]),
    ],
)
def test_values_complete_in_the_shell(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_what_completes_is_what_there_is() -> None:
    assert get_args(advise_command.Kinds) == tuple(snippets.kinds)
    assert get_args(submit_command.Schedulers) == tuple(submit_command.schedulers)
