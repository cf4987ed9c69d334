# SPDX-License-Identifier: Apache-2.0
"""`tailrace rules`, `advise` and `env`, and the lines for programs."""

from __future__ import annotations

import fnmatch
import json
import subprocess
from pathlib import Path
from typing import Any

import h5py
import jsonschema
import netCDF4
import pytest
from advised import ROOT, profile_of, tailrace

from tailrace.cli import main
from tailrace.intent import snippets
from tailrace.intent.advice import rule_table
from tailrace.intent.rules_page import page
from tailrace.native import core


def lines_as(kind: str, profile: Path) -> str:
    run = tailrace("advise", profile, "--as", kind)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_where_nothing_is_set_it_says_why(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    found = profile_of(str(tmp_path / "f.h5"))
    file = found["files"][0]
    file["datasets"], file["hdf5"]["metadata"] = [], {}
    del file["mpiio"]
    profile.write_text(json.dumps(found))
    said = " ".join(tailrace("advise", profile).stdout.split())
    nothing = "No settings: no rule fits this profile"
    assert said.startswith(nothing)


def test_nodes_that_are_not_known_are_not_counted(profile: Path) -> None:
    said = " ".join(tailrace("advise", profile).stdout.split())
    assert "1000 collective calls by 1 rank. Held back: not known on how many nodes it ran" in said


def test_it_says_what_why_and_whence_in_80_columns(profile: Path) -> None:
    run = tailrace("advise", profile, "-o", profile.with_name("plan.json"))
    assert run.returncode == 0, run.stderr
    assert max(map(len, run.stdout.replace(str(profile.parent), "").splitlines())) <= 80
    words = " ".join(run.stdout.split())
    assert "chunk_cache_bytes = 28800000 (27.47 MiB), computed anew for other sizes" in words
    assert "30 calls of 2000 x 1 elements touch 40 chunks of 586 KiB each time" in words
    assert "rule 13; Chunking in HDF5, The HDF Group" in words
    assert "Considered and held back" in words
    assert "the program has" not in words
    schema = json.loads((ROOT / "schemas/plan-1.schema.json").read_text())
    plan = json.loads(profile.with_name("plan.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(plan, schema)
    assert len(plan["hash"]) == 32
    assert json.loads(tailrace("advise", profile, "--json").stdout)["plan"] == plan


def test_the_reference_page_is_that_of_the_table() -> None:
    assert (ROOT / "docs/reference/rules.md").read_text() == page(rule_table([]))


def test_rules_are_listed_and_shown() -> None:
    table = json.loads(tailrace("rules", "--json").stdout)
    assert [rule["id"] for rule in table["rules"]] == [str(n) for n in range(1, 78)]
    letters = {one["letter"] for one in table["sources"]}
    assert all(set(rule["source"].split(", ")) <= letters for rule in table["rules"])
    listed = tailrace("rules").stdout
    assert "13 safe" in listed
    assert max(map(len, listed.splitlines())) <= 80
    assert "a hundred slots per chunk" in " ".join(tailrace("rules", "show", "13").stdout.split())
    wrong = tailrace("rules", "show", "99")
    assert wrong.returncode == 2
    assert 'there is no rule "99"' in wrong.stderr


def test_the_environment_and_what_is_not_for_it(profile: Path) -> None:
    given = profile_of("/data/f.nc")
    given["run"]["nodes"] = 2
    given["files"][0] |= {"hdf5": None, "pnetcdf": {"creates": 1, "redefinitions": 3}}
    profile.write_text(json.dumps(given))
    plan = profile.with_name("plan.json")
    assert tailrace("advise", profile, "-o", plan).returncode == 0
    run = tailrace("env", plan)
    assert run.returncode == 0, run.stderr
    shown = subprocess.run(
        ["sh", "-c", f'{run.stdout}\nprintf %s "$PNETCDF_HINTS"'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "nc_header_align_size=65536" in shown.stdout.split(";")
    changed = json.loads(plan.read_text())
    changed["environment"][0]["value"] = "cb_nodes=99"
    plan.write_text(json.dumps(changed))
    refused = tailrace("env", plan)
    assert refused.returncode == 2
    assert "do not give the hash" in refused.stderr


def of(mapping: dict[Any, Any], path: str, name: str = "") -> Any:
    """What is said for a path: the key may be a pattern of it."""
    for key, value in mapping.items():
        pattern, dataset = key if name else (key, "")
        if fnmatch.fnmatchcase(path, pattern) and dataset == name:
            return value
    raise AssertionError(f"{path}: {name} is not among {list(mapping)}")


def test_h5py_lines_run(profile: Path) -> None:
    made: dict[str, Any] = {}
    exec(lines_as("h5py", profile), made)
    path = str(profile.with_name("f.h5"))
    with h5py.File(path, "w", **of(made["file_arguments"], path)) as file:
        assert file.id.get_access_plist().get_meta_block_size() == 128 << 10
        rows = file.create_dataset("rows", (2000, 3000), "f4", chunks=(50, 3000))
        assert rows.id.get_access_plist().get_chunk_cache() == (4001, 28800000, 0.75)
        file.create_dataset(
            "plain", (2000, 3000), "f4", **of(made["dataset_arguments"], path, "/plain")
        )
        assert file["plain"].chunks is not None


def test_netcdf4_lines_run(profile: Path) -> None:
    made: dict[str, Any] = {}
    exec(lines_as("netcdf4", profile), made)
    path = str(profile.with_name("f.h5"))
    with netCDF4.Dataset(profile.with_name("f.nc"), "w") as file:
        file.createDimension("a", 2000)
        file.createDimension("b", 3000)
        plain = file.createVariable(
            "plain", "f4", ("a", "b"), **of(made["variable_arguments"], path, "/plain")
        )
        assert (
            tuple(plain.chunking()) == of(made["variable_arguments"], path, "/plain")["chunksizes"]
        )
        plain.set_var_chunk_cache(*of(made["chunk_caches"], path, "/rows"))
        assert plain.get_var_chunk_cache()[:2] == (28800000, 4001)


@pytest.mark.parametrize("kind", snippets.kinds)
def test_lines_are_those_of_the_plan(profile: Path, kind: str) -> None:
    """test_snippets_*.py run them."""
    plan = json.loads(tailrace("advise", profile, "--json").stdout)["plan"]
    text = lines_as(kind, profile)
    assert text == snippets.snippet(kind, plan)
    assert kind in snippets.kinds_with_lines(plan)
    told = json.loads(tailrace("advise", profile, "--as", kind, "--json").stdout)
    assert (told["as"], told["text"]) == (kind, text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--allow", "everything"], 'there is no class "everything"'),
        (["--as", "h5pi"], 'Did you mean "h5py"'),
    ],
)
def test_wrong_options(profile: Path, words: list[str], text: str) -> None:
    run = tailrace("advise", profile, *words)
    assert run.returncode == 2
    assert text in " ".join(run.stderr.split())


def test_no_input_of_it_is_overwritten(profile: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"schema": "tailrace-rules/1", "rules": []}')
    before = profile.read_text()
    for target in (profile, rules):
        ran = tailrace("advise", profile, "--rules", rules, "-o", target)
        assert ran.returncode == 2
        assert f"{target}: is read by this command" in " ".join(ran.stderr.split())
    assert profile.read_text() == before


def test_files_that_are_not_what_is_wanted(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each names what it wants, and how to get that."""
    empty, plan = tmp_path / "empty.json", tmp_path / "plan.json"
    empty.write_text("")
    assert main.run(["advise", str(profile), "-o", str(plan)]) == 0

    def said(*words: str | Path) -> str:
        capsys.readouterr()
        assert main.run([str(word) for word in words]) == 2
        return " ".join(capsys.readouterr().err.split())

    for file, what in (
        (tmp_path / "none", "no such file"),
        (tmp_path, "a folder"),
        (empty, "empty"),
    ):
        rules = said("advise", profile, "--rules", file)
        assert what in rules and "tailrace-rules/1" in rules and "Darshan" not in rules
        declared = said("intents", profile, "--declare", file)
        assert what in declared and "--declare wants JSON" in declared
        assert "Darshan" not in declared
        applied = said("env", file)
        assert what in applied and "`tailrace advise profile.json -o plan.json`" in applied
        given = said("advise", file)
        assert what in given and "`tailrace profile -- command` makes a profile" in given
        assert "log is empty" not in given
    for command in ("advise", "intents"):
        assert "a plan is for `tailrace apply` and `tailrace env`" in said(command, plan)
    assert "a profile is for `tailrace intents`" in said("env", profile)


def test_the_schemas_are_those_of_the_program() -> None:
    module = core()
    assert module is not None
    for name in ("plan", "rules"):
        text = (ROOT / f"schemas/{name}-1.schema.json").read_text()
        assert text == getattr(module, f"{name}_schema")()
