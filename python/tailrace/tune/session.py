# SPDX-License-Identifier: Apache-2.0
"""A tune from its first look at the folder to what it leaves behind."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tailrace import interrupts
from tailrace.errors import ExitCode, TailraceError
from tailrace.intent import plugin, proof
from tailrace.intent.apply import classes_of
from tailrace.intent.native_calls import call
from tailrace.sandbox import leftovers, ownership, processes, streams, tree
from tailrace.sandbox.confinement import Confinement
from tailrace.sandbox.ground import Ground
from tailrace.sandbox.home_folder import InPlace
from tailrace.sandbox.ledger import Ledger, remove, taken
from tailrace.sandbox.outside_files import outside_of
from tailrace.sandbox.scratch import Scratch, run_folder
from tailrace.sandbox.survey import Survey, check_results, check_space, survey
from tailrace.tune import apply_start, page, relocation
from tailrace.tune.loop import Found, Tune
from tailrace.tune.request import Asked
from tailrace.tune.result import document
from tailrace.units import mib, plural, some
from tailrace.whole_files import write_text

Document = dict[str, Any]
Say = Callable[[str], None]
_ended = "ended"  # a fact: its verdict, which is still to be written
_cut_short = "cut short"  # a fact: by its budget, with its result written and all put back
_results_bytes = 8 << 20  # state, profile and report of a program with many files


def tune(asked: Asked, *, resume: bool, say: Say) -> Document:
    """Tunes, and writes what came of it into the folder of the results.

    Raises: TailraceError where it cannot begin, or the program itself does not go well;
    KeyboardInterrupt: what was found so far stays, for --resume.
    """
    began = time.monotonic()
    plugin.check(plugin.find(command="tune"))
    state = asked.state
    if resume and not state.is_dir():
        raise TailraceError(
            "there is no tune to continue", where=str(asked.output),
            hint="leave --resume out, or name its folder with -o",
        )  # fmt: skip
    ownership.check_own(asked.output, asked.scratch)
    processes.adopt()
    patience = interrupts.patient() if asked.in_place else nullcontext()
    held = ownership.held(asked.home, alone=asked.in_place, allowed=_allowed(asked))
    with held, taken(state), patience:
        ledger = _ledger(asked, state, resume, say)
        ground: Ground | None = None
        confined: Confinement | None = None
        try:
            ground = _ground(asked, ledger, say)
            _check_named_files(asked, ledger)
            confined = _confined(asked, ledger, say)
            found = Tune(asked, ground, ledger, say, confined, began).run()
            ledger.note(_ended, found.verdict.name)
            ground.put_back()
            found.notes += put_aside_notes(ground)
            result = _written_or_said(asked, found, ledger, say, confined=confined.is_whole)
            with interrupts.held():
                if found.goes_on:
                    ledger.note(_cut_short, True)
                    _say(say, _kept(asked))
                else:
                    ground.close()
                    remove(state)
        except BaseException:
            _given_up(asked, ground, ledger, say)
            raise
        finally:
            if confined is not None:
                confined.close()
    return result


def _allowed(asked: Asked) -> list[Path]:
    """Folders in which files are written; also of a killed tune, whose files are put back there."""
    begun = Ledger(asked.state).known("asked") or {}
    return [*asked.allow_outside, *map(Path, begun.get("allow_outside", []))]


def preview(asked: Asked) -> Document:
    """What would be done, without doing any of it."""
    linked = () if asked.in_place else asked.linked
    found = survey(asked.home, {asked.output, asked.scratch}, linked)
    there = asked.home if asked.in_place else run_folder(asked.home, asked.scratch)
    existing = next(path for path in (asked.scratch, *asked.scratch.parents) if path.exists())
    return {
        "command": "tune",
        "dry_run": True,
        "argv": relocation.words_in(asked.command, asked.home, there),
        "folder": str(there),
        "copied_files": len(found.files),
        "copied_bytes": found.bytes,
        "linked": sorted(found.links),
        "free_bytes": shutil.disk_usage(existing).free,
        "notes": found.notes,
    }


def _given_up(asked: Asked, ground: Ground | None, ledger: Ledger, say: Say) -> None:
    """The user's files are as they were. After measured runs there is something to go on with;
    before there is not, and nothing is left. Signals wait until that is done and said."""
    with interrupts.held():
        processes.end_all_of_ours()
        kept = _is_to_be_gone_on_with(ledger) or (ground is None and _has_copies(asked))
        try:
            _put_back_outside(asked, ledger, say)
        finally:
            if isinstance(ground, InPlace):
                put_back_and_say(ground, say)
            elif ground is not None:
                ground.put_back()
        if kept:
            _say(say, _kept(asked))
            return
        if ground is not None:
            ground.close()
        elif asked.scratch.is_dir():
            tree.discard(asked.scratch)
        remove(asked.state)
        with suppress(OSError):
            asked.output.rmdir()


def _kept(asked: Asked) -> str:
    return f"the results so far are in {asked.output}: --resume continues"


def _put_back_outside(asked: Asked, ledger: Ledger, say: Say) -> None:
    """Where the loop did not come to it: of two interrupts the second meets it on its way there."""
    if said := outside_of(ledger.known("recorded"), asked.scratch).brought_back():
        _say(say, said)


def _is_to_be_gone_on_with(ledger: Ledger) -> bool:
    """Runs were measured, or only the result is still to be written."""
    facts = (ledger.known("default-2"), ledger.known(_ended))
    return ledger.is_there and any(one is not None for one in facts)


def _has_copies(asked: Asked) -> bool:
    """Of a tune in place that could not put everything back, or that did not come so far again."""
    return asked.in_place and (asked.scratch / "tree").exists()


def put_back_and_say(ground: InPlace, say: Say) -> None:
    """Raises, so that it is told with --quiet too: which files are not back, and where they are."""
    try:
        ground.put_back()
    except (TailraceError, OSError) as error:
        away: list[str] = []
        with suppress(OSError):
            away = ground.away()
        raise TailraceError(
            f"NOT put back: {some(away) or error}", where=str(ground.folder),
            hint=_where_copies_are(ground), code=ExitCode.RUN_FAILED,
        ) from error  # fmt: skip
    _say(say, f"your files in {ground.folder} are as they were")
    for note in put_aside_notes(ground):
        _say(say, note)


def _where_copies_are(ground: InPlace) -> str:
    if ground.originals.is_dir():
        return f"the copies of your files are in {ground.originals}; --resume puts them back"
    return (
        f"the program has also removed the copies, which were in {ground.originals}. If a program "
        "removes folders, give -o another place, out of its reach"
    )


def put_aside_notes(ground: Ground) -> list[str]:
    """What lies there, by name: it might be the user's own."""
    if not isinstance(ground, InPlace) or not (names := ground.names_put_aside):
        return []
    return [
        "put aside, since they may be yours (written by one run only, by a run that was ended, or "
        f"between runs): {some(names)}, in {ground.put_aside}"
    ]


