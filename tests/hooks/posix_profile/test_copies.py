# SPDX-License-Identifier: Apache-2.0
"""Bytes that never pass through the program: copies in the kernel, asynchronous calls. And files
that could not be opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from profiled import file_of, profiled, script  # noqa: E402
from test_posix_profile import compiled  # noqa: E402


def test_cp(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 3_000_000)
    ran, profile = profiled(tmp_path, "cp", "big", "small")
    assert ran.code == 0, ran.err
    assert file_of(profile, "big")["posix"]["reads"]["bytes"] == 3_000_000
    writes = file_of(profile, "small")["posix"]["writes"]
    assert (writes["bytes"], writes["highest_byte"]) == (3_000_000, 2_999_999)


COPIES = """
import os
with open("from.dat", "wb", buffering=0) as f: f.write(b"z" * 10000)
i = os.open("from.dat", os.O_RDONLY)
o = os.open("to.dat", os.O_WRONLY | os.O_CREAT)
assert os.copy_file_range(i, o, 4000) == 4000              # both at their own place
assert os.copy_file_range(i, o, 1000, 9500, 20000) == 500  # at places of the call's own
assert os.sendfile(o, i, 100, 300) == 300                  # to the place that it had: 4000
assert os.sendfile(o, i, None, 50) == 50
assert os.copy_file_range(i, o, 10, 10000) == 0            # the end of the file
try: os.copy_file_range(o, i, 10)
except OSError: pass
r, w = os.pipe()
assert os.splice(i, w, 200, offset_src=0) == 200
assert os.splice(r, o, 200) == 200
v = os.open("vectors.dat", os.O_RDWR | os.O_CREAT)
assert os.pwritev(v, [b"abc", b"de"], 7, os.RWF_DSYNC) == 5
assert os.preadv(v, [bytearray(4)], 8) == 4
"""


def test_copies_in_the_kernel(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, COPIES))
    assert ran.code == 0, ran.err
    source = file_of(profile, "from.dat")["posix"]["reads"]
    # The call at the end of the file is one too, and one failed.
    assert (source["calls"], source["bytes"]) == (6, 4000 + 500 + 300 + 50 + 200)
    assert source["highest_byte"] == 9999
    target = file_of(profile, "to.dat")["posix"]
    assert (target["writes"]["calls"], target["writes"]["bytes"]) == (5, 5050)
    assert target["writes"]["highest_byte"] == 20499
    assert target["writes"]["consecutive"] == 2  # 4300, 4350
    vectors = file_of(profile, "vectors.dat")["posix"]
    assert (vectors["writes"]["bytes"], vectors["writes"]["highest_byte"]) == (5, 11)
    assert (vectors["reads"]["calls"], vectors["reads"]["bytes"]) == (1, 4)


AIO = """
#include <aio.h>
#include <fcntl.h>
#include <unistd.h>
static char data[8192];
int main(void) {
    int fd = open("a.dat", O_CREAT | O_RDWR, 0600);
    struct aiocb one = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 4096, .aio_offset = 0};
    struct aiocb two = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 100, .aio_offset = 4096,
                        .aio_lio_opcode = LIO_WRITE};
    struct aiocb three = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 8192,
                          .aio_offset = 8192, .aio_lio_opcode = LIO_WRITE};
    struct aiocb nothing = {.aio_fildes = fd, .aio_lio_opcode = LIO_NOP};
    const struct aiocb* wait[] = {&one};
    struct aiocb* list[] = {&two, 0, &three, &nothing};
    if (aio_write(&one) != 0 || aio_suspend(wait, 1, 0) != 0) return 1;
    if (aio_return(&one) != 4096 || lio_listio(LIO_WAIT, list, 4, 0) != 0) return 2;
    if (aio_return(&two) != 100 || aio_return(&three) != 8192) return 3;
    one.aio_nbytes = 512;
    if (aio_read(&one) != 0 || aio_suspend(wait, 1, 0) != 0) return 4;
    return aio_return(&one) == 512 ? close(fd) : 5;
}
"""


def test_asynchronous_calls(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, compiled(tmp_path, AIO))
    assert ran.code == 0, ran.err
    posix = file_of(profile, "a.dat")["posix"]
    writes = posix["writes"]
    assert (writes["calls"], writes["bytes"]) == (3, 4096 + 100 + 8192)
    assert (writes["consecutive"], writes["highest_byte"]) == (1, 16383)
    assert (posix["reads"]["calls"], posix["reads"]["bytes"]) == (1, 512)
    assert posix["read_write_switches"] == 1


FAILS = """
import ctypes, os
def fails(call):
    try: call()
    except OSError: return
    raise SystemExit("it was opened")
for _ in range(2): fails(lambda: open("missing.dat", "rb"))
fails(lambda: os.open("missing.dat", os.O_RDONLY))
fails(lambda: open("none/x.dat", "wb"))
fails(lambda: os.open("x.dat", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
fails(lambda: open("/usr/no-such-file"))
fails(lambda: open(os.environ["ELSEWHERE"]))
fails(lambda: open("/none/elsewhere.dat", "wb"))
fails(lambda: open(".", "wb"))
fails(lambda: open(".hidden"))
folder = os.open(".", os.O_RDONLY)
fails(lambda: os.open("below.dat", os.O_RDONLY, dir_fd=folder))
libc = ctypes.CDLL(None)
assert not libc.fopen(b"stream.dat", b"r")
with open("x.dat", "ab", buffering=0) as f: f.write(b"1")
"""


def test_files_that_could_not_be_opened(tmp_path: Path) -> None:
    """Those for reading only where the program expected them: many names are only tried out."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "x.dat").write_bytes(b"")
    ran, profile = profiled(folder, *script(folder, FAILS), ELSEWHERE=str(tmp_path / "other.dat"))
    assert ran.code == 0, ran.err
    failed = {
        (file["path"].removeprefix(f"{folder}/"), layer): (its["failed_opens"], its["opens"])
        for file in profile["files"]
        for layer, its in file.items()
        if layer in {"posix", "stdio"} and its.get("failed_opens")
    }
    assert failed == {
        ("missing.dat", "posix"): (3, 0),
        ("none/x.dat", "posix"): (1, 0),
        ("x.dat", "posix"): (1, 1),
        ("below.dat", "posix"): (1, 0),
        ("/none/elsewhere.dat", "posix"): (1, 0),
        ("stream.dat", "stdio"): (1, 0),
    }
    assert "could not be opened: " in ran.err
    assert "missing.dat (3 times)" in ran.err
