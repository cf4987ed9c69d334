# SPDX-License-Identifier: Apache-2.0
"""The proof of content: what is compared, what is left out, and that a change is caught."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from tailrace.tune import content
from tailrace.tune.content import Result
from tailrace.tune.delivered_reads import Read
from tailrace.tune.oldest_reader import needs, newer_than

Change = Callable[[h5py.File], object]


def write(file: Path, change: Change = lambda _file: None, **options: str) -> Path:
    """A file with two arrays, a group and attributes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(file, "w", **options) as made:
        made.attrs["title"] = "a test"
        made["group/a"] = np.arange(12.0).reshape(3, 4)
        made["group/b"] = np.arange(5)
        change(made)
    return file


def result(folder: Path, change: Change = lambda _file: None, stdout: bytes = b"", code: int = 0,
           texts: dict[str, str] | None = None) -> Result:  # fmt: skip
    files = {"out.h5": write(folder / "out.h5", change)}
    for name, text in (texts or {}).items():
        (folder / name).write_text(text)
        files[name] = folder / name
    return Result(files, (), stdout, code)


def shift(file: h5py.File) -> None:
    file["group/a"][0] = np.roll(file["group/a"][0], 1)


def rename(file: h5py.File) -> None:
    file.move("group/b", "group/c")


