# SPDX-License-Identifier: Apache-2.0
"""A plan as lines for the program itself, for those who rather change it than run it under a hook.

A function becomes the value that it had where the profile was taken. What cannot be said in the
program is named in a comment.
"""

from __future__ import annotations

from typing import Any

from tailrace.errors import TailraceError

kinds = ("h5py", "netcdf4", "xarray", "c", "fortran", "hints")


def _made(kind: str, plan: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The lines, and comments with what they do not say."""
    from tailrace.intent.snippets import c_lines, fortran_lines, h5py_lines, hints, netcdf_lines

    makers = {
        "h5py": h5py_lines.h5py_lines,
        "netcdf4": netcdf_lines.netcdf4_lines,
        "xarray": netcdf_lines.xarray_lines,
        "c": c_lines.c_lines,
        "fortran": fortran_lines.fortran_lines,
        "hints": hints.hint_lines,
    }
    return makers[kind](plan)


def snippet(kind: str, plan: dict[str, Any]) -> str:
    """The lines and their comments, as a text that ends with a line end."""
    lines, comments = _made(kind, plan)
    if not lines and not comments:
        raise TailraceError(
            "the plan has no settings", where="--as",
            hint="`tailrace advise` without --as shows what there is",
        )  # fmt: skip
    between = [""] if lines and comments else []
    return "\n".join([*lines, *between, *comments]) + "\n"


def kinds_with_lines(plan: dict[str, Any]) -> list[str]:
    """Kinds that have more than comments."""
    return [kind for kind in kinds if _made(kind, plan)[0]]
