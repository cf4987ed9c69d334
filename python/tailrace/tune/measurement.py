# SPDX-License-Identifier: Apache-2.0
"""One run of an arm: on a machine at rest, in a fresh folder, from its start until every file that
it has written is on the disk, of whatever node."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import apply as applying
from tailrace.intent import layers, plugin, record
from tailrace.intent.apply import Line
from tailrace.run.quiet import settle
from tailrace.sandbox import processes
from tailrace.sandbox.confinement import Confinement
from tailrace.sandbox.ground import Ground, Left
from tailrace.sandbox.outside_files import Outside
from tailrace.sandbox.supervision import Job, Outcome, supervised
from tailrace.tune import closed_files, delivered_reads, nodes, relocation
from tailrace.tune.content import Result
from tailrace.tune.inputs import Inputs
from tailrace.units import plural

Document = dict[str, Any]
_sync_limit_s = 600.0
_patience_s, _brief_s = 30.0, 1.0  # until the machine is at rest; after it was not once
_nothing: Document = {
    "schema": "tailrace-plan/1", "origin": {"version": "tune"}, "entries": [],
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What all runs have in common. home: the user's working folder; root: ours. confined: what
    they may write to; None: anything."""

    command: list[str]
    home: Path
    root: Path
    stdin: Path | None = None
    is_cold: bool = False
    least_free_bytes: int = 32 << 20
    confined: Confinement | None = None

    def job(
        self, words: list[str], environment: Mapping[str, str], prints: Path,
        limit_s: float | None, ground: Ground, own: Sequence[Path],
    ) -> Job:  # fmt: skip
        """own: folders of ours that the hooks of this run write to."""
        writable = None
        if self.confined is not None:
            environment = {**self.confined.environment, **environment}
            writable = self.confined.writable([*ground.places(), prints, *own])
            self.confined.begin()
        return Job(
            words, environment, ground.folder, prints, limit_s, self.least_free_bytes, self.stdin,
            writable, self.root / processes.session,
        )  # fmt: skip


@dataclass
class Measured:
    """elapsed_s: run_s and sync_s together. whole_s: with what was made ready before, and put away
    after it."""

    elapsed_s: float
    run_s: float
    sync_s: float
    outcome: Outcome
    lines: list[Line] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)
    result: Result | None = None
    left: Left | None = None
    delivered: list[Document] = field(default_factory=list)
    unseen: int = 0
    notes: list[str] = field(default_factory=list)
    whole_s: float = 0.0

    def as_proof(self) -> Document:
        """What is compared beside files and print, of a run that was kept."""
        return {
            "code": self.outcome.code,
            "delivered": self.delivered,
            "unseen": self.unseen,
            "notes": self.notes,
        }

    def as_fact(self) -> Document:
        return {
            "elapsed_s": self.elapsed_s,
            "whole_s": self.whole_s,
            "run_s": self.run_s,
            "sync_s": self.sync_s,
            "code": self.outcome.code,
            "stopped": self.outcome.stopped,
            "lines": [asdict(line) for line in self.lines],
        }


