# SPDX-License-Identifier: Apache-2.0
"""The part of a report that is about a model and its server, in words and in a browser."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from records import MIB, a_run, written
from tailrace_cli import called

Json = dict[str, Any]


def serving(kind: str, servers: int, **more: Any) -> Json:
    spread = {"min": 10.0, "mean": 11.0, "max": 12.0}
    model: Json = {"ranks": 4, "cpu_s": {"min": 0.1, "mean": 0.1, "max": 0.125}}
    if kind != "plain":
        model |= {"messages_sent": spread, "messages_received": spread}
    return {
        "kind": kind, "model": model, "servers": {"ranks": servers},
        "stall_s": {"min": 0.25, "mean": 0.25, "max": 0.25}, "memory_copy_s": 0.125,
        "files": [
            {"path": f"/data/h{day}.nc4", "bytes": 32 * MIB, "elapsed_s": 0.5,
             "rate_bytes_per_s": 64.0 * MIB} for day in range(2)
        ],
    } | more  # fmt: skip


def page(folder: Path, about: Json) -> Path:
    run = a_run((0.5, 0.6, 0.7), run="run-a", kernel="history", serving=about)
    for record in run:
        for number, step in enumerate(record["steps"]):
            step["stall_s"] = dict.fromkeys(("min", "mean", "max"), 0.0625 * (1 + number % 2))
            step["compute_s"] = dict.fromkeys(("min", "mean", "max"), 0.5)
    file = written(folder / "results.jsonl", run)
    called("report", file, "-o", folder / "report.html").expect(0)
    return folder / "report.html"


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    return page(
        tmp_path,
        serving(
            "simple", 2, queue={"bytes_max": 24 * MIB, "items_max": 3},
            memory={"idle_bytes": 10 * MIB, "peak_bytes": 58 * MIB, "samples": 9},
        ),
    )  # fmt: skip


def test_the_figures_of_a_server_stand_in_words(simple: Path) -> None:
    words = unescape(simple.read_text(encoding="utf-8"))
    for said in (
        "The model and its server", "2.00 copies in memory", "1.300 of the computation",
        "4 ranks of the model, 2 servers", "250.0 ms, the longest of a step 125.0 ms",
        "files were in the making for 1.000 s in all; the model waited 250.0 ms of it",
        "at most 24.0 MiB and 3 items waited", "12 sent, 12 received", "64.00 MiB/s",
        "48.0 MiB above idle (10.0 MiB) at its peak = 3.0 steps",
    ):  # fmt: skip
        assert said in words, said
    assert "tailrace run history --ranks 6 " in words


def test_without_a_server_nothing_is_said_of_its_queue(tmp_path: Path) -> None:
    words = unescape(page(tmp_path, serving("plain", 0)).read_text(encoding="utf-8"))
    assert "none: the model writes by calls of the format" in words
    assert "items waited" not in words and "not measured: memory_every" in words


def test_other_kernels_have_no_such_part(tmp_path: Path) -> None:
    file = written(tmp_path / "results.jsonl", a_run((0.5, 0.6)))
    called("report", file, "-o", tmp_path / "report.html").expect(0)
    assert "The model and its server" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_its_plots_are_drawn(browser: Browser, simple: Path) -> None:
    browser.show(simple)
    boxes = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('svg.plot')].map("
        "s => [s.closest('figure').id, s.querySelectorAll('.single, .bar').length]))"
    )
    assert boxes["s1-files"] == 2 + 6 and boxes["s1-waiting"] == 4 + 12
