# SPDX-License-Identifier: Apache-2.0
"""A site's own rules: their checks, their order, and what holds them back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from advised import ROOT, profile_of, tailrace

SITE: dict[str, Any] = {
    "schema": "tailrace-rules/1",
    "rules": [{
        "id": "site.blocks", "title": "Our blocks", "scope": "file", "class": "layout",
        "trigger": [{"measure": "file.datasets", "is": "at_least", "value": 2, "held": ""}],
        "guard": [{"measure": "run.ranks", "is": "less", "value": 9, "held": "only small runs"}],
        "when": "create", "settings": [{"key": "meta_block_bytes", "value": 65536}],
        "effect": "less of it", "source": "our tests",
    }],
}  # fmt: skip


def test_a_sites_own_rules_go_first_and_show_where_they_are_from(profile: Path) -> None:
    site = profile.with_name("site.json")
    site.write_text(json.dumps(SITE))
    jsonschema.validate(SITE, json.loads((ROOT / "schemas/rules-1.schema.json").read_text()))
    plan = json.loads(tailrace("advise", profile, "--rules", site, "--json").stdout)["plan"]
    found = [
        setting
        for entry in plan["entries"]
        for setting in entry["settings"]
        if setting["key"] == "meta_block_bytes"
    ]
    assert [setting["value"] for setting in found] == [65536]
    assert found[0]["because"]["rule"] == "site.blocks"
    assert str(site) in found[0]["because"]["source"]
    assert plan["origin"]["rules"] == [str(site)]
    assert plan["origin"]["version"] == (ROOT / "VERSION").read_text().strip()
    held = {one["because"]["rule"]: one["guard"] for one in plan["held_back"]}
    assert held["3"] == "conflict"
    assert str(site) in tailrace("rules", "--rules", site, "--json").stdout


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"trigger": [{"measure": "file.system", "is": "equal", "value": 1, "held": ""}]},
            '"file.system" is a text, and is compared with one',
        ),
        (
            {"guard": [{"measure": "file.ranks", "is": "equal", "value": "4", "held": ""}]},
            '"file.ranks" is a number, and is compared with one',
        ),
        ({"id": "blocks"}, 'begins with "site."'),
        ({"settings": [{"key": "meta_block_byte", "value": 1}]}, 'Did you mean "meta_block_bytes"'),
        ({"settings": [{"key": "meta_block_bytes", "value": 1}]}, "may be 2048 to"),
        ({"settings": [{"key": "chunk", "value": [1]}]}, "is a setting of datasets"),
        (
            {"settings": [{"key": "meta_block_bytes", "value": "65536"}]},
            '"meta_block_bytes" is a whole number, and "65536" is a text: write it without',
        ),
        (
            {"settings": [{"key": "file_locking", "value": "true"}]},
            '"file_locking" is true or false, and "true" is a text',
        ),
        (
            {"settings": [{"key": "meta_block_bytes", "value": n} for n in (4096, 8192)]},
            '"meta_block_bytes" is set twice by this rule',
        ),
        (
            {
                "scope": "dataset",
                "when": "open",
                "class": "layout",
                "settings": [{"key": "layout", "value": "compact"}],
            },
            '"layout" is for what is created, and the rule for what is opened',
        ),
        ({"scope": "files"}, "one of file, dataset"),
        ({"trigger": []}, "no trigger"),
        ({"id": "site.a\nb"}, "letters, digits and . _ - only"),
    ],
)
def test_wrong_rules_are_refused(profile: Path, change: dict[str, Any], text: str) -> None:
    site = profile.with_name("site.json")
    site.write_text(json.dumps({**SITE, "rules": [{**SITE["rules"][0], **change}]}))
    run = tailrace("advise", profile, "--rules", site)
    assert run.returncode == 2
    assert text in " ".join(run.stderr.split())
    assert "rules[0]" in run.stderr


def test_a_key_that_stands_there_twice_is_refused(profile: Path) -> None:
    site = profile.with_name("site.json")
    site.write_text(json.dumps(SITE).replace('"title"', '"when": "open", "title"', 1))
    run = tailrace("advise", profile, "--rules", site)
    assert run.returncode == 2
    assert 'the key "when" stands there twice' in " ".join(run.stderr.split())
    declared = profile.with_name("declared.json")
    once = '"reliability": "durable"'
    declared.write_text(f'{{"files": {{"f.h5": {{{once}, {once}}}, "g.h5": {{{once}}}}}}}')
    run = tailrace("advise", profile, "--declare", declared)
    assert run.returncode == 2
    assert 'the key "reliability" stands there twice' in " ".join(run.stderr.split())


def site_plan(profile: Path, found: dict[str, Any], **rule: Any) -> dict[str, Any]:
    """The plan of a profile with one rule of a site that fires for whatever there is."""
    profile.write_text(json.dumps(found))
    scope = rule.get("scope", "file")
    measure = "dataset.ndims" if scope == "dataset" else "file.ranks"
    trigger = [{"measure": measure, "is": "at_least", "value": 0, "held": ""}]
    site = profile.with_name("site.json")
    one = {**SITE["rules"][0], "trigger": trigger, "guard": [], "when": "any", **rule}
    site.write_text(json.dumps({**SITE, "rules": [one]}))
    run = tailrace("advise", profile, "--rules", site, "--json")
    assert run.returncode == 0, run.stderr
    plan: dict[str, Any] = json.loads(run.stdout)["plan"]
    return plan


def guards(plan: dict[str, Any], rule: str) -> dict[str, str]:
    """Why a rule is held back, by file and dataset."""
    return {
        one["file"].rpartition("/")[2] + ":" + one.get("dataset", ""): one["guard"]
        for one in plan["held_back"]
        if one["because"]["rule"] == rule
    }


def values(plan: dict[str, Any], key: str) -> dict[tuple[str, str], Any]:
    return {
        (entry.get("dataset", ""), entry.get("when", "any")): setting["value"]
        for entry in plan.get("entries", [])
        for setting in entry["settings"]
        if setting["key"] == key
    }


def test_a_sites_rule_delays_nothing_that_is_to_last(profile: Path) -> None:
    found = profile_of(str(profile.with_name("f.h5")))
    off = [{"key": "metadata_cache_evictions", "value": False}]
    rule = {"id": "site.off", "class": "safe", "settings": off}
    assert guards(site_plan(profile, found, **rule), "site.off") == {"f.h5:": "reliability"}
    found["files"][0]["declared"] = [
        {"from": "file", "processes": "0", "intents": {"reliability": "scratch"}}
    ]
    plan = site_plan(profile, found, **rule)
    assert guards(plan, "site.off") == {}
    assert values(plan, "metadata_cache_evictions") == {("", "any"): False}


def test_a_sites_rule_leaves_chunks_that_somebody_chose(profile: Path) -> None:
    found = profile_of(str(profile.with_name("f.h5")))
    plain = found["files"][0]["datasets"][1]
    found["files"][0]["datasets"].append({**plain, "path": "/_i_t/i/sorted"})
    found["files"][0]["datasets"].append({**plain, "path": "/direct", "direct_chunk_writes": {
        "calls": 1, "bytes": 4}})  # fmt: skip
    chunk = [{"key": "chunk", "value": [32, 32]}]
    rule = {"id": "site.c", "class": "layout", "scope": "dataset", "when": "create"}
    plan = site_plan(profile, found, **rule, settings=chunk)
    assert guards(plan, "site.c") == {
        "f.h5:/rows": "program", "f.h5:/_i_t/i/sorted": "library", "f.h5:/direct": "direct chunks",
    }  # fmt: skip
    assert values(plan, "chunk")["/plain", "create"] == [32, 32]


def test_a_sites_rule_for_hdf5_leaves_other_files(profile: Path) -> None:
    found = profile_of(str(profile.with_name("f.h5")))
    text = {"path": "/d/log.txt", "processes": "0", "posix": {"writes": {"calls": 9, "bytes": 99}}}
    found["files"].append(text)
    plan = site_plan(profile, found)
    assert guards(plan, "site.blocks")["log.txt:"] == "format"


def test_our_rule_goes_on_where_a_sites_is_not_for(profile: Path) -> None:
    """Rule 13 is for whatever is created or opened, the site's for what is created."""
    found = profile_of(str(profile.with_name("f.h5")))
    both = [{"key": "chunk_cache_bytes", "value": 1 << 22}, {"key": "chunk_cache_slots",
             "value": 521}]  # fmt: skip
    rule = {"id": "site.c", "scope": "dataset", "class": "safe", "when": "create"}
    plan = site_plan(profile, found, **rule, settings=both)
    by_rule = {
        (entry["when"], setting["because"]["rule"])
        for entry in plan["entries"]
        for setting in entry["settings"]
        if entry.get("dataset") == "/rows" and setting["key"] == "chunk_cache_bytes"
    }
    assert by_rule == {("create", "site.c"), ("open", "13")}
    # With one of two the rest cannot be told apart: the site's goes before ours.
    plan = site_plan(profile, found, **rule, settings=both[:1])
    assert guards(plan, "13")["f.h5:/rows"] == "conflict"
