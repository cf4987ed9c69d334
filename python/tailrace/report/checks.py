# SPDX-License-Identifier: Apache-2.0
"""What a reader of a section has to know: verification, failures, what was not measured."""

from __future__ import annotations

from collections import Counter

from tailrace.report import numbers
from tailrace.report.model import Notice
from tailrace.report.view import View
from tailrace.units import grouped, plural

_most_shown = 5


def verification(view: View) -> list[Notice]:
    """A line for each verdict, and the first wrong elements of the first failed check."""
    if view.full["file"]["parts"] == [] and view.typical.ok:
        return []  # a run without a file: nothing is there to be verified
    counts = Counter(record.verification for record in view.group.records if record.ok)
    bad = [record for record in view.group.records if record.verification == "failed"]
    found = []
    if counts["passed"]:
        words = f"{_repetitions(counts['passed'])} verified: every element is as it was written."
        found.append(Notice("good", words))
    if bad:
        found.append(
            Notice("bad", f"{_repetitions(len(bad))} with wrong elements. {_first(bad[0].full())}")
        )
    if counts["not_run"]:
        words = f"{_repetitions(counts['not_run'])} not verified (input `verify` asks for it)."
        found.append(Notice("info", words))
    return [*found, *_reads(view)]


def _reads(view: View) -> list[Notice]:
    """Patterns of reading in the typical repetition; older Records have none."""
    found = []
    for one in view.full.get("reads", []):
        rate = numbers.rate(one["rate_bytes_per_s"]) if one["rate_bytes_per_s"] else "no time"
        words = (
            f"Read in the pattern {one['pattern']}: {rate} in "
            f"{plural(one['requests'], 'request')}, cache {one['cache']} "
            f"({one['cache_evidence']}); {grouped(one['elements'])} elements checked, "
            f"{grouped(one['wrong'])} wrong."
        )
        found.append(Notice("bad" if one["wrong"] else "info", words))
    return found


def _first(record: dict) -> str:  # type: ignore[type-arg]
    check = record["verification"]
    said = [
        f"{one['object']}[{', '.join(map(str, one['index']))}] is {one['found']}, not "
        f"{one['expected']}"
        for one in check["first"][:_most_shown]
    ]
    return f"{grouped(check['wrong'] or 0)} of {grouped(check['elements'] or 0)}: {'; '.join(said)}"


def _repetitions(count: int) -> str:
    return plural(count, "repetition")


def notices(view: View) -> list[Notice]:
    """Of one section."""
    group, found = view.group, []
    if not group.timed:
        found.append(Notice("warning", _nothing_left(view)))
    elif len(group.timed) < 6:
        found.append(
            Notice(
                "info",
                f"With {_repetitions(len(group.timed))} there is no 95 % interval of the median: "
                "six are the fewest that give one.",
            )
        )
    for words, count in Counter(record.error or "" for record in group.failed).most_common(3):
        found.append(Notice("bad", f"{_repetitions(count)} failed. {words}"))
    if not view.full["writers"]["measured"] and view.full["file"]["parts"]:
        found.append(Notice("info", "Who wrote was not measured in this run."))
    return [*found, *_single_writer(view), *_mixed_sizes(view)]


def _nothing_left(view: View) -> str:
    group = view.group
    parts = [plural(len(group.warm_ups), "warm-up")] if group.warm_ups else []
    parts += [f"{len(group.failed)} failed"] if group.failed else []
    return (
        f"No measured repetition is left ({', '.join(parts)}): there are no medians. "
        "`repeat=6` measures six."
    )


def _single_writer(view: View) -> list[Notice]:
    wrote, ranks = view.typical.ranks_that_wrote, view.full["context"]["ranks"]
    if wrote != 1 or ranks < 2:
        return []
    return [Notice("warning", f"One rank of {ranks} did all the writing.")]


def _mixed_sizes(view: View) -> list[Notice]:
    sizes = {record.logical_bytes for record in view.timed}
    if len(sizes) < 2:
        return []
    return [Notice("warning", "Repetitions of these settings wrote different amounts of data.")]
