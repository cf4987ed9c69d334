# SPDX-License-Identifier: Apache-2.0
"""tailrace-history: every element by netCDF4-python, through servers and without, and what is
refused."""

import shlex
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
from own_namespace import small_disk
from seism_tool import BUILD, command, environment, good, run, seen

HISTORY = BUILD / "bin/tailrace-history"
GRID = {"im": 13, "jm": 7, "km": 3}


def words(**inputs):
    return [f"{key}={value}" for key, value in (GRID | inputs).items()]


def history(folder, model, servers=None, **inputs):
    """A run on so many ranks of the model, and the servers beside them."""
    folder.mkdir(exist_ok=True)
    asked = {} if servers is None else {"servers": servers}
    return good(folder, model + (servers or 0), *words(**inputs, **asked), program=HISTORY)


def values(first, shape):
    """The upper 24 bits of the SplitMix64 finaliser of the elements' numbers."""
    z = np.arange(first, first + np.prod(shape), dtype="u8") + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype("f4") * np.float32(2.0**-24)).reshape(shape)


def check_file(path, first, records, flat=1, solid=1, extra=0, per_day=6, collection=(1, 1)):
    """Every element of a file that begins with step `first`, of a collection of so many."""
    im, jm, km = GRID.values()
    names = [f"flat_{i + 1}" for i in range(flat)] + [f"solid_{i + 1}" for i in range(solid)]
    names += [f"extra_{i + 1}" for i in range(extra)]
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert set(file.variables) == {*names, "time", "lev", "lat", "lon"}
        times = (first + np.arange(records)) * (1440 / per_day)
        np.testing.assert_array_equal(file["time"][...], times)
        np.testing.assert_array_equal(file["lev"][...], np.arange(km) + 1.0)
        np.testing.assert_array_equal(file["lat"][...], -90 + (np.arange(jm) + 0.5) * (180 / jm))
        np.testing.assert_array_equal(file["lon"][...], -180 + np.arange(im) * (360 / im))
        for number, name in enumerate(names):
            shape = (km, jm, im) if name.startswith("solid") else (jm, im)
            found = file[name]
            assert found.shape == (records, *shape) and found.dtype == "f4"
            for record in range(records):
                which, of = collection
                field = ((first + record) * of + which - 1) * len(names) + number
                expected = values(field * km * jm * im, shape)
                np.testing.assert_array_equal(found[record], expected)
        assert file.kernel == "history" and file.first_step == first


LAYOUTS = [(1, None), (4, None), (6, None), (1, 0), (3, 0), (1, 1), (4, 2), (3, 2), (5, 1)]


@pytest.mark.parametrize(("model", "servers"), LAYOUTS)
def test_every_element_of_three_daily_files(tmp_path, model, servers):
    result = history(tmp_path, model, servers, verify=1, read_back=1)
    files = [f"history.2000010{day}.nc4" for day in (1, 2, 3)]
    assert seen(tmp_path) == [*files, "results.jsonl"]
    for number, name in enumerate(files):
        check_file(tmp_path / name, 6 * number, 6)
    record = result.records[-1]
    assert record["kernel"] == "history" and len(record["steps"]) == 18
    assert record["context"]["ranks"] == model
    assert record["verification"]["status"] == "passed"
    assert "Stall of the model, all:" in result.out
    assert "Memory copy of the same, all:" in result.out


@pytest.mark.parametrize("servers", [None, 0, 2])
def test_days_that_do_not_divide_and_many_variables(tmp_path, servers):
    more = {"fields_2d": 2, "fields_3d": 0, "extra_2d": 30, "days": 2, "records_per_day": 5}
    more |= {"records_per_file": 4, "filename": "h.%Y%m%d_%H%M.nc4"}
    result = history(tmp_path, 4, servers, verify=1, **more)
    assert result.records[-1]["verification"]["status"] == "passed"
    names = ("0101_0000", "0101_1912", "0102_1424")
    assert seen(tmp_path) == [*(f"h.2000{name}.nc4" for name in names), "results.jsonl"]
    for number, (name, records) in enumerate(zip(names, (4, 4, 2), strict=True)):
        check_file(tmp_path / f"h.2000{name}.nc4", 4 * number, records, 2, 0, 30, 5)


@pytest.mark.parametrize("servers", [None, 0, 1])
def test_ranks_without_a_part(tmp_path, servers):
    history(tmp_path, 4, servers, jm=7, decomposition="1x4", km=3, days=1, verify=1)
    check_file(tmp_path / "history.20000101.nc4", 0, 6)
    history(tmp_path, 5, servers, decomposition="5x1", days=1, verify=1)
    check_file(tmp_path / "history.20000101.nc4", 0, 6)


