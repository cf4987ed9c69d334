# SPDX-License-Identifier: Apache-2.0
"""The documentation site: built as `make docs` builds it, and fails on a broken link and a page
that nothing leads to; the reference has every public name, and the search finds words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import browser, missing
from own_namespace import not_run
from tailrace_cli import SOURCE, environment

import tailrace

PACKAGES = SOURCE / "build/docs-packages"


def sphinx(source: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    programs = shutil.which("doxygen") and shutil.which("dot")
    if not (PACKAGES / "sphinx").is_dir() or not programs:
        not_run("needs the packages of the documentation; cmake/setup/docs.sh packages")
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going",
         "-d", out / "trees", "-c", SOURCE / "docs/site", *options, source, out / "site"],
        env=environment(PYTHONPATH=f"{PACKAGES}{os.pathsep}{SOURCE / 'python'}"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = sphinx(SOURCE, out)
    assert done.returncode == 0, done.stderr
    return out / "site"


def test_the_reference_has_every_public_name(site: Path) -> None:
    reference = site / "docs/reference"
    c, cpp, fortran, python, commands = (
        (reference / f"{name}.html").read_text()
        for name in ("api_c", "api_cpp", "api_fortran", "api_python", "commands")
    )
    headers = "".join(path.read_text() for path in (SOURCE / "include/tailrace").glob("*.h"))
    functions = set(re.findall(r"^[a-z].*?\b(tailrace_\w+)\(", headers, re.MULTILINE))
    assert len(functions) > 30
    for name in functions:
        assert f'id="c.{name}"' in c, name
    for name in ("Server", "Metadata", "Place", "Intents", "intent_set", "put_replicated"):
        assert name in cpp, name
    modules = "".join(path.read_text() for path in (SOURCE / "bindings/fortran").glob("*.f90"))
    bound = re.findall(r"^ *(?:procedure|generic) :: (\w+)", modules, re.MULTILINE)
    assert len(bound) > 20
    for name in (*bound, "tailrace_intent_push"):
        assert re.search(rf"\b{name}\b", fortran), name
    for name, value in vars(tailrace).items():
        if getattr(value, "__module__", "") == "tailrace":
            assert f'id="tailrace.{name}"' in python, name
    for module in (SOURCE / "python/tailrace/cli").glob("*_command.py"):
        assert f'id="tailrace-{module.stem.removesuffix("_command")}"' in commands, module.stem


def test_diagrams_are_pictures(site: Path) -> None:
    """Drawn when the site is made: a page has no word of Mermaid, and each room is in a picture."""
    source = (SOURCE / "docs/developer/the_house.md").read_text()
    rooms = set(re.findall(r"^ +([\w/]+) -->", source, re.MULTILINE))
    assert len(rooms) > 20
    page = site / "docs/developer/the_house.html"
    text = page.read_text()
    assert "flowchart" not in text and "--&gt;" not in text
    pictures = [page.parent / name for name in re.findall(r'<object data="([^"]+)"', text)]
    assert len(pictures) == source.count("```mermaid") == 2
    drawn = "".join(picture.read_text() for picture in pictures)
    assert rooms <= set(re.findall(r"<title>([\w/]+)</title>", drawn))


def test_a_diagram_that_is_not_understood_ends_it(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs/index.md").write_text("# Page\n\n```mermaid\nflowchart TB\n  a ==> b\n```\n")
    done = sphinx(source, tmp_path / "out")
    assert done.returncode != 0
    assert 'a line of a diagram is "a --> b & c", not "a ==> b"' in done.stderr, done.stderr


def test_the_search_finds_a_page(site: Path, tmp_path: Path) -> None:
    """As a reader has it: in a browser, from files, without a network."""
    if lacking := missing():
        not_run(f"needs a browser: {lacking}; apt-get install chromium chromium-driver")
    found: list[str] = []
    with browser(tmp_path) as shown:
        shown.driver.get(f"{(site / 'search.html').as_uri()}?q=chunk+cache")
        deadline = time.monotonic() + 60
        while not found and time.monotonic() < deadline:
            time.sleep(0.2)
            found = shown.run(
                "return [...document.querySelectorAll('ul.search a')].map(a => a.href)"
            )
    assert any("docs/how_to/slow_h5py_with_chunks.html" in link for link in found), found
    assert "docs/index.html" in (site / "index.html").read_text()


def test_a_broken_link_ends_it(tmp_path: Path) -> None:
    """To a page, a heading, a picture, a file of the tree; each is named."""
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    targets = ("gone.md", "#nowhere", "gone.png", "../gone.c")
    links = "\n\n".join(f"{'!' * target.endswith('png')}[a]({target})" for target in targets)
    (source / "docs/index.md").write_text(f"# Page\n\n{links}\n")
    done = sphinx(source, tmp_path / "out")
    assert done.returncode != 0
    for target in targets:
        assert target.lstrip("#") in done.stderr, f"{target}\n{done.stderr}"


def test_a_page_that_nothing_leads_to_ends_it(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs/index.md").write_text("# Page\n")
    assert sphinx(source, tmp_path / "out").returncode == 0
    (source / "docs/lost.md").write_text("# Lost\n")
    done = sphinx(source, tmp_path / "again")
    assert done.returncode != 0
    assert "lost.md" in done.stderr, done.stderr
