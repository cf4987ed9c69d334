# SPDX-License-Identifier: Apache-2.0
"""What the lines call applied is in force; settings that exclude each other are not both."""

from __future__ import annotations

from pathlib import Path

import h5py
from plans import Json, applied, entry, setting, write_plan

MAKE = """
import h5py, numpy as np
with h5py.File("out.h5", "w") as f:
    f.create_dataset("plain", data=np.arange(1000.0))
    f.create_dataset("own", data=np.arange(1000.0), chunks=(100,))
    print(f.id.get_access_plist().get_mdc_config().max_size, flush=True)
"""
LARGEST = ("7", "metadata_cache_max_bytes")


def lines_of(folder: Path, *entries: Json, largest: int = 0) -> dict[tuple[str, str], Json]:
    ran, lines = applied(folder, write_plan(folder, *entries), MAKE)
    ran.expect(0)
    assert not largest or str(largest) in ran.err.splitlines()  # what the file itself says
    with h5py.File(folder / "out.h5") as file:
        for name in ("plain", "own"):
            assert (file[name][:] == range(1000)).all()
    return lines


def test_a_metadata_cache_is_no_smaller_than_it_begins(tmp_path: Path) -> None:
    for initial, wanted, there in ((None, 1024, 2 << 20), (16 << 20, 1 << 20, 16 << 20)):
        settings = [setting("7", "metadata_cache_max_bytes", wanted)]
        if initial is not None:
            settings.append(setting("7", "metadata_cache_initial_bytes", initial))
        line = lines_of(tmp_path, entry("out.h5", *settings), largest=there)[LARGEST]
        assert (line["became"], line["value"]) == ("applied", str(there))
        assert line["reason"] == "raised: no less than the first size of the cache"


def test_pages_need_their_strategy(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path, entry("out.h5", setting("9", "page_bytes", 65536, "layout"), when="create")
    )
    line = lines["9", "page_bytes"]
    assert (line["became"], line["reason"]) == ("misfit", "the file has no pages")


def test_what_has_chunks_is_not_compact(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        entry("out.h5", setting("18", "chunk", [500], "layout"),
              setting("23", "layout", "compact", "layout"), dataset="/plain", when="create"),
    )  # fmt: skip
    assert lines["18", "chunk"]["became"] == "applied"
    assert lines["23", "layout"]["became"] == "held"
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["plain"].chunks == (500,)


def test_a_sites_own_rule_leaves_the_programs_chunks(tmp_path: Path) -> None:
    """They are smaller than 64 KiB, for which rule 18 would take their place."""
    for rule, chunks in (("site.chunks", (100,)), ("18", (500,))):
        lines = lines_of(
            tmp_path,
            entry("out.h5", setting(rule, "chunk", [500], "layout"), dataset="/own", when="create"),
        )
        assert lines[rule, "chunk"]["became"] == ("kept" if chunks == (100,) else "applied")
        with h5py.File(tmp_path / "out.h5") as file:
            assert file["own"].chunks == chunks


def test_an_index_of_pytables_stays_as_it_is(tmp_path: Path) -> None:
    text = """
import h5py, numpy as np
with h5py.File("out.h5", "w") as f:
    f.create_dataset("_i_t/i/sorted", data=np.arange(1000.0), chunks=(100,))
"""
    plan = write_plan(
        tmp_path,
        entry("out.h5", setting("18", "chunk", [500], "layout"), dataset="/_i_*/*/*",
              when="create"),
    )  # fmt: skip
    _, lines = applied(tmp_path, plan, text)
    assert lines["18", "chunk"]["became"] == "held"
    assert "an index of PyTables" in lines["18", "chunk"]["reason"]
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["_i_t/i/sorted"].chunks == (100,)


def test_a_family_of_files_gets_no_larger_blocks(tmp_path: Path) -> None:
    text = """
import h5py, numpy as np
with h5py.File("f%d.h5", "w", driver="family", memb_size=20000) as f:
    f.create_dataset("x", data=np.arange(3000.0))
"""
    plan = write_plan(
        tmp_path,
        entry("f*.h5", setting("3", "meta_block_bytes", 1 << 20),
              setting("1", "alignment_threshold_bytes", 1, "layout"),
              setting("1", "alignment_bytes", 65536, "layout")),
        entry("f*.h5", setting("9", "file_space_strategy", "page", "layout"),
              setting("9", "page_bytes", 65536, "layout"), when="create"),
    )  # fmt: skip
    _, lines = applied(tmp_path, plan, text)
    for key in (("3", "meta_block_bytes"), ("1", "alignment_bytes"), ("9", "page_bytes")):
        assert lines[key]["reason"] == "a file of the family driver would have more members"
    assert len(list(tmp_path.glob("f*.h5"))) < 4