def _say(say: Say, text: str) -> None:
    """Also where nobody hears it any more: a terminal that is closed."""
    with suppress(OSError):
        say(text)


def _ledger(asked: Asked, state: Path, resume: bool, say: Say) -> Ledger:
    ledger = Ledger(state)
    begun, now = ledger.known("asked"), asked.as_fact()
    if begun is None:
        ledger.note("asked", now)
        ledger.note("seed", secrets.token_hex(4))
        return ledger
    scratch = Path(begun.get("scratch", asked.scratch))
    leftovers.put_right(ledger, scratch, say)
    if not resume and ledger.known(_cut_short):  # a new one is as good
        tree.discard(scratch)
        ledger.forget_all()
        return _ledger(asked, state, resume, say)
    if not resume:
        raise TailraceError(
            "an unfinished tune is here", where=str(asked.output),
            hint="--resume continues it" + (
                ", and restores your files first" if begun["in_place"]
                else "; or begin a new one with another -o"
            ),
        )  # fmt: skip
    if begun != now and begun["in_place"] and asked.in_place:
        _put_back_of(asked, begun, ledger, say)
        now = asked.as_fact()  # of files that a killed run had changed, too
    if begun != now:
        raise _another_one(asked.output, begun, now)
    if ledger.known(_cut_short):
        ledger.note(_cut_short, False)
    return ledger


