# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder print. It imports nothing that wheels bring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def answer(name: str, question: Callable[[], Any]) -> None:
    """The value or the error, in one line that is the same in each run."""
    try:
        told = question()
    except Exception as error:
        # PyTables adds the stack of HDF5, with more callers where there are more.
        text = [line for line in str(error).splitlines() if line and not line.startswith("  ")]
        told = f"{type(error).__name__}: {text[-1:]}"
    print(f"{name}: {told!r}".replace(str(Path.cwd()), "."))
