# SPDX-License-Identifier: Apache-2.0
"""Where -o leads to something that is no file of its own: written to, and never replaced."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

from tailrace_cli import environment, tailrace

from tailrace.whole_files import is_stream, write_text

SCRIPT = "open('out', 'w').write('x' * 1000)"


def test_a_pipe_and_a_link_stay(tmp_path: Path) -> None:
    pipe, link, real = tmp_path / "pipe", tmp_path / "link", tmp_path / "sub" / "real"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to("sub/real")
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "new")
    reader.join(20)
    write_text(link, "new")
    assert heard == ["new"] and stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink() and real.read_text() == "new"
    assert [path.name for path in real.parent.iterdir()] == ["real"]


def test_devices_are_known(tmp_path: Path) -> None:
    (tmp_path / "to-null").symlink_to(os.devnull)
    assert is_stream(Path(os.devnull)) and is_stream(tmp_path / "to-null")
    assert is_stream(Path("/dev/stderr")) and is_stream(Path("/proc/self/fd/2"))
    assert not is_stream(tmp_path / "nothing") and not is_stream(tmp_path)
    (tmp_path / "file").write_text("")
    assert not is_stream(tmp_path / "file")
    if Path("/dev/shm").is_dir():
        mine = Path(f"/dev/shm/tailrace-test-{os.getpid()}")
        mine.write_text("")
        try:
            assert not is_stream(mine)
        finally:
            mine.unlink()


def test_a_profile_goes_into_a_pipe(tmp_path: Path) -> None:
    """And what processes note down lies in the working folder meanwhile, and goes."""
    run = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m tailrace profile --quiet -o /dev/fd/3 -- '
         f'"{sys.executable}" -c "{SCRIPT}" 3>&1 >/dev/null | cat >got.json'],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "got.json").read_text())
    assert found["schema"] == "tailrace-profile/1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["got.json", "out"]


def test_a_link_to_a_profile_stays(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    words = ["-o", "link.json", "--", sys.executable, "-c", SCRIPT]
    tailrace("profile", *words, cwd=tmp_path).expect(0)
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["schema"] == "tailrace-profile/1"


def test_a_program_may_remove_its_folder(tmp_path: Path) -> None:
    gone, here = tmp_path / "gone", tmp_path / "here"
    for folder in (gone, here):
        folder.mkdir()
    words = ["-o", "../p.json", "--", "sh", "-c", f"rm -r {gone}"]
    tailrace("profile", *words, cwd=gone).expect(0)
    assert json.loads((tmp_path / "p.json").read_text())["schema"] == "tailrace-profile/1"
    words = ["-o", "p.json", "--", "sh", "-c", "rm -r p.json.spools"]
    ran = tailrace("profile", *words, cwd=here).expect(125)
    assert "the program removed the folder" in ran.err
    assert "defect" not in ran.err and "is kept" not in ran.err


def test_a_result_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "tailrace", "rules", "--json"],
            cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert run.returncode == 1
    assert "No space left" in run.stderr and "Traceback" not in run.stderr