def tailrace(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "tailrace", *map(str, arguments)], cwd=cwd,
        env=environment(), capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("model", "servers"), [(1, None), (4, None), (3, 0), (3, 1), (2, 3)])
def test_each_collection_has_files_of_its_own(tmp_path, model, servers):
    result = history(
        tmp_path, model, servers, collections=3, extra_2d=2, days=2, verify=1, read_back=1
    )
    files = [(f"history_{one}.2000010{day}.nc4", one, day) for one in (1, 2, 3) for day in (1, 2)]
    assert seen(tmp_path) == [*(name for name, *_rest in files), "results.jsonl"]
    for name, one, day in files:
        check_file(tmp_path / name, 6 * (day - 1), 6, extra=2, collection=(one, 3))
        checked = tailrace("verify", tmp_path / name)
        assert checked.returncode == 0 and f"collection {one} of 3" in checked.stdout
    record = result.records[-1]
    assert record["verification"]["status"] == "passed"
    told = [file["path"] for file in record["serving"]["files"]]
    assert told == [f"history_{one}.2000010{day}.nc4" for day in (1, 2) for one in (1, 2, 3)]
    swapped = tmp_path / files[0][0]
    with netCDF4.Dataset(swapped, "a") as file, netCDF4.Dataset(tmp_path / files[2][0]) as other:
        file["flat_1"][0] = other["flat_1"][0]
    assert tailrace("verify", swapped).returncode == 3


def test_sizes_by_name(tmp_path):
    for size in ("360x181x72", "720x361x72"):
        asked = {"im": None, "jm": None, "km": None, "size": size}
        given = [f"{key}={value}" for key, value in asked.items() if value]
        told = good(tmp_path, 0, "--dry-run", "--ranks", "2", *given, program=HISTORY).out
        for key, value in zip(("im", "jm", "km"), size.split("x"), strict=True):
            assert f"\n{key} {value}" in f"\n{told}", told


@pytest.mark.parametrize(("model", "servers"), [(3, None), (3, 0), (2, 2)])
def test_the_record_says_who_waited_for_whom(tmp_path, model, servers):
    result = history(tmp_path, model, servers, repeat=1, compute="0.01", memory_every=0.005)
    for record in result.records:
        told = record["serving"]
        assert told["kind"] == {None: "plain", 0: "embedded", 2: "simple"}[servers]
        assert told["model"]["ranks"] == model and told["servers"]["ranks"] == (servers or 0)
        steps = [step["stall_s"] for step in record["steps"]]
        assert all(0 < one["min"] <= one["mean"] <= one["max"] for one in steps)
        most = sum(one["max"] for one in steps)
        assert max(one["max"] for one in steps) <= told["stall_s"]["max"] <= most * 1.000001
        assert most <= record["elapsed"]["durable_s"] * 1.5
        assert 0 < told["memory_copy_s"] < told["stall_s"]["max"]
        assert told["memory"]["peak_bytes"] > told["memory"]["idle_bytes"] > 1 << 20
        assert told["memory"]["samples"] > 3
        sizes = [file["bytes"] for file in told["files"]]
        assert len(sizes) == 3 and sum(sizes) == record["bytes"]["logical"]
        assert all(0 < file["elapsed_s"] < 30 for file in told["files"])
        assert ("queue" in told) == ("messages_sent" in told["model"]) == (servers is not None)
        if servers is None:
            continue
        step = sizes[0] / 6
        assert step * 0.9 < told["queue"]["bytes_max"] <= 2.3 * step
        assert 1 <= told["queue"]["items_max"] <= 5
        sent, received = (told["model"][f"messages_{way}"] for way in ("sent", "received"))
        # per step time, two fields and an end with a call each; rank 0 has the coordinates
        assert 18 * 4 <= sent["min"] < sent["max"] < 18 * 10 and 18 <= received["max"] < 18 * 6
        if servers:
            from_servers = told["servers"]
            assert from_servers["messages_received"]["mean"] * servers == pytest.approx(
                sent["mean"] * model, rel=0.15
            )
            assert from_servers["cpu_s"]["max"] > 0


def test_without_a_look_at_memory_nothing_is_said_of_it(tmp_path):
    for servers in (None, 1):
        record = history(tmp_path, 2, servers, days=1).records[-1]
        assert "memory" not in record["serving"]


