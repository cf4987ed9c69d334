# SPDX-License-Identifier: Apache-2.0
"""Much of h5py, answer by answer:  with_h5py.py [folder of wheels]"""

import io
import sys
from pathlib import Path

from answers import answer

sys.path[:0] = sys.argv[1:]

import h5py
import numpy as np


def datasets(f):
    f.create_dataset("plain", data=np.arange(2000, dtype="f8"), track_times=False)
    rows = f.create_dataset(
        "deep/er/rows", (40, 30), "i4", chunks=(8, 30), maxshape=(None, 30), compression="gzip",
        shuffle=True, fletcher32=True, fillvalue=-7,
    )  # fmt: skip
    rows[:16] = np.arange(480).reshape(16, 30)
    rows.resize((60, 30))
    rows[50:, ::3] = 5
    answer("filled", lambda: int(rows[20, 0]))
    answer("points", lambda: rows[[1, 5, 15], 3].tolist())
    answer("mask", lambda: int(rows[rows[...] > 470].sum()))
    f.create_dataset("lzf", data=np.arange(999, dtype="u2"), compression="lzf", chunks=(100,))
    f.create_dataset("scaled", data=np.arange(64) * 3, scaleoffset=0, chunks=(16,))
    f.create_dataset("empty", dtype="f4")
    f["scalar"] = np.float32(2.5)
    chunks = f.create_dataset("chunks", (8, 8), "i8", chunks=(4, 8))
    chunks.id.write_direct_chunk((4, 0), np.arange(32, dtype="i8").tobytes())
    answer("direct chunk", lambda: chunks.id.read_direct_chunk((4, 0))[1][:16])
    answer("chunks stored", lambda: chunks.id.get_num_chunks())
    into = np.zeros((60, 30), "i4")
    rows.read_direct(into, np.s_[0:10], np.s_[5:15])
    answer("read into", lambda: int(into.sum()))


def types(f):
    compound = np.dtype([("x", "f4"), ("name", "S5"), ("inner", [("a", "i2", (3,))])])
    f["compound"] = np.array([(1.5, b"ab", ((1, 2, 3),)), (2.5, b"cd", ((4, 5, 6),))], compound)
    answer("field", lambda: f["compound"]["name"].tolist())
    f["named type"] = np.dtype([("lat", "f8"), ("lon", "f8")])
    f.create_dataset("of named type", (3,), dtype=f["named type"])
    enum = h5py.enum_dtype({"RED": 0, "GREEN": 1}, basetype="i1")
    f.create_dataset("enum", data=np.array([0, 1, 1]), dtype=enum)
    ragged = f.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype("i4"))
    for n in range(3):
        ragged[n] = np.arange(n + 2)
    answer("ragged", lambda: [part.tolist() for part in ragged])
    f["texts"] = ["one", "two", "äöü"]
    answer("texts", lambda: f["texts"].asstr()[...].tolist())
    f["references"] = np.array([f["plain"].ref, f["deep"].ref], dtype=h5py.ref_dtype)
    answer("reference", lambda: f[f["references"][0]].name)
    region = f.create_dataset("regions", (1,), dtype=h5py.regionref_dtype)
    region[0] = f["plain"].regionref[3:9]
    answer("region", lambda: f["plain"][region[0]].tolist())


def attributes(f):
    at = f["deep"].attrs
    at["text"] = "naïve"
    at["numbers"] = np.arange(5, dtype="u1")
    at["reference"] = f["plain"].ref
    at.create("wide", np.arange(6).reshape(2, 3), dtype="f4")
    at.modify("numbers", np.arange(5, dtype="u1") + 1)
    answer("modified", lambda: at.modify("numbers", np.arange(4)))
    for n in range(20):  # more than fit into the header of an object
        at[f"many{n}"] = n
    del at["many3"]
    answer("attributes", lambda: sorted(at))
    answer("no attribute", lambda: at["nothing"])


