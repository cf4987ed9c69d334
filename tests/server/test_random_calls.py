# SPDX-License-Identifier: Apache-2.0
"""Random programs of the server's calls against a model in memory of what the files must hold: the
ranks write themselves, and one or two servers do, as threads and as processes. Again, one alone or
many more: build/release/tests/run_case --env TAILRACE_RANDOM_SEED=17 (or TAILRACE_RANDOM_COUNT=999)
-- build/venv/bin/python -m pytest tests/server/test_random_calls.py."""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest
from mpi_programs import BUILD, MPIEXEC, SANITIZERS

PROGRAM = BUILD / "tests/bin/tailrace_random_calls"
TYPES = {"int8": -127, "int16": -32767, "int32": -2147483647, "int64": -(2**63) + 2,
         "real32": 9.9692099683868690e36, "real64": 9.9692099683868690e36}  # fmt: skip
NUMPY = {"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "real32": "f4", "real64": "f8"}
FIRST = int(os.environ.get("TAILRACE_RANDOM_SEED", "1"))
COUNT = int(os.environ.get("TAILRACE_RANDOM_COUNT", "1" if FIRST != 1 else "60"))

Array = npt.NDArray[np.generic]


@dataclass
class Variable:
    type: str
    dims: list[str]
    fill: int | None
    data: dict[int, Array] = field(default_factory=dict)

    def value(self) -> float:
        return TYPES[self.type] if self.fill is None else self.fill


@dataclass
class File:
    variables: dict[str, Variable]
    sizes: dict[str, int]
    attributes: dict[tuple[str, str], int]

    def extents(self, name: str) -> list[int]:
        return [self.sizes[dim] for dim in self.variables[name].dims if dim != "time"]

    def record(self, name: str, number: int) -> Array:
        one = self.variables[name]
        if number not in one.data:
            one.data[number] = np.full(self.extents(name), one.value(), NUMPY[one.type])
        return one.data[number]


class Collection:
    """One of them: its calls, and the files that they make."""

    def __init__(self, name: str, script: Script) -> None:
        self.name, self.script, self.random = name, script, script.random
        self.format = self.random.choice(["netcdf4", "hdf5"])
        self.dated = self.random.random() < 0.4
        self.most = self.random.choice([0, 0, 0, 1, 2, 3])
        self.sizes = {"x": self.random.randint(1, 7), "y": self.random.randint(1, 5), "time": 0}
        self.variables: dict[str, Variable] = {}
        self.attributes: dict[tuple[str, str], int] = {}
        self.named: str | None = None  # by the last date
        self.open: str | None = None
        self.record = self.next = self.steps = 0
        self.put: set[tuple[str, int]] = set()
        self.ready = True  # to end a step: no other date has come
        for dim, size in self.sizes.items():
            script.say("dim", name, dim, size)
        self.add_variable("time", "real64", ["time"])
        for _ in range(self.random.randint(1, 3)):
            self.edit()
        template = f"{name}_%m%d.out" if self.dated else "-"
        script.say("add", name, self.format, template, self.most, self.random.randint(1, 3),
                   self.random.choice([0, 0, 2]))  # fmt: skip

    def add_variable(self, name: str, kind: str, dims: list[str]) -> None:
        fill = self.random.choice([None, 99, -5])
        self.variables[name] = Variable(kind, dims, fill)
        shown = "-" if fill is None else fill
        self.script.say("var", self.name, name, kind, ",".join(dims) or "-", shown)

    def edit(self) -> None:
        others = [name for name in self.variables if name != "time"]
        what = self.random.choice(["var", "var", "drop", "attr"])
        if what == "drop" and len(others) > 1:
            name = self.random.choice(others)
            del self.variables[name]
            self.attributes = {k: v for k, v in self.attributes.items() if k[0] != name}
            self.script.say("drop", self.name, name)
        elif what == "attr":
            key = (self.random.choice(["-", *self.variables]), f"a{self.random.randint(0, 2)}")
            self.attributes[key] = self.random.randint(-9, 9)
            self.script.say("attr", self.name, *key, self.attributes[key])
        else:
            dims = self.random.choice([["time", "y", "x"], ["time", "x"], ["y", "x"], ["x"], []])
            self.add_variable(f"v{len(self.script.lines)}", self.random.choice(list(TYPES)), dims)

    def begin(self, file: str) -> None:
        variables = {n: Variable(v.type, v.dims, v.fill) for n, v in self.variables.items()}
        self.script.files[file] = File(variables, self.sizes, dict(self.attributes))
        self.open, self.record, self.next, self.steps = file, 0, 0, 0

    def ended(self) -> None:
        self.open, self.ready = None, not self.dated

    def call_put(self) -> None:
        shown, begins = "-", self.open is None
        if self.dated:
            begins = self.named != self.open
            if self.named is None or (begins and self.named in self.script.files):
                return
        elif self.open is None or (not self.put and self.random.random() < 0.1):
            begins, shown = True, f"{self.name}.{len(self.script.lines)}"
        there = self.variables if begins else self.script.files[self.open or ""].variables
        names = [name for name in there if name != "time"]
        if not names:
            return
        name = self.random.choice(names)
        has_records = "time" in there[name].dims
        given = self.random.randint(0, 4) if has_records and self.random.random() < 0.25 else None
        at = (self.record if given is None else given) if has_records else 0
        if begins and given is None:
            at = 0
        if (name, at) in self.put:
            return
        if begins:
            self.begin(shown if self.named is None else self.named)
        self.ready = True
        file = self.script.files[self.open or ""]
        self.put.add((name, at))
        self.next = max(self.next, at + 1)
        number = len(self.script.lines)
        extents = file.extents(name)
        same = not extents or self.random.random() < 0.2
        blocks = self.script.blocks(extents, same)
        text: list[object] = []
        for rank, (begin, count) in blocks.items():
            if 0 not in count:  # else the record need not be there
                here = file.record(name, at)
                values = (number * 31 + np.arange(here.size) * 7) % 120
                where = tuple(slice(b, b + c) for b, c in zip(begin, count, strict=True))
                here[where] = values.reshape(here.shape)[where]
            text += [rank, *(",".join(map(str, part)) or "-" for part in (begin, count))]
        self.script.say("put", self.name, shown, name, "-" if given is None else given, number,
                        int(same), *text)  # fmt: skip

    def call_step(self) -> None:
        if not self.ready:
            return
        time = self.open is not None and self.random.random() < 0.7
        variables = self.script.files[self.open or ""].variables if self.open else {}
        records = {at for name, at in self.put if "time" in variables[name].dims}
        at = self.record if self.record in records or not records else min(records)
        time = time and (at == self.record or len(records) == 1)
        self.script.say("step", self.name, f"{len(self.script.lines)}.5" if time else "-")
        if time and self.open is not None:
            self.script.files[self.open].record("time", at)[...] = len(self.script.lines) - 0.5
            self.next = max(self.next, at + 1)
        self.record = self.next
        self.put.clear()
        self.steps += 1
        if self.open and self.most and self.steps >= self.most:
            self.ended()

    def call_end(self) -> None:
        if self.put:
            return
        call = self.random.choice(["close", "flush"])
        if call == "flush" or self.open:
            self.script.say(call, self.name)
            self.ended()

    def call_date(self) -> None:
        if not self.dated or self.put:
            return
        month, day = self.random.randint(1, 3), self.random.randint(1, 4)
        self.named = f"{self.name}_{month:02}{day:02}.out"
        self.script.say("date", self.name, month, day)
        self.ready = self.named == self.open

    def call(self) -> None:
        before_a_file = self.open is None or (self.dated and self.named != self.open)
        if before_a_file and not self.put and self.random.random() < 0.3:
            self.edit()
            self.ready = False
        calls = [self.call_put] * 6 + [self.call_step] * 4 + [self.call_end, self.call_date]
        self.random.choice(calls)()


class Script:
    def __init__(self, seed: int, ranks: int) -> None:
        self.seed, self.ranks, self.random = seed, ranks, random.Random(seed)
        self.lines: list[str] = []
        self.files: dict[str, File] = {}
        all_of_them = [Collection(name, self) for name in "abc"[: self.random.randint(1, 3)]]
        for _ in range(self.random.randint(5, 60)):
            self.random.choice(all_of_them).call()
        for one in all_of_them:
            if one.put:
                one.ready = True
                one.call_step()
        self.say("final")

    def say(self, *words: object) -> None:
        self.lines.append(" ".join(map(str, words)))

    def blocks(self, extents: list[int], same: bool) -> dict[int, tuple[list[int], list[int]]]:
        """Of ranks, none with the elements of another one; elements that nobody has are allowed."""
        boxes = [([0] * len(extents), list(extents))]
        if same:
            return {0: boxes[0]}
        while len(boxes) < self.ranks + 1 and self.random.random() < 0.8:
            begin, count = boxes.pop(self.random.randrange(len(boxes)))
            axis = self.random.randrange(len(extents))
            cut = self.random.randint(0, count[axis])
            boxes.append((begin, [*count[:axis], cut, *count[axis + 1 :]]))
            after = [*begin[:axis], begin[axis] + cut, *begin[axis + 1 :]]
            boxes.append((after, [*count[:axis], count[axis] - cut, *count[axis + 1 :]]))
        self.random.shuffle(boxes)
        ranks = self.random.sample(range(self.ranks), self.random.randint(0, self.ranks))
        return dict(zip(ranks, boxes, strict=False))

    def check(self, folder: Path) -> None:
        found = {path.name for path in folder.iterdir()}
        assert found == set(self.files)
        for name, file in self.files.items():
            with h5py.File(folder / name) as data:
                assert set(data) - set(file.sizes) == set(file.variables) - set(file.sizes)
                for variable in file.variables:
                    check_variable(data[variable], file, variable)
                for (variable, attribute), value in file.attributes.items():
                    owner = data if variable == "-" else data[variable]
                    assert owner.attrs[attribute] == value, (name, variable, attribute)


def check_variable(data: h5py.Dataset, file: File, name: str) -> None:
    """Bytes for bytes; records that were not written are there only if later ones were."""
    about = file.variables[name]
    assert data.dtype == np.dtype(NUMPY[about.type])
    if "time" not in about.dims:
        assert data[()].tobytes() == file.record(name, 0).tobytes(), (data.file.filename, name)
        return
    assert len(data) >= max(about.data, default=-1) + 1
    for number in range(len(data)):
        assert data[number].tobytes() == file.record(name, number).tobytes(), (
            data.file.filename,
            name,
            number,
        )


def scripts(folder: Path, ranks: int, seeds: range) -> list[Script]:
    made = [Script(seed, ranks) for seed in seeds if seed % 3 + 1 == ranks]
    for one in made:
        (folder / f"{one.seed}.txt").write_text("\n".join(one.lines))
        (folder / str(one.seed)).mkdir()
    return made


def play(face: str, ranks: int, servers: int, folder: Path, seeds: range) -> None:
    made = scripts(folder, ranks, seeds)
    if not made:
        return
    launcher = [*MPIEXEC, "-n", str(ranks + servers)] if face == "mpi" else []
    pairs = [word for one in made for word in (f"{one.seed}.txt", str(one.seed))]
    done = subprocess.run(
        [*launcher, PROGRAM, face, str(ranks), str(servers), *pairs],
        cwd=folder, capture_output=True, text=True, timeout=60 + COUNT, check=False,
        env=os.environ | SANITIZERS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr + again(made[0].seed, ranks, servers)
    for one in made:
        try:
            one.check(folder / str(one.seed))
        except (AssertionError, OSError, KeyError) as error:
            raise AssertionError(
                f"{again(one.seed, ranks, servers)}{error}\n" + "\n".join(one.lines)
            ) from error


def again(seed: int, ranks: int, servers: int) -> str:
    how = f"run_case --env TAILRACE_RANDOM_SEED={seed} --"
    return f"\n{ranks} ranks, {servers} servers; again: {how}\n"


@pytest.mark.parametrize("servers", [0, 1, 2])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_as_threads(tmp_path: Path, ranks: int, servers: int) -> None:
    play("threads", ranks, servers, tmp_path, range(FIRST, FIRST + COUNT))


@pytest.mark.parametrize("servers", [0, 1, 2])
def test_as_processes(tmp_path: Path, servers: int) -> None:
    play("mpi", 3, servers, tmp_path, range(FIRST, FIRST + max(1, COUNT // 4)))