def test_a_sweep_over_servers_and_a_comparison_tell_the_stall(tmp_path):
    swept = tailrace(
        "sweep", "history", "--ranks", "3", "--vary", "servers=0,1", "--repeat", "1",
        *words(days=2, verify=1), cwd=tmp_path,
    )  # fmt: skip
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert "stall, s" in swept.stdout and seen(tmp_path) == ["results.jsonl"]
    sides = [f"results.jsonl::servers={servers}" for servers in (0, 1)]
    compared = tailrace("compare", *sides, cwd=tmp_path)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "stall of the model, s, median" in compared.stdout


def test_verify_finds_an_element_of_another_record(tmp_path):
    history(tmp_path, 4, 2, decomposition="2x2", days=2)
    path = tmp_path / "history.20000102.nc4"
    checked = tailrace("verify", path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with netCDF4.Dataset(path, "a") as file:
        file["solid_1"][3, 2, 6, 12] = file["solid_1"][2, 2, 6, 12]
    checked = tailrace("verify", path)
    assert checked.returncode == 3 and "wrong in blocks of 1 rank: 3" in checked.stdout
    assert "/solid_1   3, 2, 6, 12" in checked.stdout


def test_the_content_does_not_depend_on_who_writes(tmp_path):
    folders = [tmp_path / name for name in ("plain", "embedded", "served")]
    for folder, servers in zip(folders, (None, 0, 2), strict=True):
        history(folder, 3, servers, days=1, extra_2d=2)
    one, *others = (folder / "history.20000101.nc4" for folder in folders)
    for other in others:
        compared = tailrace("verify", one, other)
        assert compared.returncode == 0, compared.stdout + compared.stderr


def test_days_of_records_that_no_minute_begins_with(tmp_path):
    """39 a day: a quotient that falls short of a whole day gives two files one name."""
    history(tmp_path, 1, records_per_day=39, days=2)
    assert seen(tmp_path) == ["history.20000101.nc4", "history.20000102.nc4", "results.jsonl"]


def test_repetitions_replace_their_files(tmp_path):
    result = history(tmp_path, 2, 1, repeat=2, days=2, verify=1, compute="0.01 busy")
    assert [one["warm_up"] for one in result.records] == [True, False, False]
    for number in range(2):
        check_file(tmp_path / f"history.2000010{number + 1}.nc4", 6 * number, 6)


@pytest.mark.parametrize(
    ("ranks", "inputs", "text"),
    [
        (2, {"servers": 2}, "no rank is left for the model"),
        (2, {"servers": 1, "format": "posix"}, "a server write netCDF-4 alone"),
        (2, {"servers": 1, "endian": "big"}, "endian has no effect with servers"),
        (2, {"servers": 1, "fsync": "step"}, "syncs a file when it is complete"),
        (3, {"servers": 1, "decomposition": "3x1"}, "do not suit 2 ranks of the model"),
        (2, {"fields_2d": 0, "fields_3d": 0}, "there is no field to write"),
        (2, {"servers": 1, "filename": "h.nc4"}, "two files have the same name, h.nc4"),
        (2, {"collections": 2, "filename": "h.%d.nc4"}, "2 collections would have the same names"),
    ],
)
def test_what_is_refused(tmp_path, ranks, inputs, text):
    result = run(tmp_path, ranks, *words(**inputs), program=HISTORY)
    assert result.codes == [2] * ranks
    assert len(result.errors) == 1 and text in result.errors[0], result.err
    assert seen(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    result = run(tmp_path, 3, *words(servers=1, filename="none/%d.nc4"), program=HISTORY)
    assert result.code == 2 and len(result.errors) == 1
    assert "none" in result.errors[0]


def test_a_dry_run_writes_nothing_and_counts_the_ranks_of_the_model(tmp_path):
    result = good(tmp_path, 0, "--dry-run", "--ranks", "6", *words(servers=2), program=HISTORY)
    assert "for 4 ranks" in result.out and seen(tmp_path) == []


@pytest.mark.parametrize("servers", [0, 1])
def test_a_run_that_fails_leaves_the_file_of_the_run_before(tmp_path, servers):
    """The disk is full while the second run writes under the same name."""
    disk = tmp_path / "disk"
    disk.mkdir()
    runs = [
        shlex.join(
            map(str, command(2 + servers, words(servers=servers, days=1, **more), (), HISTORY))
        )
        for more in ({}, {"im": 400, "deflate": 1, "collective_write": 1, "default_chunks": 1})
    ]
    script = f"cd {disk}; {runs[0]}; cp history.*.nc4 ../before; {runs[1]}; cp history.*.nc4 .."
    done = subprocess.run(
        [*small_disk(disk, 200 << 10), "sh", "-c", script],
        env=environment(), capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert "No space left" in done.stderr
    before = (tmp_path / "before").read_bytes()
    assert (tmp_path / "history.20000101.nc4").read_bytes() == before
