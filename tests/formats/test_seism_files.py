# SPDX-License-Identifier: Apache-2.0
"""Files of the kernel as their user meets them: subfiles on a small disk, who wrote them, files
behind a symbolic link. What was written is counted by strace, which shares nothing with us."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from own_namespace import small_disk

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
MPIEXEC = shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"])
TOOL = BUILD / "bin/tailrace-seism"
RUN = ("processor=4x1x1", "domain=4x64x64", "time=3", "fill=position", "verify")
LOGICAL = 4 * 4 * 64 * 64 * 3 * 4


def run(folder, *arguments, before=(), env=None, code=0):
    given = {word.split("=")[0] for word in arguments}
    fixed = [word for word in RUN if word.split("=")[0] not in given]
    command = [*MPIEXEC, "-n", "4", *before, TOOL, *fixed, *arguments]
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, "TAILRACE_FAULT": "", **(env or {})},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
    )
    assert (done.returncode != 0) == (code != 0), done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stderr
    return done.stdout + done.stderr


def value(text, label):
    return next(line for line in text.splitlines() if line.startswith(label)).split(":", 1)[1]


def traced_bytes(folder, pattern):
    """Sum of what pwrite and its kin returned for files of a name."""
    total = 0
    for file in folder.glob("trace.*"):
        for line in file.read_text(errors="replace").splitlines():
            found = re.match(r"(?:pwrite64|pwritev|write|writev)\(\d+<([^>]*)>.* = (\d+)$", line)
            if found and re.fullmatch(pattern, Path(found[1]).name):
                total += int(found[2])
    return total


@pytest.mark.parametrize("stripe", ["32768", "33554432"])
def test_who_wrote_the_subfiles(tmp_path, stripe):
    strace = ["strace", "-ff", "-y", "-qq", "-e", "trace=pwrite64,pwritev,write,writev"]
    text = run(
        tmp_path,
        "subfile=2",
        "filename=x.h5",
        before=[*strace, "-o", tmp_path / "trace"],
        env={"H5FD_SUBFILING_STRIPE_SIZE": stripe},
    )
    who = value(text, "Who wrote")
    data = traced_bytes(tmp_path, r"x\.h5\.subfile_\d+_\d_of_2")
    stub = traced_bytes(tmp_path, r"x\.h5(\.part)?")
    assert data >= LOGICAL
    assert int(re.search(r", (\d+) bytes", who)[1]) == data + stub
    ranks = 2 if stripe == "32768" else 1
    assert who.split()[0] == str(ranks)
    assert f"2 subfiles in stripes of {stripe} bytes" in who
    assert ("H5FD_SUBFILING_STRIPE_SIZE" in text) == (ranks == 1)
    assert "IOC_PER_NODE" not in text
    files = [f for f in tmp_path.iterdir() if re.search(r"\.subfile_\d+(_|\.c)", f.name)]
    stored = sum(f.stat().st_size for f in files)
    stub_file = (tmp_path / "x.h5").stat()
    stored += min(stub_file.st_size, stub_file.st_blocks * 512)
    assert value(text, "Bytes stored").split()[0] == str(stored)
    assert stored < LOGICAL + 65536
    assert stub_file.st_blocks * 512 < 65536, "nothing is set aside in the stub"
    assert "nothing set aside (subfiles)" in value(text, "Space reserved")


def test_one_subfile_is_written_by_one_rank(tmp_path):
    text = run(tmp_path, "subfile=1", "filename=x.h5")
    assert value(text, "Who wrote").split()[0] == "1"
    assert "subfile 1 asks for one I/O concentrator" in text
    assert "subfile N, with N up to 4" in text


@pytest.mark.parametrize("size, code", [(LOGICAL * 3 // 2, 0), (LOGICAL * 3 // 4, 2)])
def test_a_disk_with_room_for_the_subfiles_once(tmp_path, size, code):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*small_disk(disk, size), *MPIEXEC, "-n", "4", str(TOOL), *RUN, "subfile=2"]
    done = subprocess.run(
        [*command, f"filename={disk}/x.h5", "results=results.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "TAILRACE_FAULT": ""},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
    )
    assert (done.returncode == 0) == (code == 0), done.stdout + done.stderr
    if code:
        assert "too little disk space" in done.stderr
    else:
        assert "0 wrong" in done.stdout


@pytest.mark.parametrize("how", ["format=posix-per-rank", "format=posix", "subfile=2"])
def test_through_a_symbolic_link(tmp_path, how):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/data")
    text = run(tmp_path, how, "filename=link", "read_back")
    assert "0 wrong" in value(text, "Verification")
    assert sorted(f.name for f in tmp_path.iterdir() if "data" in f.name) == []
    done = subprocess.run(
        [sys.executable, "-m", "tailrace", "verify", "link"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_verify_looks_at_few_of_many_pieces(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SOURCE / "python")
    from tailrace.verify.raw_tree import RawTree

    run(tmp_path, "format=posix-per-rank", "filename=x", "time=200", "domain=1x1x1")
    tree = RawTree(tmp_path / "x")
    looked_at = []
    copy = RawTree._copy
    monkeypatch.setattr(RawTree, "_copy", lambda *a: looked_at.append(a) or copy(*a))
    for step in range(200):
        values = tree.nodes["/chunked"].read((slice(step, step + 1), *3 * [slice(0, 1)]))
        assert values.shape == (1, 1, 1, 1)
    assert len(looked_at) == 200 * 4, "one piece of each rank per step, of 800"
    tree.close()
