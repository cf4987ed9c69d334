# SPDX-License-Identifier: Apache-2.0
"""Small rules of the house: licence line, length of files, whose job it is to end a program."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(os.environ["TAILRACE_SOURCE_DIR"])
CODE = {".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".cmake", ".f90", ".in"}
LONGEST = 800


def tracked() -> list[Path]:
    """Files of the project: of git where this is a checkout, else all outside build/."""
    done = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False
    )
    if done.returncode == 0 and done.stdout:
        return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and "build" not in path.parts]


def source_files() -> list[Path]:
    return [
        path
        for path in tracked()
        if (path.suffix in CODE or path.name == "CMakeLists.txt")
        and path.relative_to(ROOT).parts[0] != "examples"
        and "corpus" not in path.parts
    ]


def test_there_are_files_to_look_at() -> None:
    assert len(source_files()) > 50


def test_every_source_names_its_licence() -> None:
    without = [
        str(path.relative_to(ROOT))
        for path in source_files()
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text()[:400]
    ]
    assert without == []


def test_no_file_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in source_files()
        if (count := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_libraries_neither_end_the_program_nor_write_to_stdout() -> None:
    """Only src/tools (programs) and src/hooks (which inject faults) may."""
    forbidden = re.compile(
        r"MPI_Abort|\b(?:std::)?_?exit\(|\babort\(|std::terminate\(|\bsignal\(|sigaction\("
        r"|std::cout|\bprintf\(|\bputs\(|\bsystem\(|\bpopen\("
    )
    found = []
    for room in ("core", "comm", "formats", "runner", "kernels", "server"):
        for file in sorted((ROOT / "src" / room).rglob("*.[ch]pp")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.split("//")[0])
                if forbidden.search(code):
                    found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_public_functions_say_whether_they_are_collective() -> None:
    """Each public header of a room that talks to other ranks uses the three words."""
    silent = [
        str(file.relative_to(ROOT))
        for room in ("core", "comm", "formats", "server")
        for file in sorted((ROOT / "src" / room).rglob("*.hpp"))
        if "///" in file.read_text()
        and "(" in file.read_text()
        and not re.search(r"\[(local|collective|independent)\]", file.read_text())
        and re.search(r"^\[\[nodiscard\]\]", file.read_text(), re.MULTILINE)
    ]
    assert silent == []


def test_a_test_that_cannot_run_is_listed() -> None:
    """`not_run` names it in the closing summary and fails where CI=true; a plain skip is silent."""
    allowed = {Path("support/python/own_namespace.py"), Path("lint/test_house.py")}
    found = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        if file.relative_to(ROOT / "tests") not in allowed
        for word in ("skipif", "pytest.skip(", "importorskip", "xfail")
        if word in file.read_text()
    ]
    assert found == []
