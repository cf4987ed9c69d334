# SPDX-License-Identifier: Apache-2.0
"""Rules of a plan one by one."""

from __future__ import annotations

from plans import because, plan, setting

from tailrace.intent.apply import Line
from tailrace.tune.rules_of_plan import by_suspicion, not_in_force, rules_of, without

PLAN = plan(
    ("/d/a.h5", "/x", [setting("13", "chunk_cache_bytes"), setting("17", "chunk", "layout")]),
    ("/d/b_*.h5", "", [setting("1", "alignment_bytes", "layout"),
                       setting("25", "write_mode", "collective")]),
    environment=[{"name": "PNETCDF_HINTS", "value": "x=1", "because": because("40")}],
)  # fmt: skip


def test_each_rule_stands_once_with_all_that_it_sets() -> None:
    found = rules_of(PLAN)
    assert [rule.id for rule in found] == ["13", "17", "1", "25", "40"]
    assert found[1].settings == ["chunk"]
    assert found[1].places == ["/d/a.h5:/x"]
    assert found[4].settings == ["PNETCDF_HINTS"]


def test_without_a_rule_its_settings_entries_and_variables_are_gone() -> None:
    less = without(PLAN, {"1", "25", "40"})
    assert [rule.id for rule in rules_of(less)] == ["13", "17"]
    assert [entry["file"] for entry in less["entries"]] == ["/d/a.h5"]
    assert less["environment"] == []
    assert len(rules_of(PLAN)) == 5, "the plan itself stays"


def test_what_can_block_is_doubted_first_and_caches_last() -> None:
    assert [rule.id for rule in by_suspicion(PLAN)] == ["25", "17", "1", "13", "40"]


def test_a_rule_that_touches_a_doubted_file_comes_first_in_its_class() -> None:
    order = [rule.id for rule in by_suspicion(PLAN, ["out/b_0001.h5"])]
    assert order.index("1") < order.index("17")


def test_rules_that_were_in_force_nowhere_are_told_with_the_reason() -> None:
    lines = [
        Line("13", "chunk_cache_bytes", "applied", count=2),
        Line("17", "chunk", "kept", "the program set it itself"),
        Line("1", "alignment_bytes", "not met", "no such file was opened"),
        Line("25", "write_mode", "applied", count=1),
        Line("40", "PNETCDF_HINTS", "applied", count=1),
    ]
    assert not_in_force(PLAN, lines) == {
        "17": "kept: the program set it itself",
        "1": "not met: no such file was opened",
    }
