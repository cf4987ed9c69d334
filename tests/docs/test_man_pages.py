# SPDX-License-Identifier: Apache-2.0
"""The man pages: one for each command, with all of its options, and readable for `man`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tailrace_cli import SOURCE, called

from tailrace.cli.man_pages import escaped, pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("man") / "man1"
    subprocess.run([sys.executable, "-m", "tailrace.cli.man_pages", made], check=True)
    return made


def shown(page: Path) -> str:
    """As a terminal shows it."""
    text = page.read_text().replace(r"\-", "-").replace(r"\e", "\\").replace(r"\&", "")
    return re.sub(r"\\f[BR]", "", text)


def test_each_command_has_a_page(folder: Path) -> None:
    modules = (SOURCE / "python/tailrace/cli").glob("*_command.py")
    expected = {"tailrace.1"} | {
        f"tailrace-{path.stem.removesuffix('_command')}.1" for path in modules
    }
    assert {path.name for path in folder.iterdir()} == expected


def test_each_page_has_all_that_help_says(folder: Path) -> None:
    for page in pages():
        text = shown(folder / f"{page.name}.1")
        help_ = called(*page.name.split("-", 1)[1:], "--help").out
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_))
        assert options >= {"--help"}
        for option in options:
            assert option in text, f"{page.name}: {option}"
        assert page.purpose.replace("`", "") in text and f".TH {page.name.upper()} 1" in text
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"):
            assert f".SH {section}\n" in text, f"{page.name}: {section}"


def test_no_word_is_taken_for_a_request() -> None:
    """A line that begins with a dot or a quotation mark, and a backslash."""
    assert escaped(".nc files") == r"\&.nc files"
    assert escaped("'no'") == r"\&'no'"
    assert escaped(r"a\b --json, `tailrace run`") == r"a\eb \-\-json, \fBtailrace run\fR"
