# SPDX-License-Identifier: Apache-2.0
"""What is recorded of system calls and streams, held against scripts whose calls are known."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from profiled import file_of, profiled, script  # noqa: E402
from tailrace_cli import tailrace  # noqa: E402

from tailrace.errors import ExitCode  # noqa: E402
from tailrace.intent import layers, program_file  # noqa: E402

WRITES = """
import os, sys
with open("a.dat", "wb", buffering=0) as f:
    for k in range(10):
        f.write(b"x" * 4096)
    os.fsync(f.fileno())
with open("strided.dat", "wb", buffering=0) as f:
    for k in range(8):
        os.pwrite(f.fileno(), b"y" * 100, k * 1000)
with open("a.dat", "rb", buffering=0) as f:
    f.seek(5)
    while f.read(8192):
        pass
with open("log.txt", "ab", buffering=0) as f:
    f.write(b"line")
"""


def test_a_python_script(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, *script(tmp_path, WRITES))
    assert ran.code == 0, ran.err
    names = [Path(file["path"]).name for file in profile["files"]]
    assert names == ["a.dat", "log.txt", "strided.dat"]
    assert len(profile["run"]["processes"]) == 1
    posix = file_of(profile, "a.dat")["posix"]
    assert (posix["opens"], posix["syncs"], posix["read_write_switches"]) == (2, 1, 1)
    writes = posix["writes"]
    assert (writes["calls"], writes["bytes"], writes["highest_byte"]) == (10, 40960, 40959)
    assert (writes["consecutive"], writes["sequential"]) == (9, 9)
    assert writes["frequent"] == [{"bytes": 4096, "calls": 10}]
    assert writes["sizes"] == [{"from_bytes": 1025, "below_bytes": 10241, "calls": 10}]
    assert writes["order"] == {"sequential": 9, "strided": 0, "random": 0, "repeated": 0}
    reads = posix["reads"]
    assert (reads["bytes"], reads["calls"]) == (40955, 6)
    assert posix["not_aligned_in_file"] == 5
    assert posix["append"] is False
    strided = file_of(profile, "strided.dat")["posix"]
    assert strided["writes"]["order"] == {
        "sequential": 0, "strided": 7, "random": 0, "repeated": 0, "step": [1000],
    }  # fmt: skip
    assert strided["strides"] == [{"bytes": 900, "calls": 7}]
    assert file_of(profile, "log.txt")["posix"]["append"] is True


def test_what_moves_nothing_touches_nothing(tmp_path: Path) -> None:
    """Reads at and behind the end say nothing of how long the file is."""
    text = """
import os
f = os.open("short.dat", os.O_RDWR | os.O_CREAT)
os.pread(f, 10, 70000)
os.write(f, b"x" * 100)
os.pread(f, 50, 20)
os.pread(f, 10, 5000)
os.pwrite(f, b"", 9000)
g = os.open("empty.dat", os.O_RDWR | os.O_CREAT)
os.pread(g, 10, 300)
"""
    ran, profile = profiled(tmp_path, *script(tmp_path, text))
    assert ran.code == 0, ran.err
    short, empty = (file_of(profile, name)["posix"] for name in ("short.dat", "empty.dat"))
    assert (short["reads"]["calls"], short["reads"]["highest_byte"]) == (3, 69)
    assert (short["writes"]["calls"], short["writes"]["highest_byte"]) == (2, 99)
    assert empty["reads"]["calls"] == 1
    assert "highest_byte" not in empty["reads"]


def test_forks_and_children(tmp_path: Path) -> None:
    """Each process counts for itself; what a child closes stays open in its parent."""
    text = """
import os, subprocess, sys
f = open("shared.dat", "wb", buffering=0)
f.write(b"a" * 10)
pid = os.fork()
if pid == 0:
    f.write(b"b" * 20)
    os._exit(0)
