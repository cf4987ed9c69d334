# SPDX-License-Identifier: Apache-2.0
"""What follows from the lines of --progress: rates, stalls, time left, the live view."""

from __future__ import annotations

import json

import pytest

from tailrace.cli import output
from tailrace.cli.output import PlainMeter
from tailrace.run import progress
from tailrace.run.progress import State, parsed, prefix, sparkline
from tailrace.units import duration

STEP_BYTES = 1 << 20


def line(**changes: object) -> str:
    values = {
        "stage": "write", "repetition": 1, "repetitions": 3, "warm_up": False, "steps_done": 0,
        "steps": 100, "new_steps": 0, "new_s": 0.0, "longest_s": 0.0, "step_bytes": STEP_BYTES,
    }  # fmt: skip
    return prefix + json.dumps({**values, **changes})


def steps(state: State, count: int, seconds: float, **changes: object) -> None:
    done = state.last.steps_done if state.last else 0
    for number in range(done + 1, done + count + 1):
        report = parsed(
            line(steps_done=number, new_steps=1, new_s=seconds, longest_s=seconds, **changes)
        )
        assert report is not None
        state.take(report)


@pytest.mark.parametrize(
    "text",
    ["", "Write: 1 s", "tailrace: warning", prefix, prefix + "{", prefix + "[1]", prefix + "{}"],
)
def test_other_lines_are_none_of_these(text: str) -> None:
    assert parsed(text) is None


def test_rates_are_bytes_by_the_time_of_the_new_steps() -> None:
    report = parsed(line(new_steps=4, new_s=0.5))
    assert report is not None and report.rate_bytes_per_s() == 8 * STEP_BYTES
    quiet = parsed(line())
    assert quiet is not None and quiet.rate_bytes_per_s() is None


def test_a_step_of_four_times_the_median_is_a_stall() -> None:
    state = State()
    steps(state, 10, 0.1)
    assert state.now.stalled == 0
    steps(state, 1, 0.39)
    assert state.now.stalled == 0
    steps(state, 1, 0.41)
    assert state.now.stalled == 1
    (stall,) = state.now.stalls
    assert (stall.step, stall.elapsed_s) == (12, 0.41) and stall.factor == pytest.approx(4.1)
    assert any("step 12: 0.41 s (4 x)" in text for text in state.lines())


def test_short_steps_never_stall_and_the_first_three_are_no_measure() -> None:
    state = State()
    steps(state, 10, 0.0001)
    steps(state, 1, 0.009)
    assert state.now.stalled == 0
    fresh = State()
    steps(fresh, 2, 0.1)
    steps(fresh, 1, 5.0)
    assert fresh.now.stalled == 0


def test_a_stall_among_several_steps_of_one_report_is_seen() -> None:
    state = State()
    steps(state, 5, 0.1)
    report = parsed(line(steps_done=15, new_steps=10, new_s=1.9, longest_s=1.0))
    assert report is not None
    stall = state.take(report)
    assert stall is not None and stall.factor == pytest.approx(10)


def test_every_repetition_begins_anew() -> None:
    state = State()
    steps(state, 10, 0.1)
    steps(state, 1, 1.0)
    report = parsed(line(repetition=2, steps_done=1, new_steps=1, new_s=0.2, longest_s=0.2))
    assert report is not None
    state.take(report)
    assert state.now.stalled == 0 and len(state.now.rates) == 1


def test_the_time_left_grows_with_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    state = State()
    first = parsed(line(stage="create", repetition=0, warm_up=True))
    assert first is not None
    state.take(first)
    assert state.left_s() is None
    now[0] += 10
    half = parsed(line(repetition=1, steps_done=100))  # 2 of 4 parts: the warm-up is one
    assert half is not None
    state.take(half)
    assert state.share() == 0.5 and state.left_s() == pytest.approx(10)


def test_the_warm_up_before_a_single_repetition_is_half_of_it() -> None:
    state = State()
    for number, warm_up in ((0, True), (1, False)):
        report = parsed(line(repetition=number, repetitions=1, warm_up=warm_up, steps_done=50))
        assert report is not None
        state.take(report)
        assert state.share() == pytest.approx(0.25 + 0.5 * number)


def test_a_resumed_run_counts_only_what_it_lacks() -> None:
    state = State()
    for number in (0, 9, 10):
        report = parsed(
            line(repetition=number, repetitions=10, warm_up=number == 0, steps_done=100)
        )
        assert report is not None
        state.take(report)
    assert state.share() == 1.0


def test_the_live_view_fits_the_terminal() -> None:
    state = State()
    assert state.lines() == ["starting"]
    steps(state, 300, 0.1, steps=10**9, repetitions=10**6)
    for _ in range(40):
        steps(state, 1, 123.4, steps=10**9, repetitions=10**6)
    for width in (40, 80, 132):
        assert all(len(text) <= width for text in state.lines(width))


def test_a_sparkline_has_a_character_per_value() -> None:
    assert sparkline([0, 4, 8]) == "▁▅█"
    assert sparkline([]) == "" and sparkline([0.0]) == ""


def test_durations() -> None:
    assert duration(None) == "time left not known yet"
    assert duration(61) == "1:01 left" and duration(3723) == "1:02:03 left"


def test_without_a_terminal_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    told: list[str] = []
    meter = PlainMeter("big.h5", told.append)
    for second in range(25):
        now[0] = float(second)
        meter(second << 20, 100 << 20)
    assert told == ["big.h5: 10 % of 100.0 MiB, 1:30 left", "big.h5: 20 % of 100.0 MiB, 1:20 left"]
