# SPDX-License-Identifier: Apache-2.0
"""Files that a program did not open itself: a shell did, and left it the descriptor."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from profiled import file_of, profiled  # noqa: E402
from test_posix_profile import compiled  # noqa: E402


def by_shell(folder: Path, line: str) -> dict[str, Any]:
    ran, profile = profiled(folder, "sh", "-c", line)
    assert ran.code == 0, ran.err
    return profile


def moved(profile: dict[str, Any], name: str, way: str = "writes") -> tuple[int, int]:
    """Bytes and the highest one, whether by the stream or by the descriptor."""
    file = file_of(profile, name)
    ways = [file[layer][way] for layer in ("posix", "stdio") if way in file.get(layer, {})]
    return sum(one["bytes"] for one in ways), max(one["highest_byte"] for one in ways)


def test_standard_output(tmp_path: Path) -> None:
    profile = by_shell(tmp_path, "head -c 1000 /dev/zero > out.dat")
    assert moved(profile, "out.dat") == (1000, 999)
    assert file_of(profile, "out.dat")["posix"]["opens"] == 1  # the shell's


def test_standard_input(tmp_path: Path) -> None:
    (tmp_path / "in.dat").write_bytes(b"x" * 3000)
    profile = by_shell(tmp_path, "cat < in.dat > copy.dat")
    assert moved(profile, "in.dat", "reads") == (3000, 2999)
    assert moved(profile, "copy.dat") == (3000, 2999)


STREAM = """
#include <stdio.h>
int main(void) {
    char data[10] = "123456789";
    if (fwrite(data, 1, 10, stdout) != 10) return 1;
    return fwrite(data, 1, 5, stdout) != 5;
}
"""


def test_what_is_appended(tmp_path: Path) -> None:
    """By a stream that has not written anything when it is asked where it stands, and by calls."""
    program = compiled(tmp_path, STREAM)
    (tmp_path / "log.txt").write_bytes(b"12345")
    profile = by_shell(tmp_path, f"{program} >> log.txt")
    stream = file_of(profile, "log.txt")["stdio"]
    assert (stream["writes"]["calls"], stream["writes"]["bytes"]) == (2, 15)
    assert (stream["writes"]["highest_byte"], stream["writes"]["consecutive"]) == (19, 1)
    assert (stream["opens"], stream["append"]) == (0, True)
    profile = by_shell(tmp_path, "dd if=/dev/zero bs=100 count=3 >> log.txt")
    posix = file_of(profile, "log.txt")["posix"]
    assert (posix["writes"]["calls"], posix["writes"]["bytes"]) == (3, 300)
    assert posix["writes"]["highest_byte"] == 319
    assert (posix["opens"], posix["append"]) == (1, True)


NUMBERED = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
    char data[10] = "123456789";
    int copy = dup(7);
    if (lseek(copy, 0, SEEK_CUR) != 0 || close(copy) != 0) return 1;
    if (write(7, data, 10) != 10 || pwrite(7, data, 5, 100) != 5) return 2;
    FILE* stream = fdopen(7, "w");
    if (!stream || fseek(stream, 200, SEEK_SET) || fwrite(data, 1, 8, stream) != 8) return 3;
    return fclose(stream);
}
"""


def test_any_descriptor(tmp_path: Path) -> None:
    program = compiled(tmp_path, NUMBERED)
    profile = by_shell(tmp_path, f"{program} 7> seven.dat")
    file = file_of(profile, "seven.dat")
    writes = file["posix"]["writes"]
    assert (writes["calls"], writes["bytes"], writes["highest_byte"]) == (2, 15, 104)
    assert file["posix"]["opens"] == 1
    assert (file["stdio"]["writes"]["bytes"], file["stdio"]["writes"]["highest_byte"]) == (8, 207)


def test_what_is_only_handed_on(tmp_path: Path) -> None:
    """Who does nothing with it leaves nothing; and messages are no data."""
    profile = by_shell(tmp_path, "sh -c true > out.dat")
    assert len(profile["run"]["processes"]) == 1
    profile = by_shell(tmp_path, "sh -c 'echo oops >&2' 2> errors.txt")
    assert (tmp_path / "errors.txt").read_text() == "oops\n"
    assert "writes" not in file_of(profile, "errors.txt")["posix"]
