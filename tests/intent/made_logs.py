# SPDX-License-Identifier: Apache-2.0
"""Darshan logs with records of one's own: written by the library that PyDarshan brings."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import cffi
import darshan.backend.cffi_backend as backend

SHARED = -1  # the rank of a record that Darshan joined from all ranks

_declarations = """
struct darshan_job {
    int64_t uid, start_time_sec, start_time_nsec, end_time_sec, end_time_nsec, nprocs, jobid;
    char metadata[1024];
};
struct mount { char type[3015]; char path[3015]; };
struct name { uint64_t id; char text[256]; };
struct names {
    struct name *record;
    void *table, *previous, *next, *previous_of_hash, *next_of_hash, *key;
    unsigned key_length, hash;
};
void *darshan_log_create(const char *, int compression, int partial_modules);
int darshan_log_put_job(void *, struct darshan_job *);
int darshan_log_put_exe(void *, const char *);
int darshan_log_put_mounts(void *, struct mount *, int);
int darshan_log_put_namehash(void *, struct names *);
int darshan_log_put_mod(void *, int module, void *, int bytes, int version);
void darshan_log_close(void *);
"""
_ids = {"POSIX": 1, "MPI-IO": 2, "H5F": 3, "H5D": 4, "PNETCDF_FILE": 5, "PNETCDF_VAR": 6,
        "STDIO": 9, "APMPI": 14, "DFS": 16, "DAOS": 17}  # fmt: skip
_versions = {"POSIX": 4, "MPI-IO": 3, "H5F": 3, "H5D": 2, "PNETCDF_FILE": 3, "PNETCDF_VAR": 1,
             "STDIO": 2, "APMPI": 1, "DFS": 1, "DAOS": 1}  # fmt: skip


def record(
    module: str, identity: int, rank: int, values: Mapping[str, float], file: int | None = None
) -> bytes:
    """One record; counters by their names without the module, all others are 0."""
    counters, times = backend.counter_names(module), backend.fcounter_names(module)
    stem = "MPIIO" if module == "MPI-IO" else module
    known = {f"{stem}_{name}": value for name, value in values.items()}
    assert set(known) <= {*counters, *times}, set(known) - {*counters, *times}
    return (
        struct.pack("<Qq", identity, rank)
        + (b"" if file is None else struct.pack("<Q", file))
        + struct.pack(f"<{len(counters)}q", *(int(known.get(name, 0)) for name in counters))
        + struct.pack(f"<{len(times)}d", *(known.get(name, 0.0) for name in times))
    )


def made_log(
    path: Path,
    names: Mapping[int, str],
    records: Mapping[str, Sequence[bytes]],
    partial: Sequence[str] = (),
    *,
    ranks: int = 4,
    file_system: str = "ext4",
) -> Path:
    """A log of a run of ten seconds; `partial` are the modules whose memory was too small.

    Names may hold bytes that are no UTF-8, as os.fsdecode makes text of them.
    """
    ffi = cffi.FFI()
    ffi.cdef(_declarations)
    folder = Path(backend.__file__).parents[2] / "darshan.libs"
    library = ffi.dlopen(str(next(folder.glob("libdarshan-util*"))))
    flags = sum(1 << _ids[module] for module in partial)
    log = library.darshan_log_create(str(path).encode(), 0, flags)
    assert log != ffi.NULL
    job = {"start_time_sec": 1700000000, "end_time_sec": 1700000010, "nprocs": ranks}
    mounts = ffi.new("struct mount[1]", [{"type": file_system.encode(), "path": b"/"}])
    texts = [ffi.new("struct name *", {"id": key, "text": text.encode(errors="surrogateescape")})
             for key, text in names.items()]  # fmt: skip
    chain = [ffi.new("struct names *", {"record": text}) for text in texts]
    for one, following in pairwise(chain):
        one.next = following
    done = [
        library.darshan_log_put_job(log, ffi.new("struct darshan_job *", job)),
        library.darshan_log_put_exe(log, b"./program input"),
        library.darshan_log_put_mounts(log, mounts, 1),
        library.darshan_log_put_namehash(log, chain[0]),
    ]
    for module, bodies in sorted(records.items(), key=lambda item: _ids[item[0]]):
        data = b"".join(bodies)
        buffer = ffi.from_buffer(data)
        done.append(library.darshan_log_put_mod(log, _ids[module], buffer, len(data),
                                                _versions[module]))  # fmt: skip
    library.darshan_log_close(log)
    assert not any(done)
    return path
