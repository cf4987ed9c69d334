# SPDX-License-Identifier: Apache-2.0
"""`tailrace tune` from end to end, and its clear words where a program cannot be tuned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import jsonschema
from mpi_programs import BUILD
from tailrace_cli import SOURCE, Ran, environment, tailrace

PROGRAM = BUILD / "tests/bin/tune_program"
SCHEMA = json.loads((SOURCE / "schemas/tune-1.schema.json").read_text())
ATTEMPTS = 3  # a machine that is at work may differ from itself, which is a proper answer
Json = dict[str, Any]


def begun(home: Path, *words: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tailrace", "tune", *map(str, words)],
        cwd=home, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def wait_for_fact(home: Path, name: str) -> None:
    facts = home / "tailrace-tune/state/facts.jsonl"
    end = time.monotonic() + 60
    while not facts.is_file() or f'"{name}' not in facts.read_text():
        assert time.monotonic() < end, f"{name} did not become known"
        time.sleep(0.02)


def names(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir())


def test_a_killed_tune_goes_on_and_makes_a_program_faster(home: Path) -> None:
    words = ["--", str(PROGRAM), "out.h5"]
    killed = begun(home, *words)
    wait_for_fact(home, "trial (")
    killed.kill()
    killed.wait()
    facts = (home / "tailrace-tune/state/facts.jsonl").read_text().count('"elapsed_s"')
    assert "an unfinished tune is here" in tailrace("tune", *words, cwd=home).expect(2).err
    other = tailrace("tune", "--resume", "--", PROGRAM, "other.h5", cwd=home).expect(2)
    assert "it has other argv" in other.err
    found = result_of(home, "--resume", *words)
    assert len(found["runs"]) > facts >= 3
    for _ in range(ATTEMPTS):
        if found["verdict"] != "no_verdict":
            break
        found = result_of(home, *words)
    made_faster(home, found)
    can_be_applied(home, found)


def result_of(home: Path, *words: str) -> Json:
    found: Json = tailrace("tune", "--json", *words, cwd=home, timeout=300).expect(0).json
    jsonschema.validate(found, SCHEMA)
    assert found == json.loads((home / "tailrace-tune/result.json").read_text())
    assert names(home) == ["mine.txt", "tailrace-tune"]
    return found


def made_faster(home: Path, found: Json) -> None:
    assert found["verdict"] == "kept", found["reason"]
    assert found["equal_content"] is True
    assert found["speedup"]["confirmed"]
    assert 1.03 < found["speedup"]["range"][0] <= found["speedup"]["median"]
    assert "13" in [rule["rule"] for rule in found["rules"] if rule["kept"]]
    (start,) = [note for note in found["notes"] if note.startswith("`tailrace apply` itself")]
    assert 'eval "$(tailrace env' in start and "plan saves" in start
    assert found["content"]["report"]["files_compared"] == 1
    assert {line["places"][0] for line in found["in_force"]} == {f"{home}/out.h5:/rows"}
    assert names(home / "tailrace-tune") == [
        "plan.json", "profile.json", "report.html", "result.json"
    ]  # fmt: skip


def can_be_applied(home: Path, found: Json) -> None:
    plan = json.loads(Path(found["plan"]).read_text())
    assert plan["proof"]["argv"] == [str(PROGRAM), "out.h5"]
    assert plan["proof"]["plan"] == plan["hash"]
    ran = tailrace("apply", found["plan"], "--json", "--", PROGRAM, "out.h5", cwd=home).expect(0)
    assert {line["became"] for line in ran.json["lines"]} == {"applied"}
    with h5py.File(home / "out.h5") as file:
        assert file["rows"].shape == (6, 262144)


def test_a_program_that_only_reads_is_proven_by_what_it_was_given(home: Path) -> None:
    subprocess.run([str(PROGRAM), "mine.txt"], cwd=home, env=environment(), check=True)
    for _ in range(ATTEMPTS):
        found = result_of(home, "--", str(PROGRAM), "mine.txt", "read")
        if found["verdict"] != "no_verdict":
            break
    assert found["verdict"] == "kept", found["reason"]
    report = found["content"]["report"]
    assert (report["files_compared"], report["printed_lines"]) == (0, 0)
    assert (report["datasets_read"], report["reads_compared"]) == (1, 6)
    assert report["read_bytes"] == 6 * 262144 * 8
    assert "the values of 6 reads of 1 dataset" in found["content"]["compared"]


def test_ctrl_c_in_place_leaves_things_as_they_were(home: Path) -> None:
    (home / "out.h5").write_bytes(b"of an earlier run")
    process = begun(home, "--in-place", "--", PROGRAM, "out.h5")
    wait_for_fact(home, "default-1")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert (home / "out.h5").read_bytes() == b"of an earlier run"
    assert names(home) == ["mine.txt", "out.h5"]


def refused(home: Path, *words: str | Path, code: int = 1) -> Ran:
    """What cannot be tuned leaves nothing behind."""
    ran = tailrace("tune", *words, cwd=home).expect(code)
    assert names(home) == ["mine.txt"]
    return ran


def test_a_program_that_fails(home: Path) -> None:
    ran = refused(home, "--", "sh", "-c", "echo it broke >&2; exit 3")
    assert "exit code 3; its last words: it broke" in ran.err


def test_a_program_that_outlives_its_limit(home: Path) -> None:
    ran = refused(home, "--timeout", "1s", "--", "sleep", "30")
    assert "its time limit" in ran.err
    assert "give it more than 1 s with --timeout" in ran.err


def test_a_program_that_needs_a_terminal(home: Path) -> None:
    ran = refused(home, "--", "sh", "-c", "read answer </dev/tty")
    assert "--stdin FILE" in ran.err
    ran = refused(home, "--", sys.executable, "-S", "-c", "import getpass; getpass.getpass()")
    assert "--stdin FILE" in ran.err


def test_a_program_that_is_not_there(home: Path) -> None:
    ran = refused(home, "--", "./nowhere", code=2)
    assert "cannot be started" in ran.err


def test_a_program_that_writes_outside_is_refused(home: Path) -> None:
    far = home.parent / "far.bin"
    script = f"open({str(far)!r}, 'wb').write(b'x' * 10000)"
    ran = refused(home, "--", sys.executable, "-S", "-c", script, code=2)
    assert f"outside its working folder: {far}" in ran.err
    assert "--allow-outside" in ran.err


def test_a_program_without_files_has_nothing_to_gain(home: Path) -> None:
    found = tailrace("tune", "--json", "--", "true", cwd=home).expect(0).json
    jsonschema.validate(found, SCHEMA)
    assert (found["verdict"], found["kept"], found["runs"]) == ("nothing_to_gain", False, [])
    assert found["reason"] == "no file was seen that the program writes or reads"


def test_hdf5_files_that_no_hdf5_was_seen_to_use_are_told(home: Path) -> None:
    """As with a library that is too old, or part of the program."""
    with h5py.File(home / "in.h5", "w") as file:
        file["x"] = 1
    script = "open('out.h5', 'wb').write(open('in.h5', 'rb').read())"
    found = tailrace(
        "tune", "--json", "--", sys.executable, "-S", "-c", script, cwd=home
    ).expect(0).json  # fmt: skip
    assert "was not seen at work" in found["reason"]
    assert f"{home / 'in.h5'}, {home / 'out.h5'}" in found["notes"][-1]
    assert names(home) == ["in.h5", "mine.txt", "tailrace-tune"]


def test_a_command_and_a_folder_that_are_not_utf_8(home: Path) -> None:
    bad = os.fsdecode(b"\xff.h5")
    found = tailrace("tune", "--json", "--", "true", bad, cwd=home).expect(0).json
    assert found["argv"] == ["true", bad]
    assert "\\xff.h5" in (home / "tailrace-tune/report.html").read_text()
    folder = home.parent / bad
    folder.mkdir()
    ran = tailrace("tune", "--", "true", cwd=folder).expect(2)
    assert "is not UTF-8" in ran.err
    assert names(folder) == []


def test_a_dry_run_tells_and_does_nothing(home: Path) -> None:
    ran = refused(home, "--dry-run", "--json", "--", "prog", f"{home}/out.h5", code=0)
    assert ran.json["argv"] == ["prog", f"{home}/tailrace-tune/scratch/run/home/out.h5"]
    assert (ran.json["copied_files"], ran.json["copied_bytes"]) == (1, 4)
    assert "prog" in refused(home, "--dry-run", "--", "prog", code=0).out


def test_a_folder_of_the_user_is_not_written_into(home: Path) -> None:
    ran = refused(home, "-o", home, "--", "true", code=2)
    assert "no folder of tailrace tune" in ran.err


def test_options_that_are_wrong(home: Path) -> None:
    assert "no class" in refused(home, "--allow", "colective", "--", "true", code=2).err
    assert "no such file" in refused(home, "--stdin", "nowhere", "--", "true", code=2).err
    given = home.parent / "given.json"
    given.write_text("[]")
    for option in ("--rules", "--declare"):
        for name, why in (("nowhere", "no such file"), (given, "given.json: ")):
            said = refused(home, option, name, "--", "true", code=2).err
            assert why in said and "recording" not in said
    assert "it wants arguments" in tailrace("tune", cwd=home).expect(2).err
    assert (
        "no tune to continue" in tailrace("tune", "--resume", "--", "true", cwd=home).expect(2).err
    )


def test_every_key_of_the_schema_has_a_sentence() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    while parts:
        for key, one in parts.pop().get("properties", {}).items():
            assert one["description"].endswith("."), key
            parts.append(one)
