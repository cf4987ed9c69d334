# SPDX-License-Identifier: Apache-2.0
"""The folders that a tune works in are its own: what is in them is removed in the end, so none of
them may be the user's."""

from __future__ import annotations

from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.sandbox import ownership, tree
from tailrace.sandbox.ledger import Ledger

_names = {"state", "scratch"}


def check(output: Path, scratch: Path) -> None:
    """Raises: of the folder of the results, the state in it, and the scratch folder, one is there
    and not of a tune, so that something of the user's could be lost in it."""
    if output.exists() and not _is_of_results(output):
        raise _refused(output, "is there and is no folder of tailrace tune")
    state = output / "state"
    begun = Ledger(state).known("asked") if ownership.has_begun(output) else None
    if state.exists() and begun is None and not _is_left_over(state):
        raise _refused(state, "is there and is not of a tune, which keeps its state there")
    is_known = begun is not None and begun.get("scratch", str(scratch)) == str(scratch)
    if scratch.exists() and not is_known and not _is_scratch(scratch):
        raise _refused(
            scratch, "is there and is not of a tune, whose runs work there", "-o or --scratch"
        )


def _is_of_results(output: Path) -> bool:
    if not output.is_dir():
        return False
    if ownership.has_begun(output) or _has_result(output):
        return True
    return all(path.name in _names for path in output.iterdir())


def _has_result(folder: Path) -> bool:
    file = folder / "result.json"
    return file.is_file() and b'"tailrace-tune/' in file.read_bytes()[:200]


def _is_left_over(state: Path) -> bool:
    """Of a tune that was killed before its first fact, or when its facts were removed already."""
    return state.is_dir() and all(map(_is_of_a_state, state.iterdir()))


def _is_of_a_state(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name == "profile.json":
        return b'"tailrace-profile/' in path.read_bytes()
    return path.name in {"facts.jsonl", "lock"} and path.stat().st_size == 0


def _is_scratch(folder: Path) -> bool:
    """What was put aside stays when the rest of a scratch folder goes."""
    if not folder.is_dir():
        return False
    return ownership.is_signed(folder) or all(
        path.name == tree.put_aside for path in folder.iterdir()
    )


def _refused(folder: Path, what: str, options: str = "-o") -> TailraceError:
    return TailraceError(
        what, where=str(folder),
        hint=f"name another one with {options}; nothing was written into this one",
    )  # fmt: skip
