# SPDX-License-Identifier: Apache-2.0
"""Names of files that differ from run to run: which are the same file all the same, and which are
forgiven because nobody can know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tailrace.sandbox import name_patterns
from tailrace.tune import content, plain_run
from tailrace.tune.content import Result


def run(folder: Path, texts: dict[str, str]) -> Result:
    """Its files, by name."""
    files = {}
    for name, text in texts.items():
        files[name] = folder / name
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].write_text(text)
    return Result(files, (), b"", 0)


def test_the_only_file_of_a_pattern_is_compared_whatever_its_name(tmp_path: Path) -> None:
    def at(time: int, sum_of_it: int = 3) -> Result:
        texts = {f"out_20261124T{time}.txt": f"sum {sum_of_it}\n", f"run {time}/out.7.txt": "x"}
        return run(tmp_path / f"{time} {sum_of_it}", texts)

    default = at(120000)
    known = content.by_itself(default, at(120107))
    assert (known.names, known.only, known.patterns) == ([], (), ())
    report = content.against_default(default, at(235959), known)
    assert (report.differences, report.files_compared) == ([], 2)
    bad = content.against_default(default, at(120500, 4), known)
    assert bad.files == ["out_20261124T120000.txt"]
    same = content.against_default(default, at(120000), known)
    assert (same.differences, same.files_compared) == ([], 2)


def test_what_differs_in_such_a_file_by_itself_is_left_out_of_it(tmp_path: Path) -> None:
    def at(time: int, sum_of_it: int) -> Result:
        return run(tmp_path / str(time), {f"out_{time}.txt": f"at {time}\nsum {sum_of_it}\n"})

    default = at(100, 3)
    known = content.by_itself(default, at(200, 3))
    assert known.names == ["out_100.txt: line 1"]
    assert content.against_default(default, at(300, 3), known).equal
    assert not content.against_default(default, at(400, 5), known).equal


def test_steps_beside_a_time_tell_the_files_apart(tmp_path: Path) -> None:
    def at(time: int, *values: str) -> Result:
        texts = {f"out_{time}_{step:04}.txt": value for step, value in enumerate(values)}
        return run(tmp_path / f"{time}", texts)

    default = at(11, "a", "b", "c")
    known = content.by_itself(default, at(22, "a", "b", "c"))
    assert known.names == []
    good = content.against_default(default, at(33, "a", "b", "c"), known)
    assert (good.differences, good.files_compared) == ([], 3)
    assert content.against_default(default, at(44, "a", "c", "b"), known).files == [
        "out_11_0001.txt", "out_11_0002.txt"
    ]  # fmt: skip


def test_three_numbers_like_a_time_tell_the_files_apart(tmp_path: Path) -> None:
    """As rank, level and step beside a process number."""

    def of(process: int, *values: str) -> Result:
        texts = {f"out_{process}_00_01_{step:02}": value for step, value in enumerate(values)}
        return run(tmp_path / str(process), texts)

    default = of(1111, "a", "b")
    known = content.by_itself(default, of(1112, "a", "b"))
    assert known.names == []
    assert content.against_default(default, of(2222, "a", "b"), known).equal
    assert content.against_default(default, of(3333, "b", "a"), known).files == [
        "out_1111_00_01_00", "out_1111_00_01_01"
    ]  # fmt: skip


def test_such_a_file_less_or_more_is_a_difference(tmp_path: Path) -> None:
    default = run(tmp_path / "1", {"out_1.txt": "x"})
    known = content.by_itself(default, run(tmp_path / "2", {"out_2.txt": "x"}))
    less = content.against_default(default, run(tmp_path / "3", {}), known)
    assert less.differences == ["out_1.txt: was not written"]
    more = run(tmp_path / "4", {"out_3.txt": "x", "out_4.txt": "x"})
    assert "out_1.txt: was not written" in content.against_default(default, more, known).differences


def test_of_several_in_a_pattern_nobody_knows_which_is_which(tmp_path: Path) -> None:
    def of(*processes: int) -> Result:
        texts = {f"log.{number}": "x" for number in processes}
        return run(tmp_path / str(processes[0]), texts)

    default = of(1640, 1641)
    known = content.by_itself(default, of(2040, 2044))
    assert known.only == ("log.1640", "log.1641", "log.2040", "log.2044")
    assert known.names == ["log.*"]
    report = content.against_default(default, of(3001, 3002), known)
    assert (report.differences, report.nothing) == ([], True)
    other = run(tmp_path / "x", {"log.7": "x", "log.8": "x", "logs": "x"})
    bad = content.against_default(default, other, known)
    assert bad.differences == ["logs: is not written by default"]


def test_a_later_run_that_fits_no_more_ends_the_comparison_and_is_forgiven(tmp_path: Path) -> None:
    def at(time: int, *more: int) -> Result:
        texts = {f"out_20261124_{number}.txt": "x" for number in (time, *more)}
        return run(tmp_path / str(time), texts)

    default = at(100000)
    known = content.by_itself(default, at(100001))
    next_day = run(tmp_path / "next", {"out_20261125_000000.txt": "x"})
    assert not content.against_default(default, next_day, known).equal
    both = content.together(known, content.by_itself(default, next_day))
    assert both.names == []
    assert content.against_default(default, next_day, both).equal
    two = content.together(known, content.by_itself(default, at(100002, 100003)))
    assert two.files == {}
    assert content.against_default(default, at(100004, 100005), two).differences == []


def test_a_run_without_anything_of_ours_is_held_against_them_too(tmp_path: Path) -> None:
    default = run(tmp_path / "1", {"out_1.txt": "x"})
    known = content.by_itself(default, run(tmp_path / "2", {"out_2.txt": "x"}))
    assert (
        plain_run.differences(default, run(tmp_path / "3", {"out_3.txt": "x"}), known).reason == ""
    )
    bad = plain_run.differences(default, run(tmp_path / "4", {"out_4.txt": "y"}), known)
    assert "out_1.txt" in bad.reason
    new = plain_run.differences(default, run(tmp_path / "5", {"ivory.txt": "x"}), known)
    assert new.names == ["ivory.txt"]


def test_many_names_are_not_held_against_each_other(tmp_path: Path) -> None:
    names = [f"a_{number}" for number in range(2000)]
    assert name_patterns.partners(names, [f"b_{number}" for number in range(2000)]) == {}
    assert name_patterns.partners(["a_1"], ["a_2", "b"])["a_1"][0] == "a_2"
    assert name_patterns.partners(["a_1_2", "a_3_9"], ["a_1_9"]) == {}, "it would be that of both"


@pytest.mark.parametrize(
    ("one", "other", "shown", "third"),
    [
        ("log-1648.txt", "log-98.txt", "log-*.txt", "log-5.txt"),
        (
            "run_2026-11-24_12-00-55_0001.h5",
            "run_2026-11-24_12-00-58_0001.h5",
            "run_*_0001.h5",
            "run_2026-11-25_00-01-02_0001.h5",
        ),
        ("2026-11-24T12:00:55", "2026-11-24T12:00:58", "*", "2026-11-24T12:01:02"),
        ("log 12.00.55", "log 12.00.58", "log *", "log 12.01.02"),
        ("a_2026-01-02T03.nc", "a_2026-01-02T14.nc", "a_2026-01-02T*.nc", "a_2026-01-02T00.nc"),
        ("tmpa1b2c3d4", "tmpa_xyzuvw", "tmp*", "tmpzzzzzzzz"),
        ("out.Xy7aBc/f", "out.Q2rTz9/f", "out.*/f", "out.AAbbCC/f"),
        ("job-3f2a9c01.h5", "job-00ffee12.h5", "job-*.h5", "job-deadbeef.h5"),
        ("out-a1b2c3d4.h5", "out-a9f8e7d6.h5", "out-*.h5", "out-00112233.h5"),
        ("out_a1b2c3d4.h5", "out_a1ffc3d5.h5", "out_*.h5", "out_00112233.h5"),
        (
            "part_16fd2706-8baf-433b-82eb-8c7fada847da_0.h5",
            "part_886313e1-3b8a-5372-9b90-0c9aee199e5d_0.h5",
            "part_*_0.h5",
            "part_6fa459ea-ee8a-3ca4-894e-db77e160355e_0.h5",
        ),
    ],
)
def test_names_that_differ_by_themselves_make_a_pattern(
    one: str, other: str, shown: str, third: str
) -> None:
    (pattern,) = name_patterns.patterns([one], [other])
    assert pattern.shown == shown
    assert pattern.fits(third)
    assert not pattern.fits(f"{third}x")


@pytest.mark.parametrize(
    ("one", "other"),
    [("alpha.h5", "gamma.h5"), ("monday", "sunday"), ("a1.txt", "b1.txt"), ("out", "out.1"),
     ("before", "behind"), ("a/x1", "b/x2")],
)  # fmt: skip
def test_names_that_say_something_make_none(one: str, other: str) -> None:
    assert name_patterns.patterns([one], [other]) == []
