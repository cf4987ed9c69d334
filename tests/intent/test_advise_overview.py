# SPDX-License-Identifier: Apache-2.0
"""What `tailrace advise` prints: the cure, what the program does, what was held back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tailrace_cli import called

from tailrace.intent.overview import agreed

Json = dict[str, Any]
WHY = "Settings, and why"
DOES, HELD = "What the program does", "Considered and held back"
SECTIONS = [WHY, DOES, HELD]
ITEMS = ["transfer size", "access pattern", "size on the file system", "hot segments",
         "process sharing", "reliability"]  # fmt: skip


def dataset(path: str, processes: str, calls: int, **more: Any) -> Json:
    """Blocks of 16 x 3000 float32 out of 512 x 3000."""
    writes = {
        "calls": calls, "bytes": calls * 192000, "requested_collective": calls,
        "shapes": [{"selection": "hyperslab", "length": [16, 3000], "calls": calls,
                    "call_bytes": 192000}],
        "sizes": [], "order": {"sequential": calls, "strided": 0, "random": 0, "repeated": 0},
    }  # fmt: skip
    return {
        "path": path, "interface": "hdf5", "processes": processes, "creates": 1,
        "type": {"class": "float", "bytes": 4}, "dims": [512, 3000], "elements": 1536000,
        "layout": "chunked", "chunk": [1, 3000], "writes": writes, "reads": None,
    } | more  # fmt: skip


def written(path: str, processes: str, objects: int, *datasets: Json, **hdf5: Any) -> Json:
    return {
        "path": path, "processes": processes,
        "hdf5": {"opens": 1, "creates": 1, "metadata": {"dataset": {"create": objects}}, **hdf5},
        "datasets": list(datasets),
    }  # fmt: skip


def profile_of(*files: Json, ranks: int = 8) -> Json:
    return {
        "schema": "tailrace-profile/1",
        "origin": {"kind": "hook", "command": "x", "version": "1", "start": ""},
        "run": {"ranks": ranks, "node_memory_bytes": 1 << 34,
                "processes": [{"id": 0, "hdf5_version": "2.2.0"}]},
        "files": list(files),
    }  # fmt: skip


def per_process(ranks: int = 8) -> list[Json]:
    """A file per process, as in the published demonstration: rank_0_test.h5 and so on."""
    return [
        written(f"/p/out/rank_{rank}_test.h5", str(rank), 120,
                *(dataset(f"/Timestep_{step}/{name}", str(rank), 32)
                  for step in range(3) for name in ("x", "y")))
        for rank in range(ranks)
    ]  # fmt: skip


@pytest.fixture
def shown(tmp_path: Path) -> Any:
    """What advise prints for a profile, and its JSON."""

    def show(profile: Json, *words: str) -> tuple[str, Json]:
        file = tmp_path / "profile.json"
        file.write_text(json.dumps(profile))
        text = called("advise", file, *words).expect(0).out
        return text, called("advise", file, "--json", *words).expect(0).json

    return show


def sections(text: str) -> dict[str, str]:
    """The text below each title, and that before the first; they stand in this order. Nothing may
    be held back."""
    titles = SECTIONS if f"{HELD}\n" in text else SECTIONS[:-1]
    at = [0] + [text.index(f"{title}\n") for title in titles]
    assert at == sorted(at)
    parts = (text[a:b] for a, b in zip(at, [*at[1:], len(text)], strict=True))
    return dict(zip(["", *titles], parts, strict=True))


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_file_per_process_is_one_pattern(shown: Any) -> None:
    text, found = shown(profile_of(*per_process()))
    assert max(map(len, text.splitlines())) <= 80
    parts = {title: one_line(part) for title, part in sections(text).items()}
    assert re.match(r"/p/out/\S+ may be slow: \S.*; to do: let `tailrace tune -- COMMAND` try 3 "
                     r"settings of a plan; to expect: \S.* Nothing is measured yet",
                     parts[""])  # fmt: skip
    intents = parts[DOES]
    assert "/p/out/rank_{rank}_test.h5 (8 files) output: written, not read by this run" in intents
    assert [item for _, item in re.findall(r"(\d)\. ([a-z ]+):", intents)] == ITEMS
    for words in (
        "transfer size: 187.5 KiB (1,536 calls)",
        "access pattern: write-only",
        "size on the file system: 281.2 MiB in 8 files",
        "hot segments: 16 x 3000 elements (1,536 times); sequential; each place once",
        "process sharing: a file per process, 8 processes; collective I/O asked for",
        "reliability: durable",
    ):
        assert words in intents, words
    own = "/Timestep_{step}/x, /Timestep_{step}/y (48 datasets): layout chunked, chunk 1 x 3000"
    assert own in intents
    # Each setting stands there once, with its reason.
    assert text.count("meta_block_bytes = 1048576 (1 MiB)") == 1
    assert text.count("= 128 x 3000") == 2, text
    assert "expected: metadata is in one place" in parts[WHY] and "(rule 18; " in parts[WHY]
    (one,) = found["intents"]
    assert (one["files"], one["processes"], one["bytes_moved"]) == (8, 8, 1536 * 192000)
    assert one["type"] == [{"value": "write_only", "files": 8}]
    (file,) = found["file_configurations"]
    assert [s["key"] for s in file["settings"]] == ["meta_block_bytes"]
    assert file["files"] == 8 and file["file"] == "/p/out/rank_{rank}_test.h5"
    (datasets_found,) = found["dataset_configurations"]
    assert datasets_found["count"] == 48 and len(datasets_found["datasets"]) == 2
    planned = {setting["key"] for entry in found["plan"]["entries"]
               for setting in entry["settings"]}  # fmt: skip
    told = {s["key"] for s in file["settings"] + datasets_found["settings"]}
    assert told == planned == {"meta_block_bytes", "chunk"}


def test_a_file_that_is_opened_more_than_read_is_an_input_all_the_same(shown: Any) -> None:
    """A point out of each of many maps."""
    point = {"calls": 1, "bytes": 4, "requested_independent": 1, "shapes": [], "sizes": []}
    map_of_it = dataset("/t", "0", 1, writes=None, reads=point, creates=0)
    file = written("/data/map.nc", "0", 0, map_of_it)
    file["hdf5"]["metadata"] = {"dataset": {"open": 40}, "attribute": {"read": 90}}
    _, found = shown(profile_of(file, ranks=1))
    (one,) = found["intents"]
    assert one["why"] == (
        "input: read, not written by this run; more calls open, create and describe than move data"
    )


def test_what_the_program_sets_itself_stands_beside(shown: Any) -> None:
    own = {"settings_of_program": {"alignment_bytes": 4096}, "driver": "mpio", "mpio": True,
           "communicator_size": 8}  # fmt: skip
    cache = {"settings_of_program": {"chunk_cache_bytes": 1 << 20, "memory_type_differs": True}}
    fill = {"defined": "default", "time": "ifset"}
    both = (dataset(name, "0-7", 32, fill=fill, **cache) for name in ("/x", "/y"))
    shared = written("/p/out/test.h5", "0-7", 10, *both, **own)
    text, found = shown(profile_of(shared))
    parts = {title: one_line(part) for title, part in sections(text).items()}
    words = "7. as it is: driver mpio, communicator_size 8, alignment_bytes 4096"
    assert words in parts[DOES]
    assert "chunk_cache_bytes 1048576" in parts[DOES]
    assert "memory_type_differs" not in text
    # What holds two datasets back for the same reason stands there once.
    assert "rule 20, /p/out/test.h5:/x and 1 more: " in parts[HELD]
    assert parts[HELD].count("rule 20, ") == 1
    assert [one["dataset"] for one in found["plan"]["held_back"]
            if one["because"]["rule"] == "20"] == ["/x", "/y"]  # fmt: skip
    assert "process sharing: a shared file, 8 processes" in parts[DOES]
    assert found["file_configurations"][0]["program"]["driver"] == "mpio"


def test_many_patterns_are_cut_and_counted_and_the_json_has_all(shown: Any) -> None:
    letters = "abcdefghijk"
    files = [written(f"/p/{'long' * 20}/{name}.h5", "0", 120 + k,
                     *(dataset(f"/{name}{part}", "0", k + 1) for part in "stuvw"))
             for k, name in enumerate(letters)]  # fmt: skip
    text, found = shown(profile_of(*files))
    does = sections(text)[DOES]
    assert max(map(len, does.splitlines())) <= 80
    assert does.count("transfer size:") == 6
    assert "(5 more patterns of files: --json has all)" in does
    assert "(5 more patterns of datasets: --json has all)" in does
    assert "/ks, /kt, /ku, /kv and 1 more (5 datasets): layout chunked" in does
    # What moves most goes first; what is cut off is the beginning of a name.
    assert re.search(r"^  \.\.\.[^ ]+/k\.h5 \(1 file\)$", does, re.M)
    assert [one["file"][-4:] for one in found["intents"]] == [f"{x}.h5" for x in letters[::-1]]
    assert len(found["file_configurations"]) == len(found["dataset_configurations"]) == 11


def test_files_of_a_pattern_that_differ_are_counted(shown: Any) -> None:
    files = per_process(4)
    for one in files[0]["datasets"]:
        one["reads"], one["writes"] = one["writes"], None
    text, found = shown(profile_of(*files, ranks=4))
    assert "write-only (3 files), read-only (1)" in one_line(text)
    assert found["intents"][0]["type"] == [
        {"value": "write_only", "files": 3}, {"value": "read_only", "files": 1}
    ]  # fmt: skip


def test_of_intents_too(shown: Any, tmp_path: Path) -> None:
    shown(profile_of(*per_process()))
    intents = tmp_path / "intents.json"
    called("intents", tmp_path / "profile.json", "-o", intents).expect(0)
    text = called("advise", intents).expect(0).out
    does = one_line(text[text.index(f"{DOES}\n") :])
    assert "rank_{rank}_test.h5 (8 files)" in does
    assert "layout chunked, chunk 1 x 3000" in does


def test_intents_carry_that_a_profile_lost_something(shown: Any, tmp_path: Path) -> None:
    whole, lossy = profile_of(*per_process()), profile_of(*per_process())
    lossy["origin"]["dropped"] = {"transfers": 5}
    shown(lossy)
    (tmp_path / "whole.json").write_text(json.dumps(whole))
    intents = tmp_path / "intents.json"
    called("intents", tmp_path / "profile.json", tmp_path / "whole.json", "-o", intents).expect(0)
    said = [one.get("complete") for one in json.loads(intents.read_text())["profiles"]]
    assert said == [False, None]
    called("advise", intents).expect(0)


def test_of_darshan_logs_too(logs: Path) -> None:
    text = called("advise", logs / "ior_hdf5_example.darshan").expect(0).out
    intents = one_line(text[text.index(f"{DOES}\n") :])
    assert "process sharing: a shared file, 4 processes" in intents
    assert "access pattern: " in intents and "not known" not in intents.split("reliability")[0]


def test_quiet_prints_nothing_and_as_prints_no_sections(shown: Any, tmp_path: Path) -> None:
    text, found = shown(profile_of(*per_process()), "--as", "h5py")
    assert DOES not in text and set(found) == {"command", "as", "text"}
    assert called("advise", tmp_path / "profile.json", "--quiet").expect(0).out == ""


def test_what_members_do_not_agree_on() -> None:
    both = agreed([{"a": 1, "b": [2, 3]}, {"a": 2, "b": [2, 3], "c": "only one"}])
    assert both == {"a": "differs", "b": [2, 3], "c": "differs"}
    assert agreed([]) == {}


def test_joined_intents_advise_the_reader_too(tmp_path: Path) -> None:
    """One program writes rows, another reads columns: the shapes of both are told apart."""
    rows = dataset("/x", "0", 200, chunk=[50, 3000], dims=[2000, 3000], elements=6000000)
    rows["filters"] = [{"id": 1, "name": "deflate", "values": [6]}]
    columns = {
        "calls": 30, "bytes": 30 * 8000, "requested_independent": 30,
        "shapes": [{"selection": "hyperslab", "length": [2000, 1], "calls": 30,
                    "call_bytes": 8000}],
        "sizes": [], "order": {"sequential": 30, "strided": 0, "random": 0, "repeated": 0},
    }  # fmt: skip
    writer = profile_of(written("/data/p.h5", "0", 1, rows), ranks=1)
    reader = profile_of(
        written("/data/p.h5", "0", 0, rows | {"writes": None, "reads": columns, "creates": 0}),
        ranks=1,
    )
    reader["files"][0]["hdf5"]["creates"] = 0
    writer["origin"]["start"], reader["origin"]["start"] = (
        "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z",
    )  # fmt: skip
    for name, profile in (("w", writer), ("r", reader)):
        (tmp_path / f"{name}.json").write_text(json.dumps(profile))
    joined = tmp_path / "joined.json"
    called("intents", tmp_path / "w.json", tmp_path / "r.json", "-o", joined).expect(0)
    why = one_line(sections(called("advise", joined).expect(0).out)[WHY])
    assert "30 calls of 2000 x 1 elements touch 40 chunks" in why
