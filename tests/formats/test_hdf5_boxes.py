# SPDX-License-Identifier: Apache-2.0
"""200 boxes of 4 ranks: how many collective calls, and every element as h5py finds it, which shares
nothing with src/formats."""

import random
import subprocess

import h5py
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC, mpi_components
from numpy.lib.recfunctions import structured_to_unstructured

WRITER = BUILD / "tests/bin/hdf5_boxes_writer"
DIMS = (48, 40, 36)
pytestmark = pytest.mark.parametrize("component,environment", mpi_components())


def cut(dims, number, whole=()):
    """Disjoint boxes that fill an array, in a random order; dimensions `whole` stay uncut."""
    generator = random.Random(33)
    boxes = [([0] * len(dims), list(dims))]
    while len(boxes) < number:
        offset, count = boxes.pop(generator.randrange(len(boxes)))
        d = generator.randrange(len(dims))
        if count[d] < 2 or d in whole:
            boxes.append((offset, count))
            continue
        first = generator.randrange(1, count[d])
        boxes.append((offset, [first if k == d else n for k, n in enumerate(count)]))
        behind = [n + first if k == d else n for k, n in enumerate(offset)]
        boxes.append((behind, [n - first if k == d else n for k, n in enumerate(count)]))
    generator.shuffle(boxes)
    return boxes


def dealt(boxes):
    """Rank 0 has none, rank 1 a few, rank 3 most."""
    return [(1 if i < 7 else 2 if i < 60 else 3, *box) for i, box in enumerate(boxes)]


def write(folder, environment, dims, dealt, *words):
    boxes = folder / "boxes"
    boxes.write_text("".join(f"{r} {' '.join(map(str, [*o, *n]))}\n" for r, o, n in dealt))
    size = ",".join(map(str, dims))
    variables = [w for key, value in environment.items() for w in ("-x", f"{key}={value}")]
    command = [*MPIEXEC, *variables, "-n", "4", WRITER, folder / "a.h5", boxes, size, *words]
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HDF5-DIAG" not in done.stdout + done.stderr
    calls, _, how = done.stdout.splitlines()[-1].partition(" ")
    return int(calls), how


def expected(dims, dealt, hole=-1.0):
    places = np.arange(np.prod(dims), dtype="f8").reshape(dims)
    values = np.full(dims, hole)
    for _, offset, count in dealt:
        inside = tuple(slice(o, o + n) for o, n in zip(offset, count, strict=True))
        values[inside] = places[inside]
    return values


@pytest.mark.parametrize(
    "words",
    [(), ("chunk=8,8,8",), ("chunk=1,40,36",), ("chunk=48,5,7",), ("chunk=16,16,16", "deflate=1")],
    ids=["contiguous", "cubes", "slabs", "columns", "deflate"],
)
def test_one_call(tmp_path, component, environment, words):
    boxes = dealt(cut(DIMS, 250)[:200])  # with holes
    assert write(tmp_path, environment, DIMS, boxes, *words) == (1, "collective")
    with h5py.File(tmp_path / "a.h5") as file:
        chunk = words and tuple(map(int, words[0].removeprefix("chunk=").split(",")))
        assert file["v0"].chunks == (chunk or None)
        np.testing.assert_array_equal(file["v0"], expected(DIMS, boxes))


@pytest.mark.parametrize("words", [(), ("chunk=8,8,8",)], ids=["contiguous", "cubes"])
def test_of_several_objects(tmp_path, component, environment, words):
    boxes = dealt(cut(DIMS, 250)[:200])
    assert write(tmp_path, environment, DIMS, boxes, *words, "objects=3") == (1, "collective")
    with h5py.File(tmp_path / "a.h5") as file:
        for name in "v0", "v1", "v2":
            np.testing.assert_array_equal(file[name], expected(DIMS, boxes))


@pytest.mark.parametrize("words", [(), ("chunk=60,4",)], ids=["contiguous", "chunked"])
def test_compounds(tmp_path, component, environment, words):
    dims = (6000, 4)
    boxes = dealt(cut(dims, 200, whole=(1,))[:150])
    assert write(tmp_path, environment, dims, boxes, *words, "members=1") == (1, "collective")
    with h5py.File(tmp_path / "a.h5") as file:
        values = structured_to_unstructured(file["v0"][:])
    np.testing.assert_array_equal(values, expected(dims, boxes, hole=0.0))


def test_some_members_of_compounds(tmp_path, component, environment):
    """HDF5 reads the others and writes them back: every rank has to."""
    dims = (6000, 4)
    boxes = [
        (i % 4, [offset[0], 1], [count[0], 2])
        for i, (_, offset, count) in enumerate(dealt(cut(dims, 200, whole=(1,))[:150]))
    ]
    write(tmp_path, environment, dims, boxes, "members=1")
    with h5py.File(tmp_path / "a.h5") as file:
        values = structured_to_unstructured(file["v0"][:])
    np.testing.assert_array_equal(values, expected(dims, boxes, hole=0.0))


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ((), 1),
        (("chunk=64,64,64", "deflate=1"), 1),
        (("chunk=64,64,64",), 15),
        (("chunk=8,8,8",), 1),
    ],
    ids=["contiguous", "deflate", "in one chunk", "many chunks"],
)
def test_large_boxes(tmp_path, component, environment, words, calls):
    """Much that lies in one chunk is written fastest as it is: these calls grow with the boxes."""
    dims = (256, 256, 64)
    boxes = [(i % 4, [i // 8 * 32, i % 8 * 32, 0], [32, 32, 32]) for i in range(60)]
    assert write(tmp_path, environment, dims, boxes, *words) == (calls, "collective")
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["v0"], expected(dims, boxes))


def test_subfiles(tmp_path, component, environment):
    """Below them no call is collective; they are made into one file here."""
    boxes = dealt(cut(DIMS, 250)[:200])
    write(tmp_path, environment, DIMS, boxes, "subfiles=2")
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["v0"], expected(DIMS, boxes))


@pytest.mark.parametrize(("chunk", "calls"), [(100, 1), (10, 2)])
def test_far_apart(tmp_path, component, environment, chunk, calls):
    """The box around the boxes of a rank is larger than what is copied at most; then HDF5 looks at
    each chunk in it, and of too many there are two boxes."""
    dims = (3600, 3600)
    boxes = [(i % 4, [18 * i, 3550 - 17 * i], [5, 7]) for i in range(200)]
    words = (f"chunk={chunk},{chunk}",)
    assert write(tmp_path, environment, dims, boxes, *words) == (calls, "collective")
    with h5py.File(tmp_path / "a.h5") as file:
        for _, offset, count in boxes:
            rows, columns = (np.arange(o, o + n) for o, n in zip(offset, count, strict=True))
            found = file["v0"][rows[0] : rows[-1] + 1, columns[0] - 1 : columns[-1] + 2]
            np.testing.assert_array_equal(found[:, 1:-1], rows[:, None] * 3600 + columns)
            assert (found[:, [0, -1]] == -1).all()
