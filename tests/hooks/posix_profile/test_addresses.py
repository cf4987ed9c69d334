# SPDX-License-Identifier: Apache-2.0
"""Addresses that are none: a program that gives one is told so, with the hook as without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from profiled import file_of, profiled  # noqa: E402
from test_posix_profile import compiled  # noqa: E402

NOWHERE = """
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>
static FILE* told;
static void tell(const char* what, int count, long result) {
    fprintf(told, "%s %d: %ld, %d\\n", what, count, result, result < 0 ? errno : 0);
}
int main(int argc, char** argv) {
    (void)argc;
    void* places[3] = {0, mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), (void*)8};
    const int counts[3] = {1, -1, 0};
    int f = open("bad.dat", O_CREAT | O_RDWR | O_TRUNC, 0600);
    int to = open("to.dat", O_CREAT | O_RDWR | O_TRUNC, 0600), ends[2];
    told = fopen(argv[1], "w");
    if (!told || places[1] == MAP_FAILED || write(f, "12345678", 8) != 8 || pipe(ends)) return 1;
    for (int n = 0; n < 3; ++n) {
        void* place = places[n];
        for (int k = 0; k < 3; ++k) {
            tell("writev", counts[k], writev(f, place, counts[k]));
            tell("pwritev", counts[k], pwritev(f, place, counts[k], 2));
            tell("readv", counts[k], readv(f, place, counts[k]));
            tell("preadv", counts[k], preadv(f, place, counts[k], 2));
        }
        tell("write", 4, write(f, place, 4));
        tell("read", 4, pread(f, place, 4, 0));
        if (n == 0) continue;  // no address is an offset not given
        tell("copy", 4, copy_file_range(f, place, to, 0, 4, 0));
        tell("copy to", 4, copy_file_range(f, 0, to, place, 4, 0));
        tell("send", 4, sendfile(to, f, place, 4));
        tell("splice", 4, splice(ends[0], 0, to, place, 4, SPLICE_F_NONBLOCK));
        tell("splice", 0, splice(ends[0], 0, to, place, 0, SPLICE_F_NONBLOCK));
        tell("list", 1, lio_listio(77, place, 1, 0));
        tell("open", 0, open(place, O_WRONLY | O_CREAT, 0600));
    }
    return fclose(told);
}
"""


def test_results_stay(tmp_path: Path) -> None:
    program = compiled(tmp_path, NOWHERE)
    plain = subprocess.run([program, "plain.txt"], cwd=tmp_path, timeout=60)
    assert plain.returncode == 0
    copies = tmp_path / "put" / "closes"  # names of what is opened are looked at then
    copies.mkdir(parents=True)
    ran, profile = profiled(
        tmp_path, program, "told.txt",
        TAILRACE_CLOSES=str(copies), TAILRACE_CLOSES_OF=str(tmp_path),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    told = (tmp_path / "told.txt").read_text()
    assert told == (tmp_path / "plain.txt").read_text()
    assert "writev 1: -1, 14" in told
    assert "readv -1: -1, 22" in told
    file = file_of(profile, "bad.dat")["posix"]
    assert file["writes"]["bytes"] == 8
    assert file["writes"]["failed"] >= 12
    assert file["reads"]["failed"] >= 12
