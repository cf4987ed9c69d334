# SPDX-License-Identifier: Apache-2.0
"""Starts tailrace-seism and knows, independently of it, what its files must hold."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np

BUILD = Path(os.environ["TAILRACE_BUILD_DIR"])
SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
TOOL = BUILD / "bin/tailrace-seism"
LIMIT = BUILD / "bin/tailrace-limit"
PLUGINS = BUILD / "lib/libplugins.so"
MPIEXEC = shlex.split(os.environ["TAILRACE_TEST_MPIEXEC"])
ROMIO = os.environ.get("TAILRACE_TEST_ROMIO", "")
OPEN_MPI = os.environ.get("TAILRACE_TEST_MPI") == "openmpi"
OF_KERNELS = ("TAILRACE_SEISM_", "TAILRACE_SLAB_", "TAILRACE_PARTICLE_", "TAILRACE_AMR_",
              "TAILRACE_HISTORY_")  # fmt: skip
RANK = "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"


class Result:
    """What a run left: texts, exit codes of the launcher and of every rank, Records."""

    def __init__(self, process, folder):
        self.out, self.err = process.stdout, process.stderr
        self.codes = sorted(
            int(file.read_text()) for file in Path(folder).glob(".code.*") if file.read_text()
        )
        self.code = max(self.codes, default=None) if process.returncode == 0 else None
        results = Path(folder) / "results.jsonl"
        lines = results.read_text().splitlines() if results.exists() else []
        self.records = [json.loads(line) for line in lines]

    @property
    def errors(self):
        """Lines of ours on standard error that begin an error."""
        return [line for line in self.err.splitlines() if line.startswith("tailrace: error:")]


def environment(extra=None):
    """The environment of a run: nothing of the caller's configuration."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(OF_KERNELS)}
    kept.pop("TAILRACE_FAULT", None)
    kept.update(extra or {})
    return kept


def command(ranks, arguments, mpi=(), program=TOOL):
    """The tool on some ranks; each writes its exit code to .code.RANK. What the launcher sees is
    0: it would kill the other ranks as soon as it saw one failure."""
    tool = f'"$0" "$@"; echo $? > .code.{RANK}'
    launcher = [*MPIEXEC, *mpi, "-n", str(ranks)] if ranks else []
    return [*launcher, "sh", "-c", tool, str(program), *map(str, arguments)]


def run(
    folder, ranks, *arguments, lines=None, stdin=None, env=None, mpi=(), seconds=60, program=TOOL
):
    """Runs the tool in a folder; `lines`, or the open file `stdin`, are its standard input.
    ranks 0: without launcher."""
    for old in Path(folder).glob(".code.*"):
        old.unlink()
    process = subprocess.run(
        command(ranks, arguments, mpi, program),
        **({"stdin": stdin} if stdin is not None else {"input": lines or ""}),
        cwd=folder,
        env=environment(env),
        timeout=seconds,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return Result(process, folder)


def good(folder, ranks, *arguments, **more):
    """As run(), and it must succeed."""
    result = run(folder, ranks, *arguments, **more)
    assert result.code == 0, result.err + result.out
    assert result.codes == [0] * max(ranks, 1), result.codes
    assert "HDF5-DIAG" not in result.err
    return result


def seen(folder):
    """Names in a folder, apart from those that the tests themselves make."""
    return sorted(p.name for p in Path(folder).iterdir() if not p.name.startswith(".code."))


def block_of(rank, grid):
    return rank // (grid[2] * grid[1]), rank // grid[2] % grid[1], rank % grid[2]


def rank_values(grid, domain, steps):
    """Every element is its owner's rank."""
    values = np.empty([steps] + [g * d for g, d in zip(grid, domain, strict=True)], "f4")
    for rank in range(grid[0] * grid[1] * grid[2]):
        i, j, k = (b * d for b, d in zip(block_of(rank, grid), domain, strict=True))
        values[:, i : i + domain[0], j : j + domain[1], k : k + domain[2]] = rank
    return values


def position_values(grid, domain, steps):
    """The upper 24 bits of the SplitMix64 finaliser of the element's index."""
    shape = [steps] + [g * d for g, d in zip(grid, domain, strict=True)]
    z = np.arange(np.prod(shape), dtype="u8") + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype("f4") * np.float32(2.0**-24)).reshape(shape)


def raw_values(path, kind="<f4"):
    """The dataset of a raw container, by docs/reference/raw_container.md alone."""
    path = Path(path)
    if path.read_bytes()[-8:] == b"TAILRACE":
        data, about = described(path)
        return placed(data, about["objects"][0], kind), about
    about = json.loads(path.read_text())
    values = np.full(about["objects"][0]["dims"], np.nan, kind)
    for part in about["parts"]:
        data, pieces = described(path.parent / part)
        for piece in pieces["pieces"]:
            count, at = piece["count"], piece["at"]
            where = tuple(slice(o, o + n) for o, n in zip(piece["offset"], count, strict=True))
            size = int(np.prod(count))
            values[where] = np.frombuffer(data, kind, size, at).reshape(count)
    return values, about


def described(path):
    data = Path(path).read_bytes()
    at, size = np.frombuffer(data[-24:-8], "<u8")
    return data, json.loads(data[int(at) : int(at + size)])


def placed(data, about, kind):
    dims, chunk = about["dims"], about["chunk"]
    if chunk is None:
        return np.frombuffer(data, kind, int(np.prod(dims)), about["offset"]).reshape(dims)
    values = np.empty(dims, kind)
    bytes_each = np.dtype(kind).itemsize
    grid = [-(-n // c) for n, c in zip(dims, chunk, strict=True)]
    size = int(np.prod(chunk))
    for number, index in enumerate(np.ndindex(*grid)):
        at = about["offset"] + bytes_each * size * number
        block = np.frombuffer(data, kind, size, at).reshape(chunk)
        first = [i * c for i, c in zip(index, chunk, strict=True)]
        n = [min(c, d - f) for c, d, f in zip(chunk, dims, first, strict=True)]
        to = tuple(slice(f, f + m) for f, m in zip(first, n, strict=True))
        values[to] = block[tuple(slice(0, m) for m in n)]
    return values
