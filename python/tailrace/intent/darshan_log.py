# SPDX-License-Identifier: Apache-2.0
"""A Darshan log through PyDarshan's library: records as plain Python numbers.

The library tells about damage on stderr only and returns what it could read; so stderr is watched
while it works. It can also crash: `darshan_import` therefore reads in a process of its own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent.given_files import LOG, check_it_is_a_file

Json = dict[str, Any]

_cut_short = "unable to read compressed data from file"
_torn = "copy it anew, or wait until the job has ended; --partial takes what can be read"


@dataclass
class Record:
    """One record of a module: `rank` is -1 where Darshan joined the records of all ranks."""

    id: int
    rank: int
    counters: dict[str, int]
    times: dict[str, float]
    extra: Json = field(default_factory=dict)

    def count(self, name: str) -> int | None:
        """A counter; None where this version has not got it or did not count."""
        value = self.counters.get(name, -1)
        return value if value >= 0 else None

    def time(self, name: str) -> float | None:
        """Seconds; None where nothing was measured."""
        value = self.times.get(name, 0.0)
        return value if value > 0 else None

    def span(self, stem: str) -> Json | None:
        """`<stem>_START_TIMESTAMP` to `<stem>_END_TIMESTAMP`; None where it never happened."""
        start = self.times.get(f"{stem}_START_TIMESTAMP", 0.0)
        end = self.times.get(f"{stem}_END_TIMESTAMP", 0.0)
        return {"start_s": max(start, 0.0), "end_s": end} if end > 0 else None


class StderrWatch:
    """What the library has written to stderr since the last look."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        self._seen = 0
        os.dup2(self._file.fileno(), 2)

    def news(self) -> str:
        """The complaints since the last look, in one line."""
        size = os.fstat(self._file.fileno()).st_size
        text = os.pread(self._file.fileno(), size - self._seen, self._seen)
        self._seen = size
        lines = text.decode("utf-8", "replace").splitlines()
        return "; ".join(line.removeprefix("Error: ") for line in lines if "rror" in line)