os.waitpid(pid, 0)
subprocess.run(["/bin/true"], check=True, close_fds=True)
f.write(b"c" * 30)
"""
    ran, profile = profiled(tmp_path, *script(tmp_path, text))
    assert ran.code == 0, ran.err
    assert len(profile["run"]["processes"]) == 2
    file = file_of(profile, "shared.dat")
    assert (file["processes"], file["posix"]["writes"]["calls"]) == ("0-1", 3)
    assert file["posix"]["writes"]["bytes"] == 60
    assert file["posix"]["slowest"]["process"] in (0, 1)


STREAMS = """
#include <stdio.h>
int main(void) {
    char data[64] = {0};
    FILE* f = fopen("stream.txt", "w+");
    for (int k = 0; k < 5; ++k) fwrite(data, 8, 4, f);
    fprintf(f, "%d\\n", 12345);
    fputs("hello", f);
    fseek(f, 0, SEEK_SET);
    if (fread(data, 1, 64, f) != 64) return 1;
    return fclose(f);
}
"""


def compiled(folder: Path, text: str, *options: str, language: str = "c") -> Path:
    source = folder / f"program.{language}"
    source.write_text(text)
    program = folder / "program"
    compiler = shutil.which({"c": "cc", "cpp": "c++"}[language]) or "cc"
    subprocess.run([compiler, *options, "-o", program, source], check=True, timeout=60)
    return program


def test_streams(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, compiled(tmp_path, STREAMS, "-O2"))
    assert ran.code == 0, ran.err
    file = file_of(profile, "stream.txt")
    assert "posix" not in file
    stdio = file["stdio"]
    assert (stdio["opens"], stdio["seeks"]) == (1, 1)
    assert (stdio["writes"]["calls"], stdio["writes"]["bytes"]) == (7, 5 * 32 + 6 + 5)
    assert stdio["writes"]["consecutive"] == 6
    assert (stdio["reads"]["calls"], stdio["reads"]["bytes"]) == (1, 64)


OF_CPP = """
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>
int main() {
    {   // small ones go through the buffer of the stream, in pieces of its size
        std::ofstream out("small.dat", std::ios::binary);
        for (int k = 0; k < 5000; ++k) out.write("0123456789", 10);
    }
    {   // great ones past it
        const std::vector<char> piece(100000, 'x');
        std::ofstream out("great.dat", std::ios::binary);
        for (int k = 0; k < 4; ++k) out.write(piece.data(), 100000);
        out.seekp(4096);
        out.write("middle", 6);
        out.flush();
    }
    { std::ofstream("log.txt", std::ios::app) << "one line" << std::endl; }
    {
        std::ifstream in("small.dat", std::ios::binary);
        std::string all(50000, ' ');
        for (std::size_t at = 0; at < all.size(); at += 10)
            if (!in.read(&all[at], 10)) return 1;
        if (all.compare(49990, 10, "0123456789") != 0) return 2;
    }
    std::ifstream("small.dat", std::ios::binary);
    std::ofstream("untouched.dat");
}
"""


def test_streams_of_cpp(tmp_path: Path) -> None:
    """They are opened as the C library's are, and write and read by descriptor."""
    ran, profile = profiled(tmp_path, compiled(tmp_path, OF_CPP, "-O2", language="cpp"))
    assert ran.code == 0, ran.err
    small = file_of(profile, "small.dat")
    posix = small["posix"]
    writes, reads = posix["writes"], posix["reads"]
    assert (writes["bytes"], writes["highest_byte"]) == (50000, 49999)
    assert writes["consecutive"] == writes["calls"] - 1 > 0
    assert writes["order"]["sequential"] == writes["calls"] - 1
    assert sum(one["calls"] for one in writes["sizes"]) == writes["calls"]
    assert (reads["bytes"], reads["highest_byte"]) == (50000, 49999)
    assert reads["order"]["sequential"] == reads["calls"] - 1
    assert (posix["opens"], posix["append"], posix["read_write_switches"]) == (2, False, 1)
    assert 0 < posix["not_aligned_in_file"] < writes["calls"] + reads["calls"]
    # What was only opened is known of the stream alone.
    assert small["stdio"]["opens"] == 3
    assert "writes" not in small["stdio"]
    assert "reads" not in small["stdio"]
    great = file_of(profile, "great.dat")["posix"]
    assert (great["writes"]["calls"], great["writes"]["bytes"]) == (5, 400006)
    assert great["writes"]["frequent"] == [
        {"bytes": 100000, "calls": 4}, {"bytes": 6, "calls": 1},
    ]  # fmt: skip
    assert great["writes"]["order"]["sequential"] == 3
    assert (great["writes"]["highest_byte"], great["seeks"]) == (399999, 1)
    log = file_of(profile, "log.txt")["posix"]
    assert (log["append"], log["writes"]["bytes"]) == (True, 9)
    assert "posix" not in file_of(profile, "untouched.dat")


