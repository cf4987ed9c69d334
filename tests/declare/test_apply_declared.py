# SPDX-License-Identifier: Apache-2.0
"""What a declaration changes when a plan is applied: nothing delays a file that is durable."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest
from declaring import intents_of, profiled, script  # the helpers of the hooks are found then
from plans import applied, entry, setting, write_plan

WRITE = """
import h5py, json, tailrace
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
{declare}
with h5py.File(h5py.h5f.create(b"out.h5", h5py.h5f.ACC_TRUNC, fapl=access)) as f:
    found = f.id.get_access_plist()
    json.dump([bool(found.get_mdc_config().evictions_enabled), found.get_meta_block_size()],
              open("told.json", "w"))
"""
ON_LIST = 'tailrace.intent_set(access, {"reliability": "%s"})'
IN_BLOCK = 'tailrace.intents({"reliability": "%s"}, pattern="out.h5").__enter__()'
# Of more bytes than fit on a list.
LONG_BLOCK = """
many = {f"/a_dataset_with_a_rather_long_name_{n}": {"order": "sequential"} for n in range(200)}
tailrace.intents({"reliability": "durable", "datasets": many}, pattern="out.h5").__enter__()
"""
OF_DATASET = 'tailrace.intent_set(access, {"datasets": {"/x": {"reliability": "durable"}}})'


@pytest.mark.parametrize(
    ("declare", "held"),
    [("", False), (ON_LIST % "durable", True), (ON_LIST % "scratch", False),
     (IN_BLOCK % "durable", True), (OF_DATASET, True), (LONG_BLOCK, True)],
)  # fmt: skip
def test_what_delays_is_held_back(tmp_path: Path, declare: str, held: bool) -> None:
    plan = write_plan(
        tmp_path,
        entry("out.h5", setting("7", "metadata_cache_evictions", False),
              setting("3", "meta_block_bytes", 1048576)),
    )  # fmt: skip
    ran, lines = applied(tmp_path, plan, WRITE.format(declare=declare))
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "told.json").read_text()) == [held, 1048576]
    line = lines[("7", "metadata_cache_evictions")]
    if held:
        assert line["became"] == "held"
        assert line["reason"] == "the program declares the file durable"
    else:
        assert line["became"] == "applied"
    assert lines[("3", "meta_block_bytes")]["became"] == "applied"
    with h5py.File(tmp_path / "out.h5"):
        pass


@pytest.mark.parametrize("pattern", ["link/out.h5", "{0}/link/out.h5", "{0}/real/out.h5"])
def test_a_pattern_may_name_links_as_the_program_does(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    plan = write_plan(tmp_path, entry("out.h5", setting("7", "metadata_cache_evictions", False)))
    text = f"""
import h5py, tailrace
with tailrace.intents({{"reliability": "durable"}}, pattern="{pattern.format(tmp_path)}"):
    h5py.File("link/out.h5", "w").close()
"""
    _, lines = applied(tmp_path, plan, text)
    assert lines["7", "metadata_cache_evictions"]["became"] == "held"


def test_the_same_file_by_other_names_is_declared_alike(tmp_path: Path) -> None:
    """The pattern of more literal characters wins, however the program calls the file."""
    (tmp_path / "run").mkdir()
    plan = write_plan(tmp_path, entry("out.h5", setting("7", "metadata_cache_evictions", False)))
    for name in ("out.h5", "./out.h5", ".//out.h5", "../run/out.h5"):
        text = f"""
import h5py, os, tailrace
os.chdir("run")
with tailrace.intents({{"reliability": "durable"}}, pattern="*.h5"):
    with tailrace.intents({{"reliability": "scratch"}}, pattern="run/out.h5"):
        h5py.File("{name}", "w").close()
"""
        _, lines = applied(tmp_path, plan, text)
        assert lines["7", "metadata_cache_evictions"]["became"] == "applied", name


def test_a_long_block_reaches_the_intents(tmp_path: Path) -> None:
    text = WRITE.format(declare=LONG_BLOCK)
    ran, profile = profiled(tmp_path, *script(tmp_path, text))
    ran.expect(0)
    assert "dropped" not in profile["origin"]
    _, found = intents_of(tmp_path)
    (name,) = (path for path in found["files"] if path.endswith("/out.h5"))
    said = found["files"][name]["reliability"]
    assert (said["value"], said["confidence"]) == ("durable", "full")