def _put_back_of(asked: Asked, begun: Document, ledger: Ledger, say: Say) -> None:
    """The user's files, where a tune in place cannot be gone on with: they are theirs all the
    same."""
    scratch = Path(begun.get("scratch", asked.scratch))
    survey_of_it = ledger.known("survey")
    if begun["home"] == str(asked.home) and survey_of_it and (scratch / "tree").exists():
        ours = {asked.output, scratch, *streams.ours(ledger)}
        ground = InPlace(asked.home, scratch, Survey.of(survey_of_it), ours)
        ground.fill()
        put_back_and_say(ground, say)


def _another_one(output: Path, begun: Document, now: Document) -> TailraceError:
    """The unfinished tune that is there is not the one that is asked for."""
    other = [key for key, value in now.items() if begun.get(key) != value]
    what = f"it has other {', '.join(other)}"
    if "files" in other:
        what += f" ({some(proof.changed(begun.get('files', []), now['files']))})"
    hint = "give the same command and options to continue it"
    if "version" in other:
        by = begun.get("version", "an older one")
        hint = f"continue it with the tailrace that began it ({by})"
    return TailraceError(
        f"the unfinished tune here is another one: {what}", where=str(output),
        hint=f"{hint}, or begin a new one with another -o",
    )  # fmt: skip


def _ground(asked: Asked, ledger: Ledger, say: Say) -> Ground:
    words = streams.ours(ledger)
    ours = {asked.output, asked.scratch, *words}
    linked = () if asked.in_place else asked.linked
    begins = ledger.known("survey") is None
    known = ledger.fact("survey", lambda: asdict(_surveyed(asked, ours, linked)))
    found = Survey.of(known)
    if asked.in_place and asked.linked:
        say("--link: in place every file is copied, since a run may write to it")
    for note in [] if asked.in_place else found.notes:
        say(note)
    if begins:  # a tune that is gone on with may have files of the user to put back first
        check_results(shutil.disk_usage(asked.output).free, _results_bytes, asked.output)
    asked.scratch.mkdir(parents=True, exist_ok=True)
    ownership.sign(asked.scratch, asked.output)
    if not _has_copies(asked):
        check_space(found.bytes, shutil.disk_usage(asked.scratch).free, asked.scratch)
    ground: Ground
    if asked.in_place:
        ground = InPlace(asked.home, asked.scratch, found, ours)
    else:
        ground = Scratch(asked.home, asked.scratch, found, set(ledger.known("copies") or []))
    shared = ground.fill()
    for note in put_aside_notes(ground):
        say(note)
    changed = _not_by_runs(ledger, asked.home, found.without(words, asked.home).changed(asked.home))
    if changed and begins and not asked.in_place:
        say(f"changed while the folder was copied: {some(changed)}. Runs see the copies; --link "
            "leaves a file out that the program does not use")  # fmt: skip
    elif changed:
        raise TailraceError(
            f"{changed[0]} has been changed since this tune began", where=str(asked.home),
            hint="put it back as it was, or begin a new tune with another -o",
        )  # fmt: skip
    if found.files:
        how = f", {shared} of them sharing their blocks" if shared else ""
        say(f"{plural(len(found.files), 'file')} ({mib(found.bytes)}) copied to {asked.scratch}"
            f"{how}")  # fmt: skip
    say(f"runs work in {ground.folder}")
    return ground


def _not_by_runs(ledger: Ledger, home: Path, names: list[str]) -> list[str]:
    """Without what runs may write: the recording run has changed that, after it was looked at."""
    written = {str(path) for path in outside_of(ledger.known("recorded"), home).files}
    words = {name: (name, name.partition("=")[2]) for name in names}  # a word may be key=file
    return [
        name
        for name, paths in words.items()
        if not any(os.path.realpath(home / path) in written for path in paths)
    ]


