# SPDX-License-Identifier: Apache-2.0
"""What programs print, line by line."""

from __future__ import annotations

from tailrace.tune import printed_lines


def test_lines_that_differ_by_themselves_are_left_out() -> None:
    found = printed_lines.steady(b"sum 42\ntook 1.5 s\n", b"sum 42\ntook 1.7 s\n")
    assert found.unsteady == {1}
    assert found.comparable == 1
    assert printed_lines.differs(found, b"sum 42\ntook 0.1 s\n") == ""
    why = printed_lines.differs(found, b"sum 41\ntook 0.1 s\n")
    assert why == "line 1 is 'sum 41' and 'sum 42' by default"


def test_another_number_of_lines() -> None:
    known = printed_lines.steady(b"a\nb\n", b"a\nb\n")
    assert printed_lines.differs(known, b"a\n") == "2 lines and 3 by default"
    unknown = printed_lines.steady(b"a\n", b"a\nb\n")
    assert unknown.comparable == 0
    assert printed_lines.differs(unknown, b"anything") == ""


def test_empty_lines_prove_nothing() -> None:
    assert printed_lines.steady(b"\n \n", b"\n \n").comparable == 0
