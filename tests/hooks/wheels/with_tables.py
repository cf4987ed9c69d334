# SPDX-License-Identifier: Apache-2.0
"""Much of PyTables, answer by answer:  with_tables.py [folder of wheels]"""

import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from answers import answer

sys.path[:0] = sys.argv[1:]
# What is asked of the processor takes more than a second, and is kept in the user's home.
os.environ["HOME"] = tempfile.gettempdir()
sys.modules["cpuinfo"] = cpuinfo = ModuleType("cpuinfo")
cpuinfo.get_cpu_info = dict

import numpy as np
import tables

STILL = {"track_times": False}


class Particle(tables.IsDescription):
    name = tables.StringCol(8, pos=0)
    number = tables.Int64Col(pos=1)
    place = tables.Float64Col(shape=(3,), pos=2)

    class inner(tables.IsDescription):
        flag = tables.BoolCol()
        when = tables.Time64Col()


def a_table(f, name, filters=None, rows=3000):
    table = f.create_table("/", name, Particle, "a title", filters, rows, **STILL)
    row = table.row
    for n in range(rows):
        row["name"] = f"p{n % 17}"
        row["number"] = n * 7 % 1000
        row["place"] = (n, n / 2, -n)
        row["inner/flag"] = n % 3 == 0
        row["inner/when"] = n / 8
        row.append()
    table.flush()
    return table


def some_tables(f):
    table = a_table(f, "plain")
    answer("chosen", lambda: [r.nrow for r in table.where("(number > 990) & (name == b'p3')")])
    answer("column", lambda: int(table.cols.number[10:2000:3].sum()))
    table.modify_column(5, 15, colname="number", column=np.arange(10))
    for r in table.where("number == 500"):
        r["name"] = "changed"
        r.update()
    table.flush()
    table.remove_rows(100, 250)
    table.append(table[:20])
    answer("rows", lambda: (table.nrows, int(table.col("number").sum())))
    answer("sorted", lambda: table.read_where("name == b'changed'")["number"].tolist())
    answer("coordinates", lambda: table.read_coordinates([1, 7, 2000])["number"].tolist())
    packed = a_table(f, "packed", tables.Filters(5, "blosc", shuffle=True, fletcher32=True))
    packed.cols.number.create_csindex()
    answer("by index", lambda: [r["number"] for r in packed.where("number == 7")])
    answer("in order", lambda: packed.read_sorted("number")["number"][:5].tolist())
    packed.attrs.kind = {"a": [1, 2]}
    packed.cols.number.remove_index()
    a_table(f, "packed2", tables.Filters(3, "blosc2"))
    answer("packed2", lambda: int(f.root.packed2.col("number").sum()))


def arrays(f):
    f.create_array("/", "array", np.arange(24).reshape(4, 6), **STILL)
    f.create_array("/", "scalar", 42, **STILL)
    f.create_array("/", "texts", [b"one", b"three"], **STILL)
    grown = f.create_earray(
        "/", "grown", tables.Float32Atom(), (0, 50), filters=tables.Filters(1, "zlib"), **STILL
    )
    for n in range(10):
        grown.append(np.full((7, 50), n, "f4"))
    grown.truncate(60)
    answer("grown", lambda: (grown.shape, float(grown[::9, 3].sum())))
    for library in ("blosc", "blosc:zstd", "blosc:lz4", "bzip2", "blosc2:zstd", "zlib"):
        name = "c_" + library.replace(":", "_")
        filters = tables.Filters(5, library, bitshuffle=library.startswith("blosc:"))
        chunked = f.create_carray(
            "/packed_arrays", name, tables.Int32Atom(dflt=-1), (100, 40), filters=filters,
            chunkshape=(30, 40), createparents=True, **STILL,
        )  # fmt: skip
        chunked[20:80] = np.arange(2400).reshape(60, 40)
        answer(name, lambda chunked=chunked: (int(chunked[:].sum()), chunked[0, 0].item()))
    ragged = f.create_vlarray("/", "ragged", tables.Int32Atom(), **STILL)
    for n in (3, 0, 5):
        ragged.append(list(range(n)))
    objects = f.create_vlarray("/", "objects", tables.ObjectAtom(), **STILL)
    objects.append({"x": (1, 2)})
    words = f.create_vlarray("/", "words", tables.VLUnicodeAtom(), **STILL)
    words.append("äöü")
    answer("ragged", lambda: [row.tolist() for row in ragged])
    answer("objects", lambda: (objects[0], words[0]))
    f.create_array("/", "complex", np.arange(4) * 1j, **STILL)


