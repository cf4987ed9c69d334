# SPDX-License-Identifier: Apache-2.0
"""What `--vary` understands, and what it says to what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.errors import ExitCode, TailraceError
from tailrace.run.inputs import words_of
from tailrace.run.programs import MpiLibrary
from tailrace.run.variant import joined
from tailrace.sweep import mpi_io
from tailrace.sweep.factors import Keys, factors_of, split_values
from tailrace.units import span, span_of

HELP = """
  -i, --input FILE                read lines from FILE
      --dry-run                   print

Geometry:
  chunk X Y Z                     size of a chunk
  time N                          number of time steps
  collective_write                write with collective calls (format hdf5, mpiio)
  alloc_time early|late|incremental|default  when storage is allocated
  hint NAME=VALUE                 an MPI_Info key
  results TEXT                    file
  repeat N                        so many
"""
KEYS = Keys.of_help(HELP)
OPEN_MPI = MpiLibrary("openmpi", Path("/usr/lib/libmpi.so.40"))
MPICH = MpiLibrary("mpich", Path("/usr/lib/libmpich.so.12"))


@pytest.fixture(autouse=True)
def open_mpi_has_both(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "   MCA io: romio321 (MCA v2.1.0)\n   MCA io: ompio (MCA v2.1.0)\n"
    monkeypatch.setattr(mpi_io, "output_of", lambda _command, timeout_s: text)


def test_keys_and_flags_are_those_of_the_help() -> None:
    assert KEYS.all == {"chunk", "time", "collective_write", "alloc_time", "hint", "results",
                        "repeat"}  # fmt: skip
    assert KEYS.flags == {"collective_write"}


KINDS = [
    ("chunk=8x8x8,none", "key", [("chunk=8x8x8",), ()], {}),
    ("collective=on,off", "key", [("collective_write=1",), ("collective_write=0",)], {}),
    ("collective_write=true,0", "key", [("collective_write=1",), ("collective_write=0",)], {}),
    ("cb_nodes=1,2", "hint", [("hint=cb_nodes=1",), ("hint=cb_nodes=2",)], {}),
    ("hint.mine=a,b", "hint", [("hint=mine=a",), ("hint=mine=b",)], {}),
    ("hint.mine='a,b',c\\,d", "hint", [("hint=mine=a,b",), ("hint=mine=c,d",)], {}),
    ("mpiio=ompio,romio", "mpiio", [(), ()], {"OMPI_MCA_io": ["ompio", "romio321"]}),
    ("mca.fcoll=vulcan,none", "mca", [(), ()], {"OMPI_MCA_fcoll": ["vulcan", None]}),
    ("env.H5FD_X=1,2", "env", [(), ()], {"H5FD_X": ["1", "2"]}),
]


@pytest.mark.parametrize(("text", "kind", "words", "environment"), KINDS)
def test_what_a_value_does(
    text: str, kind: str, words: list[tuple[str, ...]], environment: dict[str, list[str | None]]
) -> None:
    (factor,) = factors_of([text], KEYS, OPEN_MPI)
    assert factor.kind == kind and [level.words for level in factor.levels] == words
    for name, values in environment.items():
        assert [level.environment.get(name) for level in factor.levels] == values
    assert all(set(level.environment) <= set(environment) for level in factor.levels)


MISTAKES = [
    (["chunks=1,2"], 'nothing called "chunks" to vary. Did you mean "chunk"?'),
    (["cb_node=1,2"], 'Did you mean "cb_nodes"?'),
    (["chunk"], '"chunk" is no NAME=VALUE,VALUE'),
    (["=1,2"], "is no NAME=VALUE,VALUE"),
    (["time=4"], "has one value, so nothing varies"),
    (["time=4,,5"], "has an empty value"),
    (["time=4,4"], 'the values "4" and "4" are the same'),
    (["collective=on,1"], 'the values "on" and "1" are the same'),
    (["time='4,5"], "a quotation is not closed"),
    (["collective=on,off", "collective_write=1,0"], '"collective_write" is varied twice'),
    (["results=a,b"], '"results" cannot be varied'),
    (["repeat=2,3"], "--repeat N says how many"),
    (["ranks=1,2"], "`tailrace scale` varies the ranks"),
    (["mpiio=romoi,ompio"], 'has no MPI-IO "romoi". Did you mean "romio"?'),
]


@pytest.mark.parametrize(("texts", "said"), MISTAKES)
def test_mistakes(texts: list[str], said: str) -> None:
    with pytest.raises(TailraceError) as caught:
        factors_of(texts, KEYS, OPEN_MPI)
    assert said in caught.value.text() and caught.value.code == ExitCode.USAGE


@pytest.mark.parametrize("text", ["mpiio=ompio,romio", "mca.io=a,b"])
def test_where_mpi_has_nothing_to_choose(text: str) -> None:
    with pytest.raises(TailraceError) as caught:
        factors_of([text], KEYS, MPICH)
    assert caught.value.code == ExitCode.CAPABILITY_MISSING and "MPICH" in caught.value.text()


def test_values_are_split_at_commas_that_stand_free() -> None:
    assert split_values("1,2") == ["1", "2"]
    assert split_values("'1,2',\"3,4\",5\\,6") == ["1,2", "3,4", "5,6"]
    assert split_values("") == [""]


def test_hints_are_joined_name_by_name() -> None:
    common = ["hint=a=1", "hint=b=1", "time=4", "results=x"]
    assert joined(common, ["hint=a=2"]) == ["hint=b=1", "time=4", "hint=a=2"]


def test_the_words_of_an_input_file(tmp_path: Path) -> None:
    file = tmp_path / "run.in"
    file.write_text("domain 8 8 8  # elements\nhint a=1\nhint b=2\nverify\nDONE\ntime 9\n")
    assert words_of(file) == ["domain=8 8 8", "hint=a=1", "hint=b=2", "verify"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600), ("90s", 90), ("90", 90), ("1h30m", 5400), ("1.5h", 5400)]
)
def test_times(text: str, seconds: float) -> None:
    assert span_of(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "0", "soon", "10x", "-5", "5m10h"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(TailraceError, match="is no time"):
        span_of(text, "--budget")


def test_times_as_they_are_said() -> None:
    assert [span(s) for s in (0.42, 12, 200, 5400)] == ["0.4 s", "12 s", "3 min 20 s", "1 h 30 min"]