BOTH = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
    FILE* f = fopen("both.dat", "w+");
    if (fwrite("head", 1, 4, f) != 4 || fflush(f)) return 1;
    int fd = fileno(f);
    if (write(fd, "by descriptor", 13) != 13 || pwrite(fd, "H", 1, 0) != 1) return 2;
    int copy = dup(fd);
    if (write(copy, "copy", 4) != 4 || close(copy)) return 3;
    if (fsync(fd) || fclose(f)) return 4;
    f = fopen("copy.dat", "w");
    copy = dup(fileno(f));
    fclose(f);
    if (write(copy, "copy", 4) != 4 || close(copy)) return 5;
    f = fopen("synced.dat", "w");
    if (fwrite("data", 1, 4, f) != 4 || fflush(f) || fsync(fileno(f)) || fclose(f)) return 6;
    int others[2];  // the first gets the number of the stream that is closed past fclose()
    f = fopen("closed.dat", "w");
    if (close(fileno(f)) || pipe(others) || others[0] != fileno(f)) return 7;
    return write(others[0], "x", 1) == -1 ? 0 : 8;
}
"""


def test_a_stream_and_its_descriptor(tmp_path: Path) -> None:
    """Each byte counts once, in the layer of the call that moved it."""
    ran, profile = profiled(tmp_path, compiled(tmp_path, BOTH))
    assert ran.code == 0, ran.err
    both = file_of(profile, "both.dat")
    writes = both["posix"]["writes"]
    assert (writes["calls"], writes["bytes"], writes["highest_byte"]) == (3, 18, 20)
    assert (both["posix"]["opens"], both["posix"]["syncs"]) == (1, 1)
    stream = both["stdio"]
    assert (stream["opens"], stream["writes"]["calls"], stream["writes"]["bytes"]) == (1, 1, 4)
    assert file_of(profile, "copy.dat")["posix"]["writes"]["bytes"] == 4
    synced = file_of(profile, "synced.dat")
    assert "posix" not in synced
    assert (synced["stdio"]["syncs"], synced["stdio"]["writes"]["bytes"]) == (1, 4)
    assert "posix" not in file_of(profile, "closed.dat")


OTHER_NAMES = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
    const size_t asked = (size_t)atoi(words[1]);  // not known to the compiler
    char data[64] = {0};
    (void)count;
    FILE* f = fopen("names.dat", "w+");
    if (fwrite_unlocked(data, 8, asked, f) != asked) return 1;
    if (fputs_unlocked("abc", f) < 0 || fseek(f, 0, SEEK_SET)) return 2;
    if (fread(data, 4, asked, f) != asked) return 3;
    if (fread_unlocked(data, 1, asked, f) != asked) return 4;
    f = freopen("second.dat", "w", f);
    if (!f || fwrite(data, 1, 20, f) != 20) return 5;
    f = freopen64("second.dat", "a", f);
    if (!f || fwrite(data, 1, 7, f) != 7) return 6;
    if (freopen("none/third.dat", "w", f)) return 7;
    f = freopen("output.txt", "w", stdout);
    if (!f || fprintf(stdout, "%d;", 123) != 4) return 8;
    return fclose(f);
}
"""


@pytest.mark.parametrize("level", ["0", "2"])
def test_other_names_of_streams(tmp_path: Path, level: str) -> None:
    """Those of programs built with _FORTIFY_SOURCE, without locks, and opened once more."""
    options = ("-O2", "-U_FORTIFY_SOURCE", f"-D_FORTIFY_SOURCE={level}")
    program = compiled(tmp_path, OTHER_NAMES, *options)
    wanted = {"__fread_chk", "__fread_unlocked_chk"} if level == "2" else {"fread_unlocked"}
    assert all(name.encode() in program.read_bytes() for name in wanted)
    ran, profile = profiled(tmp_path, program, "8")
    assert ran.code == 0, ran.err
    first = file_of(profile, "names.dat")["stdio"]
    assert (first["writes"]["calls"], first["writes"]["bytes"]) == (2, 67)
    assert (first["reads"]["calls"], first["reads"]["bytes"]) == (2, 40)
    assert (first["reads"]["consecutive"], first["opens"]) == (1, 1)
    second = file_of(profile, "second.dat")["stdio"]
    assert (second["opens"], second["append"], second["writes"]["bytes"]) == (2, True, 27)
    assert file_of(profile, "third.dat")["stdio"]["failed_opens"] == 1
    assert file_of(profile, "output.txt")["stdio"]["writes"]["bytes"] == 4


VFORK = """
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    int fd = open("v.dat", O_CREAT | O_WRONLY, 0600);
    if (write(fd, "abc", 3) != 3) return 1;
    pid_t child = vfork();
    if (child == 0) { close(fd); _exit(0); }
    waitpid(child, 0, 0);
    int copy = dup(fd);
    close(fd);
    if (write(copy, "defg", 4) != 4) return 1;
    return close(copy);
}
"""


