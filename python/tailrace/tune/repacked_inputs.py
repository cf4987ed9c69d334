# SPDX-License-Identifier: Apache-2.0
"""The arm of a program that reads files which lie badly for it: a plan cannot give them other
chunks, so copies of them are repacked for its reads, and it runs on these."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tailrace import statistics
from tailrace.errors import TailraceError
from tailrace.repack import Options, Report, repack
from tailrace.repack.publish import part_of
from tailrace.repack.reading import BadlyRead
from tailrace.sandbox.ledger import Ledger
from tailrace.sandbox.scratch import Scratch
from tailrace.statistics import Comparison
from tailrace.tune import content, pairs
from tailrace.tune.arms import Arms
from tailrace.tune.budget import BudgetEnded
from tailrace.tune.content import ByItself
from tailrace.tune.pairs import Misbehaved, Times, Trial
from tailrace.tune.rules_of_plan import added

Document = dict[str, Any]

_most_files = 16  # those that save the most


@dataclass
class Proposed:
    """names: files below the working folder that lie badly. beyond: others, by their paths.
    saved_s: of each run, by the estimate, if those of `names` were repacked; None: not known.
    run_s: which a run takes without; None: as long as the one that was recorded."""

    names: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    further: int = 0
    saved_s: float | None = None
    run_s: float | None = None

    def can_be_measured(self, least_s: float) -> bool:
        """What it saves; what is not known is tried."""
        return self.saved_s is None or self.saved_s >= least_s


@dataclass
class Arm:
    """What came of it. files: names in the working folder, with what was changed of each, and
    where the repacked copy is. became: faster, no_difference, slower, no_verdict, not_proven or
    not_tried.
    estimated: how many times as fast a run is with all of them, and a plan that is kept beside."""

    files: list[Document] = field(default_factory=list)
    became: str = "not_tried"
    reason: str = ""
    repack_s: float = 0.0
    with_plan: bool = False
    compared: Comparison | None = None
    times: Times = field(default_factory=Times)
    report: content.Report | None = None
    estimated: float | None = None

    @property
    def copies(self) -> dict[str, Path]:
        """By the name of the file."""
        return {one["name"]: Path(one["copy"]) for one in self.files}

    @property
    def waits(self) -> bool:
        """Whether it is ready to be measured and was not."""
        return self.became == "not_tried" and not self.reason

    @property
    def saved_s(self) -> float | None:
        """Of each run."""
        if not self.times.one:
            return None
        return statistics.median(self.times.one) - statistics.median(self.times.other)

    @property
    def saved_s_per_read(self) -> float | None:
        """Of each read that was compared."""
        reads = self.report.reads_compared if self.report else 0
        return self.saved_s / reads if self.saved_s is not None and reads else None

    @property
    def pays_after(self) -> int | None:
        """Runs; None: never, or it was not measured."""
        saved = self.saved_s
        if self.became != "faster" or saved is None or saved <= 0:
            return None
        return math.ceil(self.repack_s / saved)

    def as_json(self, home: Path, profile: str) -> Document:
        """For result.json."""
        speed = None
        if self.compared is not None:
            speed = {**pairs.speedup(self.compared, self.times), "confirmed": True}
        return {
            "became": self.became,
            "reason": self.reason,
            "with_plan": self.with_plan,
            "files": [
                {
                    "path": str(home / one["name"]),
                    "datasets": one["datasets"],
                    "repack_s": one["repack_s"],
                    "command": command(str(home / one["name"]), profile),
                }
                for one in self.files
            ],
            "repack_s": self.repack_s,
            "saved_s": self.saved_s,
            "saved_s_per_read": self.saved_s_per_read,
            "pays_after_runs": self.pays_after,
            "speedup": speed,
            "estimated": self.estimated,
            "pairs_s": self.times.pairs,
            "content": asdict(self.report) if self.report else None,
        }


def command(file: str, profile: str) -> str:
    """What repacks a file for the reads of a profile, for a shell. It follows a link, by whose
    name the profile knows the file."""
    words = ["tailrace", "repack", file, "--profile", profile]
    if file.startswith("/") and os.path.realpath(file) != file:
        words += ["--plan-path", file]
    return shlex.join(words)


def proposed(badly: Sequence[BadlyRead], home: Path) -> Proposed:
    """Of files that lie badly those that can be tried."""
    found = Proposed(saved_s=0.0)
    for one in badly:
        if not one.path.startswith(f"{home}/"):
            found.beyond.append(one.path)
        elif len(found.names) == _most_files:
            found.further += 1
        else:
            found.names.append(os.path.relpath(one.path, home))
            found.saved_s = added(found.saved_s, one.saved_s)
    return found


@dataclass(frozen=True)
class Means:
    """What the arm needs of the tune. plan: what was kept, None: nothing was."""

    arms: Arms
    ground: Scratch
    home: Path
    profile: Document
    plan: Document | None
    known: ByItself
    say: Callable[[str], None]


def prepared(names: list[str], ledger: Ledger, means: Means) -> tuple[Arm, list[str]]:
    """Repacks copies and proves that the program gets the same of them; the arm, which waits for
    its times then, and notes."""
    made = ledger.known("repacked")
    if made is None or not all(Path(one["copy"]).is_file() for one in made["files"]):
        made = _copied(names, means)
        ledger.note("repacked", made)
    arm = Arm(made["files"], with_plan=means.plan is not None)
    arm.repack_s = sum(one["repack_s"] for one in arm.files)
    if not arm.files:
        arm.reason = "no file was repacked"
        return arm, made["notes"]
    checked = means.arms.check("check repacked", means.plan, means.known, arm.copies)
    arm.report = checked.report
    if checked.problem or checked.report is None or not checked.report.equal:
        arm.became = "not_proven"
        problem = checked.problem.replace("with it", "on the copies", 1)
        arm.reason = problem or "the program reads and leaves nothing that could be compared"
    return arm, made["notes"]


def measure(arm: Arm, arms: Arms, plan: Document | None) -> None:
    """By itself: pairs of its own, with the plan where there is one."""
    trial = Trial()
    try:
        trial.found, trial.times = arms.on_copies("repacked", plan, arm.copies)
    except Misbehaved as error:
        trial.wrong = error
    except BudgetEnded:
        arm.became, arm.reason = "no_verdict", "the budget ended: --budget TIME gives it more"
        return
    take(arm, trial)


def take(arm: Arm, trial: Trial) -> None:
    """What its runs have come to."""
    if trial.wrong is not None:
        arm.became, arm.reason = "not_proven", str(trial.wrong)
        return
    arm.compared, arm.times = trial.outcome()
    arm.became, arm.reason = _became(arm.compared)
    if [_state(path) for path in arm.copies.values()] != [one["state"] for one in arm.files]:
        arm.became, arm.reason = "not_proven", "the program has written to its inputs"


def _became(compared: Comparison) -> tuple[str, str]:
    """And why, where the times do not say it."""
    if compared.verdict in {"faster", "slower"}:
        return compared.verdict, ""
    if compared.verdict == "no_difference_beyond_noise":
        return "no_difference", ""
    return "no_verdict", compared.reason


def _state(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _copied(names: list[str], means: Means) -> Document:
    """Repacks copies for the reads of the profile: what each has become, and why some were not."""
    facts, notes = [], []
    a_byte_s = 0.0  # by the files before
    for name in names:
        source = means.ground.source_of(name)
        if source is None:
            notes.append(f"{name} was not repacked: it is in a folder that is a link")
            continue
        out = means.ground.repacked / name
        out.parent.mkdir(parents=True, exist_ok=True)
        for old in (out, part_of(out)):  # of a tune that was killed
            old.unlink(missing_ok=True)
        bytes_of_it = source.stat().st_size
        means.arms.check_time(a_byte_s * bytes_of_it)
        means.say(f"repacking a copy of {name} for its reads")
        try:
            report = repack(
                source, None, out,
                Options(profile=means.profile, name=str(means.home / name), priced=False),
            )  # fmt: skip
        except TailraceError as error:
            notes.append(f"{name} was not repacked: {error.what}")
            continue
        a_byte_s = max(a_byte_s, report.elapsed_s / max(bytes_of_it, 1))
        if not report.done:
            notes.append(f"{name} was not repacked: no chunks are much better for its reads")
            continue
        facts.append(_fact(name, out, report))
    return {"files": facts, "notes": notes}


def _fact(name: str, out: Path, report: Report) -> Document:
    return {
        "name": name,
        "copy": str(out),
        "state": _state(out),
        "repack_s": report.elapsed_s,
        "datasets": [
            {
                "path": change.dataset.path,
                "from": list(change.dataset.storage.chunk),
                "to": list(change.new.chunk),
                "why": ", ".join(change.why),
            }
            for change in report.changes
        ],
    }