CHANGES: dict[str, Change] = {
    "one element": lambda file: file["group/a"].__setitem__((2, 3), -1),
    "a shifted row": shift,
    "an attribute": lambda file: file.attrs.__setitem__("title", "another"),
    "an attribute less": lambda file: file.attrs.__delitem__("title"),
    "an array less": lambda file: file.__delitem__("group/b"),
    "another name": rename,
    "one array more": lambda file: file.__setitem__("more", 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_caught_and_named(name: str, tmp_path: Path) -> None:
    default = result(tmp_path / "1")
    known = content.by_itself(default, result(tmp_path / "2"))
    report = content.against_default(default, result(tmp_path / "3", CHANGES[name]), known)
    assert not report.equal
    assert report.files == ["out.h5"]
    assert report.differences[0].startswith("out.h5: /")


def test_equal_files_are_equal_whatever_their_chunks(tmp_path: Path) -> None:
    def chunked(file: h5py.File) -> None:
        del file["group/b"]
        file.create_dataset("group/b", data=np.arange(5), chunks=(2,))

    default = result(tmp_path / "1")
    known = content.by_itself(default, result(tmp_path / "2"))
    report = content.against_default(default, result(tmp_path / "3", chunked), known)
    assert report.equal, report.differences
    assert (report.files_compared, known.names) == (1, [])
    assert report.what.startswith("1 file, ")


def test_what_differs_by_itself_is_left_out_by_name_and_nothing_else(tmp_path: Path) -> None:
    def dated(date: str) -> Change:
        def change(file: h5py.File) -> None:
            file.attrs["date"] = date
            file["group/random"] = [float(len(date))]

        return change

    default = result(tmp_path / "1", dated("monday"))
    known = content.by_itself(default, result(tmp_path / "2", dated("thursday")))
    assert known.names == ["out.h5: /@date", "out.h5: /group/random"]

    def tuned(file: h5py.File) -> None:
        dated("friday")(file)
        file["group/a"][1, 1] = 7

    good = content.against_default(default, result(tmp_path / "3", dated("sun")), known)
    assert good.equal, good.differences
    bad = content.against_default(default, result(tmp_path / "4", tuned), known)
    assert bad.differences == ["out.h5: /group/a: value: 7.0, by default 5.0"]


def test_a_file_less_or_more_is_a_difference(tmp_path: Path) -> None:
    default = result(tmp_path / "1", texts={"log": "x"})
    known = content.by_itself(default, result(tmp_path / "2", texts={"log": "x"}))
    less = content.against_default(default, result(tmp_path / "3"), known)
    assert less.differences == ["log: was not written"]
    more = result(tmp_path / "4", texts={"log": "x", "more": "x"})
    assert content.against_default(default, more, known).differences == [
        "more: is not written by default"
    ]


def test_reads_of_a_file_with_such_a_name_are_forgiven_too() -> None:
    def run(number: int, sum_of_input: str = "1") -> Result:
        reads = {
            "/d/in.h5:/x": Read(1, 8, sum_of_input, 0),
            f"/d/t{number}.h5:/x": Read(1, 8, "2", 0),
        }
        return Result({}, (), b"", 0, reads)

    known = content.by_itself(run(15), run(234))
    assert known.names == ["values read from /d/t*.h5:/x"]
    assert content.against_default(run(15), run(7), known).equal
    assert content.against_default(run(15), run(7, "3"), known).files == ["/d/in.h5"]


def test_text_is_compared_by_line_and_other_bytes_as_a_whole(tmp_path: Path) -> None:
    def with_log(number: int, second: str, data: str = "\0a") -> Result:
        texts = {"log": f"began {number}\n{second}\n", "data": data}
        return result(tmp_path / str(number), texts=texts)

    default = with_log(1, "sum 3")
    known = content.by_itself(default, with_log(2, "sum 3"))
    assert known.names == ["log: line 1"]
    assert content.against_default(default, with_log(3, "sum 3"), known).equal
    assert content.against_default(default, with_log(4, "sum 4"), known).files == ["log"]
    assert content.against_default(default, with_log(5, "sum 3", "\0b"), known).files == ["data"]


def test_bytes_that_differ_by_themselves_are_left_out_as_a_whole(tmp_path: Path) -> None:
    one, other = (result(tmp_path / n, texts={"data": f"\0{n}"}) for n in "12")
    assert content.by_itself(one, other).names == ["data"]


def test_a_file_that_cannot_be_read_is_left_out_as_a_whole(tmp_path: Path) -> None:
    results = []
    for number in "12":
        made = result(tmp_path / number)
        file = made.files["out.h5"]
        file.write_bytes(file.read_bytes()[:300])
        results.append(made)
    assert content.by_itself(results[0], results[1]).names == ["out.h5"]


def test_another_exit_code_is_a_difference(tmp_path: Path) -> None:
    default = result(tmp_path / "1")
    known = content.by_itself(default, result(tmp_path / "2"))
    report = content.against_default(default, result(tmp_path / "3", code=1), known)
    assert report.differences == ["exit code 1, by default 0"]


def nothing(stdout: bytes) -> Result:
    return Result({}, (), stdout, 0)


def test_a_program_that_writes_nothing_is_judged_by_what_it_prints() -> None:
    known = content.by_itself(nothing(b"sum 3\nat 1\n"), nothing(b"sum 3\nat 2\n"))
    good = content.against_default(nothing(b"sum 3\nat 1\n"), nothing(b"sum 3\nat 9\n"), known)
    assert good.equal
    assert good.what == "standard output (1 line)"
    bad = content.against_default(nothing(b"sum 3\nat 1\n"), nothing(b"sum 4\nat 9\n"), known)
    assert bad.differences == ["standard output: line 1 is 'sum 4' and 'sum 3' by default"]


def test_nothing_compared_is_not_proven() -> None:
    known = content.by_itself(nothing(b""), nothing(b""))
    report = content.against_default(nothing(b""), nothing(b""), known)
    assert (report.differences, report.nothing, report.equal) == ([], True, False)


def test_a_file_of_which_everything_differs_by_itself_proves_nothing(tmp_path: Path) -> None:
    def one(number: int) -> Result:
        file = tmp_path / str(number) / "out.h5"
        file.parent.mkdir()
        with h5py.File(file, "w") as made:
            made["a"] = [number]
        return Result({"out.h5": file}, (), b"", 0)

    default = one(1)
    known = content.by_itself(default, one(2))
    assert known.names == ["out.h5: /a"]
    report = content.against_default(default, one(3), known)
    assert (report.differences, report.equal) == ([], False)


def test_large_arrays_that_differ_by_themselves_leave_the_rest_of_their_file(
    tmp_path: Path,
) -> None:
    def one(number: int, value: float = 1.0) -> Result:
        random = np.random.default_rng(number)

        def change(file: h5py.File) -> None:
            file["fixed"] = value
            for name in ("b", "c"):
                file[name] = random.random(2000)

        return result(tmp_path / str(number), change)

    default = one(1)
    known = content.by_itself(default, one(2))
    assert known.names == ["out.h5: /b", "out.h5: /c"]
    assert content.against_default(default, one(3), known).equal
    bad = content.against_default(default, one(4, 2.0), known)
    assert bad.differences == ["out.h5: /fixed: value: 2.0, by default 1.0"]


def made(folder: Path, random: bytes | None = None, stdout: bytes = b"") -> Result:
    """An empty file, and one of random bytes where there are such."""
    folder.mkdir()
    texts = {"DONE": b""} | ({"data": random} if random is not None else {})
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    return Result({name: folder / name for name in texts}, (), stdout, 0)


def test_an_empty_file_beside_random_output_proves_nothing(tmp_path: Path) -> None:
    default = made(tmp_path / "1", b"\0a", b"done\n")
    known = content.by_itself(default, made(tmp_path / "2", b"\0b", b"done\n"))
    report = content.against_default(default, made(tmp_path / "3", b"\0c", b"done\n"), known)
    assert (report.differences, report.files_compared, report.nothing) == ([], 0, True)


def test_groups_without_what_lies_in_them_prove_nothing(tmp_path: Path) -> None:
    def one(number: int) -> Result:
        file = tmp_path / f"{number}.h5"
        with h5py.File(file, "w") as new:
            new["results/random"] = [number]
        return Result({"out.h5": file}, (), b"done\n", 0)

    default = one(1)
    known = content.by_itself(default, one(2))
    assert known.names == ["out.h5: /results/random"]
    report = content.against_default(default, one(3), known)
    assert (report.differences, report.files_compared, report.nothing) == ([], 0, True)


def test_beside_an_empty_file_what_is_printed_counts(tmp_path: Path) -> None:
    default = made(tmp_path / "1", stdout=b"sum 3\n")
    known = content.by_itself(default, made(tmp_path / "2", stdout=b"sum 3\n"))
    good = content.against_default(default, made(tmp_path / "3", stdout=b"sum 3\n"), known)
    assert (good.equal, good.what) == (True, "standard output (1 line)")
    bad = content.against_default(default, made(tmp_path / "4", stdout=b"sum 4\n"), known)
    assert bad.differences == ["standard output: line 1 is 'sum 4' and 'sum 3' by default"]
    less = content.against_default(default, nothing(b"sum 3\n"), known)
    assert less.differences == ["DONE: was not written"]


def test_where_files_are_written_another_print_is_noted_and_no_difference(tmp_path: Path) -> None:
    default = result(tmp_path / "1", stdout=b"took 2 s\n")
    known = content.by_itself(default, result(tmp_path / "2", stdout=b"took 2 s\n"))
    report = content.against_default(default, result(tmp_path / "3", stdout=b"took 0 s\n"), known)
    assert report.equal
    assert len(report.notes) == 1


def test_a_file_for_newer_readers_only_is_a_difference(tmp_path: Path) -> None:
    old = write(tmp_path / "old.h5")
    for name, libver in (("superblock", "v110"), ("header", "v108")):
        new = write(tmp_path / f"{name}.h5", libver=libver)
        assert newer_than(old, new), name
        assert newer_than(new, old) == []
    assert newer_than(old, old) == []


def test_a_newer_layout_in_a_file_that_old_readers_cannot_open_is_none(tmp_path: Path) -> None:
    def chunked(file: h5py.File) -> None:
        file.create_dataset("c", data=np.zeros((9, 9)), chunks=(3, 3))

    for low, is_newer in (("v108", True), ("v110", False)):
        old = write(tmp_path / f"{low}.h5", libver=(low, "v110"))
        new = write(tmp_path / f"{low}c.h5", chunked, libver=("v110", "v110"))
        layouts = [needs(file, "hdf5").layouts for file in (old, new)]
        assert layouts == [3, 4]
        assert bool(newer_than(old, new)) == is_newer


def test_a_newer_layout_is_seen_in_a_file_of_the_same_superblock(tmp_path: Path) -> None:
    def chunked(file: h5py.File) -> None:
        file.create_dataset("c", data=np.zeros((9, 9)), chunks=(2, 2), maxshape=(None, 9))

    plain = needs(write(tmp_path / "plain.h5", chunked, libver=("earliest", "v110")), "hdf5")
    later = needs(write(tmp_path / "later.h5", chunked, libver=("v110", "v110")), "hdf5")
    assert (plain.layouts, plain.headers, plain.superblock) == (3, 1, 0)
    assert (later.layouts, later.headers) == (4, 2)


def test_many_attributes_put_the_layout_behind_a_continuation(tmp_path: Path) -> None:
    def many(file: h5py.File) -> None:
        made = file.create_dataset("c", (8,), "f4", chunks=(2,))
        for number in range(40):
            made.attrs[f"a{number}"] = number

    for libver in ("earliest", "v110"):
        file = write(tmp_path / f"{libver}.h5", many, libver=libver)
        assert needs(file, "hdf5").layouts == (3 if libver == "earliest" else 4)
