# SPDX-License-Identifier: Apache-2.0
"""A plan as lines for the program itself, for those who rather change it than run it under a hook.

A function becomes the value that it had where the profile was taken.
"""

from __future__ import annotations

from typing import Any

from tailrace.errors import TailraceError

kinds = ("h5py", "netcdf4", "xarray", "c", "fortran", "hints")


def snippet(kind: str, plan: dict[str, Any]) -> str:
    """The lines, as a text that ends with a line end."""
    from tailrace.intent.snippets import compiled, hints, python

    makers = {
        "h5py": python.h5py_lines,
        "netcdf4": python.netcdf4_lines,
        "xarray": python.xarray_lines,
        "c": compiled.c_lines,
        "fortran": compiled.fortran_lines,
        "hints": hints.hint_lines,
    }
    lines = makers[kind](plan)
    if not lines:
        raise TailraceError(
            f"the plan has nothing that can be said in {kind}", where="--as",
            hint="`tailrace advise` without --as shows what there is",
        )  # fmt: skip
    return "\n".join(lines) + "\n"
