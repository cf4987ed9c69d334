# SPDX-License-Identifier: Apache-2.0
"""The settings of the best combination as files to take along: hints, environment, kernel input."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from tailrace.errors import ExitCode, TailraceError
from tailrace.sweep.check import dry_run
from tailrace.sweep.findings import Findings
from tailrace.sweep.plan import Combination, Plan
from tailrace.sweep.proof import Proof
from tailrace.sweep.ranking import Ranked

_sign = "# made by tailrace sweep"
_root = "ALLOW_RUN_AS_ROOT"
_most_alike = 8


def check_folder(folder: Path, kernel: str) -> None:
    """Raises TailraceError, before anything runs, where the files could not be written."""
    where = str(folder)
    if folder.exists() and not folder.is_dir():
        raise TailraceError("is no folder", where=where, hint="name another with --output")
    if not folder.exists() and not folder.parent.is_dir():
        raise TailraceError(
            "cannot be made: the folder above it does not exist", where=where,
            hint="make it first, or name another with --output",
        )  # fmt: skip
    for name in _names(kernel):
        file = folder / name
        if file.exists() and _sign.encode() not in file.read_bytes()[:200]:
            raise TailraceError(
                "is there and was not made by tailrace sweep; it is not overwritten",
                where=str(file), hint="name another folder with --output",
            )  # fmt: skip


def _names(kernel: str) -> tuple[str, str, str, str]:
    return "hints", "environment.sh", f"{kernel}.in", "README.md"


def write_recommended(folder: Path, plan: Plan, found: Findings, proof: Proof) -> list[Path]:
    """Of the best of the ranking. The files that were written."""
    best = found.ranked[0]
    combination = next(one for one in plan.combinations if one.name == best.case.name)
    record = best.case.typical().full()
    hints: dict[str, str] = record["mpi_io"]["hints_requested"]
    romio = "ROMIO" in record["mpi_io"]["implementation"]
    about = f"{_sign}: {plan.sweep}, {best.case.name}"
    texts = dict(
        zip(
            _names(plan.kernel),
            (
                _lines([about, *(f"{name} {value}" for name, value in hints.items())]),
                _environment(about, combination, with_hints=bool(hints) and romio),
                _lines([about, *_input(plan, combination)]),
                _readme(plan, found, combination, proof, bool(hints)),
            ),
            strict=True,
        )
    )
    try:
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TailraceError(
            f"cannot be written: {error.strerror}", where=str(folder),
            hint="the Records are kept; --resume with another --output writes the files alone",
            code=ExitCode.RUN_FAILED,
        ) from error  # fmt: skip
    return [folder / name for name in texts]


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _environment(about: str, combination: Combination, *, with_hints: bool) -> str:
    """For sh: what the factors set; what only lets root run here stays here."""
    given = combination.variant.launch.environment
    lines = [f"export {k}={shlex.quote(v)}" for k, v in given.items() if _root not in k]
    if with_hints:
        lines += [
            "# ROMIO takes hints from a file too, for programs that set none; give its place:",
            "# export ROMIO_HINTS=/where/you/keep/it/hints",
        ]
    return _lines([about, *(lines or ["# the best combination needs no variable"])])


def _input(plan: Plan, combination: Combination) -> list[str]:
    """Every key of the effective configuration, as the program itself lists it."""
    said = dry_run(plan, combination)
    if said.code:
        raise TailraceError(
            "the program no longer takes the best combination", where=combination.name,
            hint=said.err.strip(), code=ExitCode.RUN_FAILED,
        )  # fmt: skip
    return [_without_comment(line) for line in said.out.splitlines() if not line.startswith("#")]


def _without_comment(line: str) -> str:
    """The program names the source of each value behind it."""
    return line.rpartition("  # ")[0].rstrip() if "  # " in line else line


def _readme(
    plan: Plan, found: Findings, combination: Combination, proof: Proof, hints: bool
) -> str:
    best = found.ranked[0]
    launch = combination.variant.launch
    command = shlex.join([*launch.words, plan.program.name, "--input", f"{plan.kernel}.in"])
    alike = [one for one in found.ranked[1:] if one.among_best]
    lines = [
        f"<!-- {_sign} -->",
        f"# {plan.kernel}: the fastest of {len(found.ranked)} combinations",
        "",
        f"`{best.case.shown}`: {_time(best)} (median of {len(best.case.values)} repetitions, "
        f"{found.runs.metric} time), sweep `{plan.sweep}`, seed {plan.seed}; {proof.text}.",
        "",
        "    . ./environment.sh",
        f"    {command}",
        "",
        f"- `{plan.kernel}.in`: every input of the kernel",
        "- `environment.sh`: variables; read it with `.` before the program starts",
        f"- `hints`: MPI-IO hints, `name value` per line{'' if hints else ' (none)'}",
        "",
    ]
    if alike:
        lines += ["Not to be told from it:", ""]
        lines += [f"- `{one.case.shown}`: {_time(one)}" for one in alike[:_most_alike]]
        lines += ["- and more"] * (len(alike) > _most_alike) + [""]
    lines += ["Why:", "", *(f"- {one.text}" for one in found.explanations), ""]
    lines += [
        "The fastest of many is in part the luckiest of many. Measure it again, in new runs:",
        "",
        f"    {_confirm(plan, combination)}",
    ]
    return _lines(lines)


def _time(one: Ranked) -> str:
    interval = f" ({one.interval_s[0]:.3g} to {one.interval_s[1]:.3g})" if one.interval_s else ""
    return f"{one.median_s:.3g} s{interval}"


def _confirm(plan: Plan, best: Combination) -> str:
    """Against the combination of the first values; what compare cannot vary is run by itself."""
    first = plan.combinations[0]
    if first is best:
        first = plan.combinations[-1]
    if {one.kind for one in plan.factors} - {"key", "hint"}:
        return "the same sweep again with fewer values and --repeat 16"
    common = {word for word in best.variant.words if word in first.variant.words}
    sides = [shlex.join(w for w in one.variant.words if w not in common) for one in (first, best)]
    rest = [word for word in best.variant.words if word in common]
    return "tailrace " + shlex.join(["compare", "--run", *sides, "--", plan.kernel, *rest])
