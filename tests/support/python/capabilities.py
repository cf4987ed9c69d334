# SPDX-License-Identifier: Apache-2.0
"""A test as an ordinary user: a conftest.py that imports the fixture offers it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

VERSION = 0x20080522  # of the capabilities' interface, as <linux/capability.h> has it
DAC_OVERRIDE, DAC_READ_SEARCH = 1 << 1, 1 << 2


def _capabilities(call: str, values: Any) -> None:
    """Of this thread: effective, permitted, inheritable, of 32 each, in two rounds."""
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    if getattr(ctypes.CDLL(None, use_errno=True), call)(header, values):
        raise OSError(ctypes.get_errno(), call)


@pytest.fixture
def ordinary() -> Iterator[None]:
    """Root is not stopped by permissions; without these capabilities it is, as anybody is."""
    before = (ctypes.c_uint32 * 6)()
    _capabilities("capget", before)
    less = (ctypes.c_uint32 * 6)(*before)
    less[0] &= ~(DAC_OVERRIDE | DAC_READ_SEARCH)
    _capabilities("capset", less)
    yield
    _capabilities("capset", before)
