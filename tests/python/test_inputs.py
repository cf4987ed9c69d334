# SPDX-License-Identifier: Apache-2.0
"""What the launcher has to know of a run's inputs."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from tailrace.errors import TailraceError
from tailrace.run.inputs import gather

TEXT = b"# default test set\nprocessor 2 3 4  # grid\n# time 9\ntime 4\nDONE\nprocessor 1 1 1\n"


def test_words_make_arguments_and_ranks() -> None:
    found = gather(["processor=2x2x3", "precreate", "time=4"], None, io.BytesIO(), {})
    assert found.arguments == ["processor=2x2x3", "precreate", "time=4"]
    assert (found.ranks(), found.stdin) == (12, None)


def test_standard_input_is_read_up_to_done_and_no_further() -> None:
    stream = io.BytesIO(TEXT)
    found = gather(["-"], None, stream, {})
    assert found.stdin == TEXT[: TEXT.index(b"DONE") + 5] and found.ranks() == 24
    assert stream.read() == b"processor 1 1 1\n"
    assert found.arguments == []


def test_words_beside_standard_input_win() -> None:
    found = gather(["-", "processor=1x1x2"], None, io.BytesIO(TEXT), {})
    assert found.ranks() == 2 and found.arguments == ["--input", "-", "processor=1x1x2"]


def test_a_file_then_the_environment_then_words(tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(TEXT)
    assert gather([], file, io.BytesIO(), {}).ranks() == 24
    environment = {"TAILRACE_SEISM_PROCESSOR": "2 2 2"}
    assert gather([], file, io.BytesIO(), environment).ranks() == 8
    assert gather(["processor=1x1x1"], file, io.BytesIO(), environment).ranks() == 1


@pytest.mark.parametrize("text", ["", "2 2", "2 2 0", "a b c", "2 2 -2", "9999999999 1 1"])
def test_an_unusable_grid_gives_no_ranks(text: str) -> None:
    assert gather([f"processor={text}"], None, io.BytesIO(), {}).ranks() is None


def test_the_file_that_standard_input_is_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "in"
    for key, name in (("filename", "in"), ("results", "link")):
        file.write_bytes(b"processor 1 1 1\nDONE\n")
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to("in")
        with file.open("rb") as stream, pytest.raises(TailraceError, match="same file") as caught:
            gather(["-", f"{key}={tmp_path / name}"], None, stream, {})
        assert caught.value.code == 2 and f"give {key} another" in str(caught.value.hint)
        with file.open("rb") as stream:
            gather(["-", f"{key}={tmp_path / 'other'}"], None, stream, {})
            gather([f"{key}={tmp_path / name}"], None, stream, {})


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    """File names are bytes; what is no UTF-8, and line ends of another system, go through."""
    text = b"processor 1 1 2#two\r\nfilename a\xe9\x85#1.h5 # e\r\n\x0cDONE\nDONE#end\nmore\n"
    found = gather(["-"], None, io.BytesIO(text), {})
    assert found.stdin == text[: text.index(b"more")]
    assert found.ranks() == 2
    assert os.fsencode(found.path("filename", "")) == b"a\xe9\x85#1.h5"


def test_nothing_and_contradictions_are_errors(tmp_path: Path) -> None:
    with pytest.raises(TailraceError, match="no inputs"):
        gather([], None, io.BytesIO(), {})
    with pytest.raises(TailraceError, match="exclude each other"):
        gather(["-"], tmp_path / "x", io.BytesIO(), {})
    with pytest.raises(TailraceError, match="No such file"):
        gather([], tmp_path / "x", io.BytesIO(), {})
