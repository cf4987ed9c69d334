# SPDX-License-Identifier: Apache-2.0
"""Classic netCDF files of the kernel as the tools and libraries of others read them, and beside
the same data in every other format."""

import json
import re
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
from own_namespace import not_run
from scipy.io import netcdf_file
from seism_tool import SOURCE, good, position_values, run, seen

GRID, DOMAIN, STEPS = (2, 1, 2), (5, 3, 7), 3
BASE = ("processor=2x1x2", "domain=5x3x7", f"time={STEPS}", "fill=position")
KIND = {1: "classic", 2: "64-bit offset", 5: "cdf5"}
# name: the format's version, and how it is written
WAYS = {
    "a.nc": (5, ("collective_write", "verify", "read_back")),
    "b.nc": (2, ("put=aggregated", "collective_write", "unlimited")),
    "c.nc": (1, ("put=buffered", "verify", "alignment=4096", "header_reserve=10000")),
}
TOOLS = ("ncdump", "ncmpidump", "ncvalidator", "ncoffsets")


def said(*words, code=0):
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def verify(*words, code=0):
    return said(sys.executable, "-m", "tailrace", "verify", *words, code=code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    assert not absent, f"{absent} of the packages netcdf-bin and pnetcdf-bin are missing"
    place = tmp_path_factory.mktemp("files")
    for name, (cdf, how) in WAYS.items():
        good(place, 4, *BASE, "format=pnetcdf", f"cdf={cdf}", *how, f"filename={name}")
    for name in ("hdf5", "mpiio", "posix"):
        good(place, 4, *BASE, f"format={name}", *WAYS["a.nc"][1], f"filename=a.{name}")
    return place


@pytest.mark.parametrize("name", WAYS)
def test_the_tools_of_others_take_it(folder, name):
    path, (cdf, how) = folder / name, WAYS[name]
    assert f"CDF-{cdf} file" in said("ncvalidator", path)
    assert said("ncdump", "-k", path).strip() == KIND[cdf]
    header = said("ncdump", "-h", path)
    assert 'kernel = "seism"' in header and ':cdf = "' + str(cdf) in header
    assert ("time = UNLIMITED ; // (3 currently)" in header) == ("unlimited" in how)
    assert "float chunked(" in said("ncmpidump", "-h", path)
    first = int(re.search(r"start file offset =\s*(\d+)", said("ncoffsets", path))[1])
    if name == "c.nc":
        size = int(re.search(r"size\s*=\s*(\d+) bytes", said("ncoffsets", path))[1])
        assert first % 4096 == 0 and first >= size + 10000


@pytest.mark.parametrize("name", WAYS)
def test_every_element_by_two_libraries(folder, name):
    expected = position_values(GRID, DOMAIN, STEPS)
    with netCDF4.Dataset(folder / name) as file:
        np.testing.assert_array_equal(file["chunked"][...], expected)
        assert [int(n) for n in np.atleast_1d(file.processor)] == list(GRID)
    if WAYS[name][0] != 5:  # scipy knows the older two
        with netcdf_file(folder / name, "r", mmap=False) as file:
            np.testing.assert_array_equal(file.variables["chunked"][:], expected)
            assert file.kernel == b"seism"


def test_verified_and_a_changed_byte_is_caught(folder, tmp_path):
    found = verify(*(folder / name for name in WAYS), "--each")
    assert found.count("verified") == len(WAYS)
    raw = bytearray((folder / "a.nc").read_bytes())
    raw[-5] ^= 1
    (tmp_path / "changed.nc").write_bytes(raw)
    assert re.search(r"wrong +1\b", verify(tmp_path / "changed.nc", code=3))


@pytest.mark.parametrize("other", ("a.hdf5", "a.mpiio", "a.posix"))
def test_the_same_as_in_other_formats(folder, other, tmp_path):
    assert "same logical content" in verify(folder / "a.nc", folder / other)
    # The way it is written makes no difference but for what was asked for.
    ignored = [f"--ignore=@{name}" for name in ("cdf", "put", "collective_write", "unlimited",
               "alignment", "header_reserve", "verify", "read_back")]  # fmt: skip
    for name in ("b.nc", "c.nc"):
        if name == "b.nc" and other == "a.hdf5":
            ignored.append("--ignore=/chunked")  # its first dimension has no limit
        assert "same logical content" in verify(folder / name, folder / other, *ignored)
    raw = bytearray((folder / "a.nc").read_bytes())
    raw[-5] ^= 1
    (tmp_path / "changed.nc").write_bytes(raw)
    assert "1 element" in verify(tmp_path / "changed.nc", folder / other, code=3)


def test_attributes_of_every_kind_are_the_same(tmp_path):
    words = (*BASE, "hint=cb_nodes=2", "hint=cb_buffer_size=1048576")
    for name, form in (("h", "hdf5"), ("one", "pnetcdf"), ("two", "pnetcdf")):
        cdf = ("cdf=1",) if name == "two" else ()
        good(tmp_path, 4, *words, f"format={form}", *cdf, f"filename={name}")
    with netCDF4.Dataset(tmp_path / "one") as file:
        assert file.hint.split("\n") == ["cb_buffer_size=1048576", "cb_nodes=2"]
    assert "same logical content" in verify(tmp_path / "one", tmp_path / "h")
    assert "same logical content" in verify(tmp_path / "two", tmp_path / "h", "--ignore=@cdf")
    # How they were written is no difference; CDF-1 has not the types of CDF-5.
    text = verify(tmp_path / "two", tmp_path / "one", code=3)
    assert "has another type" in text and "@cdf" not in text


@pytest.mark.parametrize("mode", (("--dry-run",), ()))
@pytest.mark.parametrize(
    "words, text, code",
    (
        (("burst_buffer=/tmp",), "--enable-burst-buffering", 4),
        (("cdf=3",), "cdf", 2),
        (("deflate=4", "collective_write", "chunk=1x1x1"), "format hdf5", 2),
        (("time=2147483648", "cdf=2", "domain=1x1x1"), "cdf 5", 2),
    ),
)
def test_what_cannot_be(tmp_path, words, text, code, mode):
    given = [w for w in BASE if w.split("=")[0] not in {v.split("=")[0] for v in words}]
    result = run(tmp_path, 4, *mode, *given, "format=pnetcdf", *words)
    if code == 4 and result.code == 0:
        not_run("needs a PnetCDF without --enable-burst-buffering, as Debian's is")
    assert result.code == code and text in result.err, result.err + result.out
    assert not [name for name in seen(tmp_path) if name != "results.jsonl"]


def test_a_chunk_has_no_effect_and_is_said_to_have_none(tmp_path):
    result = good(tmp_path, 4, *BASE, "format=pnetcdf", "chunk=5x3x7", "filename=x.nc")
    assert "chunk has no effect with format pnetcdf" in result.err + result.out
    record = json.loads((tmp_path / "results.jsonl").read_text())
    assert record["file"]["path"].endswith("x.nc")
    page = (SOURCE / "docs/user/format_pnetcdf.md").read_text()
    assert all(f"`{key}" in page for key in ("cdf", "put", "header_reserve", "burst_buffer"))
