# SPDX-License-Identifier: Apache-2.0
"""`tailrace intents` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tailrace.cli import intents_show, main
from tailrace.intent.darshan import read_darshan

IOR = "ior_hdf5_example.darshan"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str | Path) -> tuple[int, str, str]:
        code = main.run(["intents", *map(str, words)])
        found = capsys.readouterr()
        return code, found.out, found.err

    return run


def test_a_log_becomes_intents(call, logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "intents.json"
    code, out, _ = call(logs / IOR, "-o", target)
    assert code == 0
    table, _, written = out.rpartition("written: ")
    assert max(len(line) for line in table.splitlines()) <= 80
    assert written.strip() == str(target)
    for word in ("why", "what", "how", "durable", "File", "Dataset"):
        assert word in out
    found = json.loads(target.read_text())
    assert found["schema"] == "tailrace-intents/1"
    assert found["profiles"][0]["kind"] == "darshan"


def test_a_profile_gives_the_same_as_its_log(call, logs: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(read_darshan([logs / IOR])[0]))
    _, from_log, _ = call(logs / IOR, "--json")
    _, from_profile, _ = call(profile, "--json")
    a, b = json.loads(from_log), json.loads(from_profile)
    assert a["profiles"][0].pop("path") != b["profiles"][0].pop("path")
    assert a == b


def test_the_published_form(call, logs: Path) -> None:
    code, out, _ = call(logs / IOR, "--format", "h5intent", "--json")
    assert code == 0
    found = json.loads(out)
    assert set(found) == {"files", "datasets"}


def test_programs_that_hand_files_to_each_other(call, graph_logs: Path) -> None:
    logs = sorted(graph_logs.glob("*.darshan"))
    code, out, _ = call(*logs, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["workload"]["producer_consumer"]["value"] == "yes"
    handed = [one for one in found["files"].values() if one["producer_consumer"]["value"] == "yes"]
    assert handed and all(one["words"]["why"].startswith("written by one") for one in handed)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"schema": "tailrace-profile/9"}', "take a newer Tailrace"),
        ('{"schema": "tailrace-record/1"}', "this is no profile"),
        ('{"schema": "tailrace-profile/1", "fils": []}', 'Did you mean "files"?'),
        ("{", "this is no JSON"),
        ("[1]", "this is no profile but a list"),
        ("\x1f\x8b", "this is no Darshan log"),
    ],
)
def test_bad_input(call, tmp_path: Path, content: str, said: str) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content)
    target = tmp_path / "intents.json"
    code, out, err = call(bad, "-o", target)
    assert code == 2 and out == ""
    assert said in err and str(bad) in err
    assert not target.exists()


def test_usage(call, logs: Path, tmp_path: Path) -> None:
    assert call()[0] == 2
    code, _, err = call(logs / IOR, "--format", "h5intents")
    assert code == 2 and 'Did you mean "h5intent"?' in err
    assert "given twice" in call(logs / IOR, logs / IOR)[2]
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    code, _, err = call(logs / IOR, "-o", other)
    assert code == 2 and "not overwritten" in err and other.read_text() == "mine"
    assert "there is no such folder" in call(logs / IOR, "-o", tmp_path / "no" / "x.json")[2]


def test_no_input_is_overwritten(call, logs: Path, tmp_path: Path) -> None:
    profile, link, declared = (tmp_path / name for name in ("p.json", "l.json", "d.json"))
    profile.write_text(json.dumps(read_darshan([logs / IOR])[0]))
    link.symlink_to(profile)
    declared.write_text('{"files": {"*.h5": {"reliability": "scratch"}}}')
    before = profile.read_text()
    for target in (profile, link, declared):
        code, _, err = call(profile, "--declare", declared, "-o", target)
        assert code == 2
        assert f"{target}: is read by this command" in err and "give -o another name" in err
    assert profile.read_text() == before and link.is_symlink()
    assert call(profile, "-o", tmp_path / "new.json")[0] == 0
    assert call(profile, "-o", tmp_path / "new.json")[0] == 0  # which may be made anew


def test_what_a_profile_lacks_is_said(call, logs: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.json"
    found = read_darshan([logs / IOR])[0]
    found["origin"] |= {"dropped": {"datasets": 1680}, "notes": ["not everything found room"]}
    profile.write_text(json.dumps(found))
    code, _, err = call(profile)
    said = " ".join(err.split())
    assert code == 0
    assert f"{profile}: 1680 datasets left out" in said
    assert f"{profile}: not everything found room" in said
    assert "left out" not in call(logs / IOR)[2]


def test_joined_runs_have_rows_of_files(call, tmp_path: Path) -> None:
    """A file that several runs made has the path of one of them; its pattern names both."""
    profiles = []
    for ranks in (4, 16):
        moved = {"calls": 1, "bytes": 80}
        made = {
            "schema": "tailrace-profile/1", "run": {"ranks": ranks},
            "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
            "files": [{
                "path": f"/run_{ranks}/out.h5", "processes": f"0-{ranks - 1}",
                "hdf5": {"opens": ranks},
                "datasets": [
                    {"path": "/x", "interface": "hdf5", "processes": "0", "writes": moved},
                ],
            }],
        }  # fmt: skip
        profiles.append(tmp_path / f"{ranks}.json")
        profiles[-1].write_text(json.dumps(made))
    for order in (profiles, profiles[::-1]):
        code, out, _ = call(*order)
        table = out.partition("File ")[2].partition("Dataset ")[0]
        assert code == 0 and "out.h5" in table and "write-only" in table


def test_the_reference_lists_what_append_may_be() -> None:
    page = Path(__file__).parents[2] / "docs/reference/intents.md"
    (row,) = [line for line in page.read_text().splitlines() if line.startswith("| `append` |")]
    assert all(f"`{word}`" in row for word in ("yes", "no", "partly"))


def test_errors_as_json(call, tmp_path: Path) -> None:
    code, out, _ = call(tmp_path / "none.darshan", "--json")
    assert code == 2
    assert json.loads(out)["error"]["exit_code"] == 2


def test_a_damaged_log_and_what_can_be_read_of_it(call, logs: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.darshan"
    whole = (logs / IOR).read_bytes()
    cut.write_bytes(whole[: int(len(whole) * 0.9)])
    code, _, err = call(cut)
    assert code == 2 and "--partial" in err
    code, out, err = call(cut, "--partial")
    assert code == 0 and "why" in out
    assert "could not be read to the end" in err


def test_rows_that_are_not_shown_are_counted_in_words() -> None:
    def one(number: int) -> dict[str, Any]:
        words = {"what": f"{number} elements", "how": "once"}
        return {"type": {"value": "write_only"}, "words": words, "naming": {"pattern": "/d"}}

    for kinds, said in ((13, "1 more pattern"), (15, "3 more patterns")):
        datasets = {f"/f:/d{n}": one(n) for n in range(kinds)}
        found = {"workload": {}, "files": {}, "datasets": datasets}
        assert intents_show._left_out(found) == [f"({said} of datasets)"]