def nodes(f):
    f.create_group("/", "a", "a group")
    f.create_group("/a", "b")
    f.create_array("/a/b", "x", np.arange(5), **STILL)
    f.create_soft_link("/", "soft", "/a/b/x")
    f.create_soft_link("/", "dangling", "/nowhere")
    f.create_hard_link("/", "hard", "/a/b/x")
    f.create_external_link("/", "outside", "other.h5:/x")
    f.create_external_link("/", "lost", "missing.h5:/x")
    answer("soft", lambda: f.root.soft[2:].tolist())
    answer("outside", lambda: list(f.root.outside()[:]))
    answer("dangling", lambda: f.root.dangling())
    answer("lost", lambda: f.root.lost())
    f.root.a._v_attrs.text = "an attribute"
    f.root.a._v_attrs.numbers = np.arange(3)
    for n in range(12):
        f.set_node_attr("/a", f"many{n}", n)
    f.del_node_attr("/a", "many3")
    answer("attributes", lambda: f.root.a._v_attrs._f_list("user"))
    f.rename_node("/a/b/x", "y")
    f.move_node("/a/b/y", "/a", "z")
    f.copy_node("/a", "/", "copied", recursive=True)
    f.remove_node("/copied", recursive=True)
    f.remove_node("/scalar")
    f.enable_undo()
    f.create_array("/", "undone", [1, 2], **STILL)
    f.mark("one")
    f.remove_node("/texts")
    f.undo("one")
    f.undo()
    f.redo()
    f.disable_undo()
    answer("nodes", lambda: sorted(node._v_pathname for node in f.walk_nodes("/")))
    answer("under", lambda: [node._v_name for node in f.iter_nodes("/a")])


def errors(f):
    answer("no node", lambda: f.get_node("/nothing"))
    answer("there already", lambda: f.create_group("/", "a"))
    answer("not empty", lambda: f.remove_node("/a"))
    answer("no column", lambda: f.root.plain.col("nothing"))
    answer("too far", lambda: f.root.array[9])
    answer("wrong shape", lambda: f.root.grown.append(np.zeros((2, 3), "f4")))
    answer("no filter", lambda: tables.Filters(1, "nothing"))
    answer("no file", lambda: tables.open_file("absent.h5"))
    answer("no HDF5", lambda: tables.open_file("text.h5"))
    answer("is HDF5", lambda: [tables.is_hdf5_file("other.h5"), tables.is_hdf5_file("text.h5")])
    answer("is PyTables", lambda: tables.is_pytables_file("other.h5"))


def main():
    with tables.open_file("other.h5", "w") as f:
        f.create_array("/", "x", [1, 2, 3], **STILL)
    Path("text.h5").write_text("no HDF5 at all")
    with tables.open_file("all.h5", "w", title="everything") as f:
        for step in (some_tables, arrays, nodes, errors):
            step(f)
    tables.copy_file("all.h5", "copy.h5", overwrite=True, filters=tables.Filters(1, "zlib"))
    with tables.open_file("core.h5", "w", driver="H5FD_CORE") as f:
        f.create_array("/", "x", np.arange(100), **STILL)
        image = f.get_file_image()[:4]
    answer("image", lambda: image)
    with tables.open_file("all.h5", "a") as f:
        f.root.plain.append(f.root.plain[:5])
        f.root.array[1, 2] = -4
    with tables.open_file("all.h5") as f:
        answer("read again", lambda: (f.root.plain.nrows, int(f.root.array[:].sum())))
        answer("read only", lambda: f.create_group("/", "q"))
    print("done", tables.__version__, tables.hdf5_version)


main()
sys.exit(3)
