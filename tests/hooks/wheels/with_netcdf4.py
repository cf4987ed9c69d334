# SPDX-License-Identifier: Apache-2.0
"""Much of netCDF4, answer by answer:  with_netcdf4.py [folder of wheels]"""

import sys
from pathlib import Path

from answers import answer

sys.path[:0] = sys.argv[1:]

import netCDF4
import numpy as np


def variables(f):
    for name, length in (("time", None), ("y", 12), ("x", 20), ("member", None)):
        f.createDimension(name, length)
    f.createVariable("time", "f8", ("time",))[:] = np.arange(6) / 4
    f.createVariable("x", "f4", ("x",))[:] = np.arange(20)
    t = f.createVariable(
        "t", "f4", ("time", "y", "x"), zlib=True, complevel=3, shuffle=True, fletcher32=True,
        chunksizes=(1, 12, 20), fill_value=-9.0,
    )  # fmt: skip
    for step in range(6):
        t[step] = np.full((12, 20), step)
    t[8, 3] = 7.0  # two steps are left out
    packed = f.createVariable("packed", "i2", ("y", "x"), least_significant_digit=None)
    packed.scale_factor, packed.add_offset = 0.5, 10.0
    packed[:] = np.arange(240).reshape(12, 20)
    plain = f.createVariable("plain", "u8", ("y", "x"), contiguous=True, endian="big")
    plain[3:9, ::2] = 4
    f.createVariable("unwritten", "i4", ("y",))
    scalar = f.createVariable("scalar", "f8")
    scalar[...] = 2.5
    both = f.createVariable("both", "i1", ("time", "member"))
    both[0:4, 0:3] = np.arange(12).reshape(4, 3)
    t.set_var_chunk_cache(1 << 20, 101, 0.5)
    answer("cache", lambda: t.get_var_chunk_cache())
    answer("filters", lambda: sorted((k, v) for k, v in t.filters().items() if v))
    answer("chunks", lambda: (t.chunking(), plain.chunking(), plain.endian()))
    answer("masked", lambda: int(np.ma.count_masked(t[:])))
    answer("scaled", lambda: packed[2, 3])
    answer("default", lambda: bool(f["unwritten"][:].mask.all()))
    answer("grown", lambda: (both.shape, f.dimensions["member"].size))


def types(f):
    complex_type = f.createCompoundType(np.dtype([("re", "f4"), ("im", "f4")]), "complex")
    c = f.createVariable("c", complex_type, ("y",))
    c[:] = np.array([(n, -n) for n in range(12)], dtype=[("re", "f4"), ("im", "f4")])
    v = f.createVariable("v", f.createVLType("i4", "ragged"), ("y",))
    for n in range(12):
        v[n] = np.arange(n + 1, dtype="i4")
    e = f.createVariable("e", f.createEnumType("u1", "cloud", {"clear": 0, "low": 2}), ("y",))
    e[:] = 2
    s = f.createVariable("s", str, ("y",))
    s[0], s[11] = "first", "last äöü"
    answer("compound", lambda: c[3].tolist())
    answer("ragged", lambda: [part.tolist() for part in v[:3]])
    answer("texts", lambda: (s[0], s[1], s[11]))
    answer("enum", lambda: int(e[4]))


def attributes(f):
    f.title = "a file"
    f.setncattr("numbers", np.arange(3, dtype="i2"))
    f.setncattr_string("texts", ["one", "two"])
    t = f["t"]
    t.units = "K"
    t.setncatts({f"many{n}": n for n in range(12)})
    t.delncattr("many3")
    t.renameAttribute("many4", "other")
    answer("attributes", lambda: t.ncattrs())
    answer("values", lambda: (f.title, f.numbers.tolist(), f.texts))
    answer("no attribute", lambda: t.getncattr("nothing"))


def groups(f):
    inner = f.createGroup("a/b")
    inner.createDimension("z", 5)
    inner.createVariable("w", "f4", ("z", "x"))[:] = np.ones((5, 20))
    f.renameVariable("plain", "renamed")
    f.renameDimension("y", "row")
    f.sync()
    answer("groups", lambda: (list(f.groups), list(f["a"].groups), f["a/b/w"].shape))
    answer("variables", lambda: list(f.variables))


def errors(f):
    answer("no variable", lambda: f.variables["nothing"])
    answer("no dimension", lambda: f.createVariable("q", "f4", ("nowhere",)))
    answer("there already", lambda: f.createDimension("x", 3))
    answer("too far", lambda: f["renamed"][40])
    answer("chunk too large", lambda: f.createVariable("q", "f4", ("x",), chunksizes=(99,)))
    answer("bad name", lambda: f.createVariable("a/", "f4", ("x",)))
    answer("shape", lambda: f["packed"].__setitem__(slice(None), np.zeros((3, 3, 3))))
    answer("no file", lambda: netCDF4.Dataset("absent.nc"))
    answer("no folder", lambda: netCDF4.Dataset("absent/x.nc", "w"))
    answer("no netCDF", lambda: netCDF4.Dataset("text.nc"))
    answer("exclusive", lambda: netCDF4.Dataset("other.nc", "w", clobber=False))


def main():
    with netCDF4.Dataset("other.nc", "w", format="NETCDF4_CLASSIC") as f:
        f.createDimension("n", 4)
        f.createVariable("v", "i4", ("n",))[:] = [1, 2, 3, 4]
    Path("text.nc").write_text("no netCDF at all, and long enough to be looked at")
    with netCDF4.Dataset("all.nc", "w") as f:
        for step in (variables, types, attributes, groups, errors):
            step(f)
    for n in range(2):
        with netCDF4.Dataset(f"part{n}.nc", "w", format="NETCDF4_CLASSIC") as f:
            f.createDimension("t", None)
            f.createVariable("v", "f4", ("t",))[:] = np.arange(3) + n
    answer("joined", lambda: netCDF4.MFDataset("part?.nc")["v"][:].tolist())
    with netCDF4.Dataset("other.nc", "a") as f:
        f["v"][1:3] = 0
    answer("changed", lambda: netCDF4.Dataset("other.nc")["v"][:].tolist())
    answer("read only", lambda: netCDF4.Dataset("other.nc").createDimension("q", 2))
    with netCDF4.Dataset("kept.nc", "w", diskless=True, persist=True) as f:
        f.createDimension("n", 100)
        f.createVariable("v", "f8", ("n",))[:] = np.arange(100)
    image = Path("kept.nc").read_bytes()
    answer("in memory", lambda: netCDF4.Dataset("m", memory=image)["v"][99].item())
    with netCDF4.Dataset("all.nc") as f:
        answer("read again", lambda: (float(f["t"][:].sum()), f["a/b/w"][1, 2].item()))
    print("done", netCDF4.__version__, netCDF4.__hdf5libversion__)


main()
sys.exit(3)