class Runner:
    """Makes runs, one after the other."""

    def __init__(self, setting: Setting, ground: Ground) -> None:
        self._setting, self._ground = setting, ground
        self.outside = Outside([], setting.root)
        self.command, self.least_free_bytes = setting.command, setting.least_free_bytes
        self.inputs = Inputs(ground, setting.home, is_cold=setting.is_cold)
        self._not_at_rest = 0
        self._not_synced = ""
        # What the ranks of several nodes are; where they share one, this process syncs for them.
        self.programs_on_nodes: frozenset[str] = frozenset()

    def run(
        self, name: str, plan: Document | None, limit_s: float | None, keep: bool = False,
        plain: bool = False,
    ) -> Measured:  # fmt: skip
        """A run of the command as it is (plan None), or with a plan.

        Args:
            keep: what it leaves stays, under `name`, to be compared, and what it reads is hashed:
                such a run is not for its time.
            plain: but nothing of ours is in it: no connector and no hooks.
        """
        setting, ground = self._setting, self._ground
        began_s = time.monotonic()
        ground.begin()
        self.outside.put_back()
        self._not_at_rest += not settle(_brief_s if self._not_at_rest else _patience_s)
        self.inputs.prepare()
        with Application(setting, ground, plan, name, hashes=keep and not plain) as application:
            outcome = supervised(
                setting.job(
                    application.words, application.environment, self.prints(name), limit_s, ground,
                    [application.folder],
                )
            )  # fmt: skip
            files = [*ground.written(), *self.outside.written()]
            began = time.monotonic()
            sync(files)
            if self.programs_on_nodes and not (outcome.code or outcome.stopped):
                self._sync_nodes(name, files)
            sync_s = time.monotonic() - began
            noted = application.noted()
            left = ground.end(name)
            noted.notes += application.closes(left)
        left.written.extend(self.outside.end(left.folder))
        strays_are_an_error(left)
        found = Measured(
            outcome.elapsed_s + sync_s, outcome.elapsed_s, sync_s, outcome, noted.lines,
            left.altered, delivered=noted.delivered, unseen=noted.dropped, notes=noted.notes,
        )  # fmt: skip
        if keep:
            found.left = left
            found.result = self.result(name, left, found.as_proof())
        else:
            shutil.rmtree(left.folder, ignore_errors=True)
            if not outcome.code and not outcome.stopped:
                shutil.rmtree(self.prints(name), ignore_errors=True)
        found.whole_s = time.monotonic() - began_s
        return found

    def _sync_nodes(self, name: str, files: Sequence[Path]) -> None:
        """Of several nodes each has a page cache: the start of the launcher counts in both arms."""
        setting, ground = self._setting, self._ground
        words = nodes.words_to_sync(
            relocation.words_in(setting.command, setting.home, ground.folder),
            self.programs_on_nodes,
            nodes.file_systems(files, ground.folder),
        )
        if not words:
            self._not_synced = "it is not known which words of the command are the program"
            return
        prints = self.prints(name) / "sync"
        ended = supervised(setting.job(words, {}, prints, _sync_limit_s, ground, []))
        if ended.code or ended.stopped:
            self._not_synced = f"{' '.join(words)}: {ended.words}"

    def result(self, name: str, left: Left, noted: Document) -> Result:
        """What a run that was kept has left, and what it was seen to do."""
        files = {one: left.folder / one for one in left.written}
        return Result(
            {one: path for one, path in files.items() if path.is_file()},
            tuple(left.removed),
            (self.prints(name) / "stdout").read_bytes(),
            noted["code"],
            delivered_reads.reads_of(noted["delivered"]),
            noted["unseen"],
            tuple(noted["notes"]),
        )

    @property
    def notes(self) -> list[str]:
        """What was not as the runs were to find it."""
        found = self.inputs.notes
        if self._not_synced:
            found.append(f"files were synced from this node only: {self._not_synced}")
        if self._not_at_rest:
            found.append(
                f"the machine was not quiet before {plural(self._not_at_rest, 'run')}: others "
                "write to its disks all the time, or the system does not tell"
            )
        return found

    def prints(self, name: str) -> Path:
        """Where what a run prints is kept."""
        return self._setting.root / "prints" / name

    def last_words(self, name: str, most: int = 6) -> str:
        """The end of what a run printed to standard error."""
        text = (self.prints(name) / "stderr").read_bytes().decode("utf-8", "backslashreplace")
        lines = [line for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-most:])


@dataclass
class Noted:
    """What the processes of a run have noted. lines: what became of each setting. dropped: what
    found no place. notes: what was not looked at."""

    lines: list[Line] = field(default_factory=list)
    delivered: list[Document] = field(default_factory=list)
    dropped: int = 0
    notes: list[str] = field(default_factory=list)