def links(f):
    f["soft"] = h5py.SoftLink("/deep/er/rows")
    f["dangling"] = h5py.SoftLink("/nowhere")
    f["hard"] = f["plain"]
    f["outside"] = h5py.ExternalLink("other.h5", "/x")
    f["lost"] = h5py.ExternalLink("missing.h5", "/x")
    answer("soft", lambda: f["soft"].shape)
    answer("outside", lambda: f["outside"][...].tolist())
    answer("dangling", lambda: f["dangling"])
    answer("lost", lambda: f["lost"])
    answer("links", lambda: [type(f.get(n, getlink=True)).__name__ for n in ("soft", "outside")])
    f.move("compound", "moved/here")
    f.copy("deep", "copied")
    f.copy(f["soft"], f, "expanded", shallow=True)
    del f["hard"]
    f.require_group("deep/more")
    ordered = f.create_group("ordered", track_order=True)
    for name in "zebra", "ant", "mole":
        ordered.create_group(name)
    answer("order", lambda: list(ordered))
    seen = []
    f.visititems(lambda name, found: seen.append((name, type(found).__name__)))
    answer("visited", lambda: seen)
    answer("same", lambda: f["plain"] == f["/plain"])
    answer("info", lambda: h5py.h5o.get_info(f["plain"].id).rc)


def views_of_files(f):
    layout = h5py.VirtualLayout((4, 10), "i8")
    for n in range(4):
        layout[n] = h5py.VirtualSource(f"part{n}.h5", "d", (10,))
    f.create_virtual_dataset("virtual", layout, fillvalue=-1)
    answer("virtual", lambda: f["virtual"][:, ::4].tolist())
    f["plain"].dims[0].label = "x"
    f.create_dataset("axis", data=np.arange(2000) / 2)
    f["axis"].make_scale("metres")
    f["plain"].dims[0].attach_scale(f["axis"])
    answer("scale", lambda: f["plain"].dims[0].keys())


def errors(f):
    answer("no such object", lambda: f["nothing/at/all"])
    answer("there already", lambda: f.create_dataset("plain", (3,), "f4"))
    answer("too far", lambda: f["plain"][3000])
    answer("wrong shape", lambda: f["plain"].__setitem__(slice(0, 3), np.arange(7)))
    answer("cannot grow", lambda: f["plain"].resize((9,)))
    answer("no chunks", lambda: f["plain"].id.read_direct_chunk((0,)))
    answer("chunk too large", lambda: f.create_dataset("c", (4,), chunks=(9,)))
    answer("not a group", lambda: f["plain/x"])
    answer("deleted twice", lambda: f.__delitem__("hard"))
    answer("no file", lambda: h5py.File("absent.h5", "r"))
    answer("no folder", lambda: h5py.File("absent/x.h5", "w"))
    answer("no HDF5", lambda: h5py.File("text.h5", "r"))
    answer("exclusive", lambda: h5py.File("other.h5", "x"))
    answer("is HDF5", lambda: [h5py.is_hdf5(name) for name in ("other.h5", "text.h5", "absent")])


def other_files():
    with h5py.File("newest.h5", "w", libver="latest", userblock_size=512) as f:
        log = f.create_dataset("log", (0,), "i4", maxshape=(None,), chunks=(32,))
        f.swmr_mode = True
        for n in range(1, 5):
            log.resize((20 * n,))
            log[-20:] = n
            log.flush()
    with h5py.File("paged.h5", "w", fs_strategy="page", fs_persist=True) as f:
        f["x"] = np.ones(100)
        del f["x"]
        f["y"] = np.ones(10)
    memory = io.BytesIO()
    with h5py.File(memory, "w") as f:
        f["x"] = np.arange(5)
    answer("in an object", lambda: h5py.File(memory, "r")["x"][...].tolist())
    with h5py.File("core.h5", "w", driver="core", backing_store=True) as f:
        f["x"] = np.arange(50)
    answer("image", lambda: h5py.File("core.h5", "r").id.get_file_image()[:4])
    with h5py.File("core.h5", "r+") as f:
        f["x"][10:20] = 0
    answer("read only", lambda: h5py.File("core.h5", "r").__setitem__("z", 1))


def main():
    with h5py.File("other.h5", "w") as f:
        f["x"] = [1, 2, 3]
    Path("text.h5").write_text("no HDF5 at all")
    for n in range(3):  # the fourth is missing
        with h5py.File(f"part{n}.h5", "w") as f:
            f["d"] = np.arange(10) + 100 * n
    with h5py.File("all.h5", "w") as f:
        for step in (datasets, types, attributes, links, views_of_files, errors):
            step(f)
    other_files()
    with h5py.File("all.h5", "r") as f:
        answer("read again", lambda: [int(f["deep/er/rows"][:].sum()), f["lzf"][998]])
    print("done", h5py.__version__, h5py.version.hdf5_version)


main()
sys.exit(3)