class DarshanLog:
    """An open log. `damage` maps what could not be read to the library's words.

    `partial`: what is damaged is left out, and the rest is used.
    """

    def __init__(self, path: Path, watch: StderrWatch, *, partial: bool = False) -> None:
        import darshan.backend.cffi_backend as backend

        self.path = path
        self.damage: dict[str, str] = {}
        self._backend: Any = backend
        self._watch = watch
        self._partial = partial
        check_it_is_a_file(path, LOG)
        watch.news()
        self._log = backend.log_open(str(path))
        if self._log["handle"] == backend.ffi.NULL:
            raise TailraceError(
                f"this is no Darshan log: {watch.news() or 'it cannot be opened'}",
                where=str(path),
                hint=LOG.remedy,
            )
        self.job: Json = self._read("its job record", self._job, {})
        self.command: str = self._read("its command line", self._exe, "")
        self.mounts: list[tuple[str, str]] = self._read("its mounts", self._mounts, [])
        self.names: dict[int, str] = self._read("the names of its records", self._names, {})
        self.modules: dict[str, Json] = self._read("its modules", self._modules, {})
        if not self.job.get("nprocs") or "the names of its records" in self.damage:
            raise TailraceError(
                f"the log is truncated or damaged: {'; '.join(self.damage.values())}",
                where=str(path),
                hint="copy it anew, or wait until the job has ended",
            )

    def records(self, module: str) -> Iterator[Record]:
        """The records of a module with integer and floating counters."""
        for raw in self.raw_records(module):
            yield Record(
                int(raw["id"]),
                int(raw["rank"]),
                {name: int(value) for name, value in raw["counters"].items()},
                {name: float(value) for name, value in raw["fcounters"].items()},
                {"file_rec_id": int(raw.get("file_rec_id", 0))},
            )

    def raw_records(self, module: str) -> Iterator[Json]:
        """The records of a module as PyDarshan gives them."""
        if module not in self.modules:
            return
        if self._partial and (damaged := self._damaged_bytes(module)):
            self.damage[module] = f"{damaged}; its records are left out"
            return
        self._watch.news()
        while True:
            try:
                raw = self._backend.log_get_record(self._log, module, "dict")
            except (ValueError, UnicodeDecodeError) as error:
                self.damage[module] = str(error)
                return
            if raw is None:
                break
            yield raw
        if complaint := self._watch.news():
            self.damage[module] = complaint

    def _damaged_bytes(self, module: str) -> str:
        """The library's words where bytes of a module are wrong, and not only missing at its end.

        What was made of them before that was seen are numbers like any others, so all records are
        looked at before the first is used, with a handle of their own: the one that met damage
        reads nothing any more.
        """
        util, memory = self._backend.libdutil, self._backend.ffi
        log = self._backend.log_open(str(self.path))
        self._watch.news()
        record = memory.new("void **")
        while util.darshan_log_get_record(log["handle"], self.modules[module]["idx"], record) >= 1:
            util.darshan_free(record[0])
            record[0] = memory.NULL
        complaint = self._watch.news()
        self._backend.log_close(log)
        return "" if _cut_short in complaint else complaint

    def module_words(self) -> list[str]:
        """Names of the modules; "!" before one whose records did not all find room."""
        return [f"{'!' if found['partial_flag'] else ''}{name}" for name, found in
                sorted(self.modules.items())]  # fmt: skip

    def check_whole(self, *, partial: bool) -> list[str]:
        """What is damaged, in words.

        Raises:
            TailraceError: something is, and `partial` does not allow it.
        """
        words = [f"{what} could not be read to the end: {why}" for what, why in self.damage.items()]
        if words and not partial:
            raise TailraceError(
                f"the log is truncated or damaged: {words[0]}",
                where=str(self.path),
                hint=_torn,
            )
        return words

    def _read(self, what: str, how: Any, otherwise: Any) -> Any:
        self._watch.news()
        try:
            value = how()
        except (UnicodeDecodeError, ValueError) as error:
            self.damage[what] = f"{what}: {error}"
            return otherwise
        if complaint := self._watch.news():
            self.damage[what] = complaint
            return otherwise
        return value

    def _job(self) -> Json:
        job: Json = self._backend.log_get_job(self._log)
        return job

    # PyDarshan takes texts in UTF-8 only, and names are bytes: these are read as it reads them.
    def _exe(self) -> str:
        memory = self._backend.ffi
        words = memory.new("char[]", 4096)
        self._backend.libdutil.darshan_log_get_exe(self._log["handle"], words)
        return _text(memory.string(words))

    def _mounts(self) -> list[tuple[str, str]]:
        library, memory = self._backend.libdutil, self._backend.ffi
        mounts, count = memory.new("struct darshan_mnt_info **"), memory.new("int *")
        library.darshan_log_get_mounts(self._log["handle"], mounts, count)
        found = [
            (_text(memory.string(one.mnt_path)), _text(memory.string(one.mnt_type)))
            for one in (mounts[0][i] for i in range(count[0]))
        ]
        library.darshan_free(mounts[0])
        return found

    def _modules(self) -> dict[str, Json]:
        return dict(self._backend.log_get_modules(self._log))

    def _names(self) -> dict[int, str]:
        library, memory = self._backend.libdutil, self._backend.ffi
        records, count = memory.new("struct darshan_name_record **"), memory.new("int *")
        library.darshan_log_get_name_records(self._log["handle"], records, count)
        found: dict[int, str] = {}
        for one in (records[0][i] for i in range(count[0])):
            found[int(one.id)] = _text(memory.string(one.name))
            library.darshan_free(one.name)
        library.darshan_free(records[0])
        return found


def _text(name: bytes) -> str:
    """Bytes that are no UTF-8 as backslash, x and their value, so that names stay different."""
    return name.decode("utf-8", "backslashreplace")


def no_darshan() -> TailraceError:
    """PyDarshan is not installed."""
    return TailraceError(
        "a Darshan log needs PyDarshan, and it is not installed",
        hint="pip install darshan",
        code=ExitCode.CAPABILITY_MISSING,
    )
