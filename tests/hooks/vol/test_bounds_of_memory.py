# SPDX-License-Identifier: Apache-2.0
"""What a plan takes of memory where one rank may have less than the others.

Not in builds with AddressSanitizer, which takes more addresses than any limit leaves."""

from __future__ import annotations

from pathlib import Path

from plans import entry, setting, write_plan
from test_bounds import PROGRAM, lines_of, natively, told

# Of one rank: its environment is set in a shell.
LIMIT = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 3 ]; then ulimit -v 360000; fi; exec "$@"'


def test_a_cache_that_one_rank_has_no_memory_for(tmp_path: Path) -> None:
    """There it is what HDF5 gives by itself, which holds a chunk as well: how HDF5 reads together
    depends on that. The table of the slots counts too."""
    chunk, wanted, slots = 512 << 10, 80 << 20, 1048573
    caches, usual = (line.split()[1] for line in natively(tmp_path, chunk)[:2])
    large = setting("13", "chunk_cache_bytes", 300 << 20)
    small = [setting("13", "chunk_cache_bytes", wanted),
             setting("13", "chunk_cache_slots", 16777213)]  # fmt: skip
    cut = "cut: all caches would be larger than a quarter of the memory, shared by the ranks here"
    words = ("-n", "4", "sh", "-c", LIMIT, "sh", PROGRAM, "caches", "c.h5", str(chunk))
    plan = write_plan(tmp_path, entry("*.h5", large, dataset="/big", when="open"))
    said, lines = lines_of(tmp_path, plan, *words)
    assert "content right" in said
    assert f"caches {300 << 20} {300 << 20} {300 << 20} {caches}" in said
    assert told(lines, "chunk_cache_bytes") == {
        "0-2": ("applied", str(300 << 20), ""), "3": ("applied", caches, cut),
    }  # fmt: skip
    plan = write_plan(tmp_path, entry("*.h5", *small, dataset="/big", when="open"))
    said, lines = lines_of(tmp_path, plan, *words)
    assert "content right" in said
    assert f"caches {wanted} {wanted} {wanted} {wanted}" in said
    assert f"slots {slots} {slots} {slots} {usual}" in said
    assert told(lines, "chunk_cache_slots") == {
        "0-2": ("applied", str(slots), "cut: no more in a file of several ranks"),
        "3": ("applied", usual, cut),
    }  # fmt: skip