class Application:
    """A command with a plan, or without; the plan's files are gone afterwards."""

    def __init__(
        self, setting: Setting, ground: Ground, plan: Document | None, name: str, *, hashes: bool
    ) -> None:
        """hashes: what it reads is hashed, which takes the connector also where nothing is set, and
        what it writes is copied at each close."""
        self.words = relocation.words_in(setting.command, setting.home, ground.folder)
        self.environment: dict[str, str] = {applying.hash_reads: "1" if hashes else "0"}
        self._homes = [(place, setting.home) for place in ground.places()]
        # A file of --link is read where the user has it, and known by that path.
        places = dict.fromkeys([*ground.places(), setting.home])
        self._plan = relocation.plan_in(plan or _nothing, setting.home, list(places))
        self._lines: list[Line] = []
        self.folder = setting.root / "applied" / name
        self._spools, self._closes = self.folder / "spools", self.folder / "closes"
        self._working = ground.folder
        self._notes: list[str] = []
        self._preloads: list[str] = []
        self._is_loaded = hashes or bool(self._plan.get("entries"))
        shutil.rmtree(self.folder, ignore_errors=True)
        if plan is not None or hashes:
            self._prepare(self._plan)
        if hashes:
            self._see_closes()
        if self._preloads:
            self.words, more = layers.with_preload(self.words, layers.joined(self._preloads))
            self.words = record.with_environment(self.words, list(more))
            self.environment |= more

    def __enter__(self) -> Application:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def noted(self) -> Noted:
        """To be asked when the run is over."""
        if not self._is_loaded:
            return Noted(self._lines)
        outcomes = applying.outcomes(self._spools)
        found = applying.lines_of(self._plan, outcomes)
        # An entry stands there once for each place that its files may lie in: one of them is met.
        met = {(line.rule, line.setting) for line in found if line.became != "not met"}
        found = [
            line for line in found
            if line.became != "not met" or (line.rule, line.setting) not in met
        ]  # fmt: skip
        for line in found:
            line.places = list(
                dict.fromkeys(relocation.at_home(place, self._homes) for place in line.places)
            )
        given = delivered_reads.at_home(outcomes["delivered"], self._homes)
        return Noted(self._lines + found, given, outcomes["dropped"])

    def _prepare(self, plan: Document) -> None:
        whole, _ = applying.without_collective(plan, "")
        added, self._lines = applying.variables(whole)
        self.environment |= added
        if self._is_loaded:
            self._spools.mkdir(parents=True)
            file = self.folder / "plan.compiled"
            file.write_bytes(applying.compiled(whole, "the plan"))
            self.environment |= plugin.environment_to_apply(plugin.find(command="tune"), file)
            self.environment["TAILRACE_PROFILE_DIR"] = str(self._spools)
            self._preloads, why_not = layers.to_set_hints(whole, self.words)
            if why_not:
                self._notes.append(f"{applying.only_by_hdf5}: {why_not}")
        self.words = record.with_environment(self.words, list(self.environment))

    def _see_closes(self) -> None:
        hook, why_not = closed_files.preload(self.words)
        if why_not:
            self._notes.append(closed_files.not_seen(why_not))
            return
        self._closes.mkdir(parents=True)
        added = closed_files.environment(self._closes, self._working)
        self._preloads.append(hook)
        self.words = record.with_environment(self.words, list(added))
        self.environment |= added

    def closes(self, left: Left) -> list[str]:
        """Puts copies of what was closed in between beside what the run has left; notes."""
        if self._closes.is_dir():
            return self._notes + closed_files.keep(self._closes, self._working, left)
        return self._notes


def strays_are_an_error(left: Left) -> None:
    """A program that writes beside the place that a link leads to cannot be measured so."""
    if left.strays:
        raise TailraceError(
            "the program writes beside an input that is behind a link: "
            + ", ".join(left.strays[:3]),
            where="tune", code=ExitCode.RUN_FAILED,
            hint="--in-place runs it in its own folder, with copies kept",
        )  # fmt: skip


def sync(files: Iterable[Path]) -> None:
    """Files and their folders are on the disk when this returns."""
    folders = set()
    for path in files:
        _sync(path, os.O_RDONLY)
        folders.add(path.parent)
    for folder in folders:
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a link may lead to a pipe or device
            return
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError:  # it is gone, or a link to nowhere
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