def _check_named_files(asked: Asked, ledger: Ledger) -> None:
    """Raises: the program, or what else its command names, is not what it was in the runs that are
    known. Files beyond the folder and those of --link are in no survey."""
    before = ledger.known("named files")
    if before is None:
        return
    changed = proof.changed(before, proof.files_of(asked.command))
    if changed := _not_by_runs(ledger, asked.home, changed):
        raise TailraceError(
            f"{some(changed, 3)} changed since this tune began", where=str(asked.home),
            hint="put it back as it was, or begin a new tune with another -o",
        )  # fmt: skip


def _surveyed(asked: Asked, ours: set[Path], linked: Sequence[str]) -> Survey:
    """Raises also where what another tune has made of the files is still there."""
    found = survey(asked.home, ours, linked)
    ownership.check_put_back(asked.home / name for name in found.tunes)
    return found


def _confined(asked: Asked, ledger: Ledger, say: Say) -> Confinement:
    """What runs may write to. A folder for temporary files that was used before is used again:
    some programs print its path."""
    survey_links = (ledger.known("survey") or {}).get("links", {})
    values = (word.rpartition("=")[2] for word in asked.command)
    named = (Path(value) for value in values if value.startswith("/"))
    inputs = [asked.stdin, *map(Path, survey_links.values()), *named]
    yours = [asked.home, asked.output, *(path for path in inputs if path and _is_yours(path))]
    before = ledger.known("temporary")
    confined = Confinement(
        yours, asked.allow_outside, root=asked.scratch, command=asked.command,
        temporary=Path(before) if before else None,
    )  # fmt: skip
    ledger.note("temporary", str(confined.temporary))
    if confined.why_not:
        say(f"runs are not confined: {confined.why_not}")
    return confined


def _is_yours(path: Path) -> bool:
    """A word that only looks like a path may be too long for one, or lead into a closed folder,
    where Path.is_file() would raise. Devices are nobody's."""
    return os.path.isfile(path) or os.path.isdir(path)  # noqa: PTH112, PTH113


def _written_or_said(
    asked: Asked, found: Found, ledger: Ledger, say: Say, *, confined: bool
) -> Document:
    """What hours have found is said where no room is left for it."""
    try:
        return _written(asked, found, ledger, confined=confined)
    except TailraceError:
        say(f"the result could not be written ({found.verdict.name}): {found.verdict.reason}")
        raise


def _written(asked: Asked, found: Found, ledger: Ledger, *, confined: bool) -> Document:
    """The result, in the folder that is the user's. The state stays whole until all of it stands
    there, result.json last: a tune that is cut short here can be gone on with."""
    plan = _kept_plan(asked, found, ledger)
    result = document(asked, found, plan, _runs(ledger), confined=confined)
    kept = json.loads(plan.read_text()) if plan else None
    write_text(asked.output / "report.html", page.render(result, kept))
    write_text(asked.output / "profile.json", (asked.state / "profile.json").read_text())
    write_text(asked.output / "result.json", json.dumps(result, indent=2) + "\n")
    return result


def _kept_plan(asked: Asked, found: Found, ledger: Ledger) -> Path | None:
    """Writes the plan with its proof, where it is kept; an older one goes away."""
    file = asked.output / "plan.json"
    if found.verdict.name != "kept" or found.candidate is None:
        file.unlink(missing_ok=True)
        return None
    plan = json.loads(call("checked_plan", json.dumps(found.candidate.plan), str(file)))
    before = ledger.known("named files") or []
    try:
        plan["proof"] = proof.of_run(plan, asked.command, before, found.profile)
    except TailraceError as error:
        found.notes.append(f"the plan has no proof: {error.what}")
    write_text(file, json.dumps(plan, indent=2) + "\n")
    saved_s = statistics.median(found.times.one) - statistics.median(found.times.other)
    is_collective = "collective" in classes_of(plan)
    if note := apply_start.start_note(file, saved_s, is_collective=is_collective):
        found.notes.append(note)
    return file


def _runs(ledger: Ledger) -> list[Document]:
    """Every run with a time of its own."""
    keys = ("elapsed_s", "run_s", "sync_s", "code", "stopped")
    return [
        {"name": name, **{key: value[key] for key in keys}}
        for name, value in ledger.all().items()
        if isinstance(value, dict) and "sync_s" in value
    ]
