# SPDX-License-Identifier: Apache-2.0
"""The first sentence of `tailrace advise`: what is slow, what to do, what to expect."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.intent.verdict import verdict

Json = dict[str, Any]


def because(rule: str, **estimated: float) -> Json:
    evidence = [{"name": f"estimated.{name}", "value": value} for name, value in estimated.items()]
    return {"rule": rule, "text": f"why {rule}", "effect": f"effect {rule}", "evidence": evidence}


def entry(dataset: str, *reasons: Json) -> Json:
    settings = [{"key": "k", "value": 1, "because": one} for one in reasons]
    return {"file": "/d/f.h5", "dataset": dataset, "when": "any", "settings": settings}


def advice(rule: str, *commands: str, failing: bool = False, **estimated: float) -> Json:
    return {
        "file": "/d/f.h5", "dataset": "/x", "text": "do it", "commands": list(commands),
        "because": because(rule, **estimated), **({"failing": True} if failing else {}),
    }  # fmt: skip


PLAN = [entry("", because("3")), entry("/a", because("17")), entry("/b", because("13", times=30))]
TUNE = "let `tailrace tune -- COMMAND` try {} of a plan"


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"entries": PLAN},
         f"/d/f.h5:/b is slow: why 13; to do: {TUNE.format('3 settings')}; to expect: effect 13"),
        ({"entries": PLAN[:2]}, "/d/f.h5:/a may be slow: why 17; "),
        ({"entries": PLAN[:1]}, "/d/f.h5 may be slow: why 3; "),
        # Seconds go before how many times less is moved.
        ({"entries": PLAN, "advice": [advice("75", "tailrace repack f.h5", times=2, saved=9)]},
         f"/d/f.h5:/x is slow: why 75; to do: {TUNE.format('3 settings')}, and look below for 1 "
         "change to make yourself; to expect: effect 75"),
        ({"advice": [advice("75", "tailrace repack f.h5", saved=9)]},
         "/d/f.h5:/x is slow: why 75; to do: type `tailrace repack f.h5`; to expect: effect 75"),
        ({"advice": [advice("72", "chunks = (1,)"), advice("73")]},
         "/d/f.h5:/x may be slow: why 72; to do: look below for 2 changes to make yourself; "),
        ({"environment": [{"name": "N", "value": "1", "because": because("49")}]},
         f"the run may be slow: why 49; to do: {TUNE.format('1 setting')}; "),
        ({"entries": PLAN, "advice": [advice("29", failing=True)]},
         "The program fails at /d/f.h5:/x: why 29; to do: change the program as said "
         "below; to expect: effect 29"),
        ({"held_back": [advice("46")]},
         "No settings: all rules that fit are held back; see below"),
        ({}, "No settings: no rule fits this profile; "),
    ],
)  # fmt: skip
def test_verdicts(plan: Json, expected: str) -> None:
    assert verdict(plan).startswith(expected)