def test_a_vfork_and_a_copy(tmp_path: Path) -> None:
    """What a child in our memory closes stays open here, and so does a copy."""
    ran, profile = profiled(tmp_path, compiled(tmp_path, VFORK))
    assert ran.code == 0, ran.err
    writes = file_of(profile, "v.dat")["posix"]["writes"]
    assert (writes["calls"], writes["bytes"], writes["consecutive"]) == (2, 7, 1)


def test_what_hdf5_writes_stays_its_own(tmp_path: Path) -> None:
    text = """
import h5py
with h5py.File("a.h5", "w") as f:
    f["x"] = list(range(1000))
open("other.dat", "wb").write(b"12345")
"""
    _, profile = profiled(tmp_path, *script(tmp_path, text))
    assert "posix" not in file_of(profile, "a.h5")
    assert file_of(profile, "other.dat")["posix"]["writes"]["bytes"] == 5
    assert len(profile["run"]["processes"]) == 1
    _, profile = profiled(tmp_path, *script(tmp_path, text), options=("--layers", "hdf5,posix"))
    both = file_of(profile, "a.h5")
    assert both["hdf5"]["creates"] == 1
    assert both["posix"]["writes"]["bytes"] >= 8000
    _, profile = profiled(tmp_path, *script(tmp_path, text), options=("--layers", "posix"))
    assert "hdf5" not in file_of(profile, "a.h5")


@pytest.mark.parametrize(
    ("options", "what"),
    [(("-static",), "is linked statically"), (("-fsanitize=address",), "built with a sanitizer")],
)
def test_programs_that_take_no_preload(tmp_path: Path, options: tuple[str, ...], what: str) -> None:
    """They run as they are, and it is said."""
    program = compiled(tmp_path, STREAMS, *options)
    ran, profile = profiled(tmp_path, program, ASAN_OPTIONS="detect_leaks=0")
    assert ran.code == 0, ran.err
    assert what in ran.err
    assert "nothing was recorded" in ran.err
    assert "files" not in profile


def test_who_changes_its_user(tmp_path: Path) -> None:
    program = compiled(tmp_path, STREAMS)
    assert program_file.why_no_preload(program, {}) == ""
    program.chmod(0o4755)
    assert "changes its user" in program_file.why_no_preload(program, {})


def test_a_hook_that_cannot_load(tmp_path: Path) -> None:
    hook = tmp_path / "libtailrace_posix.so"
    hook.write_text("this is no library")
    assert "cannot be preloaded" in layers.why_not(hook)


def test_layers_that_are_none(tmp_path: Path) -> None:
    ran = tailrace("profile", "--layers", "posics", "--", "true", cwd=tmp_path)
    assert 'there is no layer "posics"' in ran.expect(ExitCode.OWN_FAILURE).err
    assert list(tmp_path.iterdir()) == []


def of_words(words: list[str], flavour: str) -> tuple[list[str], dict[str, str]]:
    return layers.with_preload(words, "/h.so", lambda _: flavour)


def test_launchers_do_not_get_it_themselves() -> None:
    words = ["mpiexec", "-n", "2", "p"]
    assert of_words(words, "openmpi") == (
        ["mpiexec", "-x", "LD_PRELOAD=/h.so", "-n", "2", "p"], {},
    )  # fmt: skip
    assert of_words(words, "mpich") == (
        ["mpiexec", "-genv", "LD_PRELOAD", "/h.so", "-n", "2", "p"], {},
    )  # fmt: skip
    told = ["-x", "LD_PRELOAD=/h.so"]
    assert of_words(["mpirun", "p", ":", "q"], "openmpi") == (
        ["mpirun", *told, "p", ":", *told, "q"], {},
    )  # fmt: skip
    expected: dict[str, Any] = {"LD_PRELOAD": "/h.so"}
    assert of_words(["./p"], "") == (["./p"], expected)


MAKES = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    char one[] = "one_XXXXXX", two[] = "two_XXXXXX.dat", none[] = "none";
    int first = mkstemp(one), second = mkostemps(two, 4, O_APPEND);
    if (write(first, one, 4) != 4 || write(second, two, 8) != 8) return 1;
    return close(first) + close(second) + (mkstemp(none) != -1);
}
"""


def test_files_that_get_their_name_from_the_call(tmp_path: Path) -> None:
    ran, profile = profiled(tmp_path, compiled(tmp_path, MAKES))
    assert ran.code == 0, ran.err
    found = {Path(file["path"]).name[:4]: file["posix"] for file in profile["files"]}
    assert set(found) == {"one_", "two_"}
    assert [found[name]["writes"]["bytes"] for name in ("one_", "two_")] == [4, 8]
    assert [found[name]["append"] for name in ("one_", "two_")] == [False, True]
    assert (found["one_"]["opens"], found["one_"]["close"]["end_s"] > 0) == (1, True)
