# SPDX-License-Identifier: Apache-2.0
"""The cases: which two arms are compared, where, and what the goal is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tailrace_bench.cases import Case, MemoryCase
from tailrace_bench.machine import Machine

from .arms import Amr, Classic, Dd, Particles, Piece, Seism, Slab, Swept
from .planned import Particle


def _steps(ranks: int) -> int:
    """256 MiB per file, or somewhat more, in blocks of 8 MiB per rank and step."""
    return max(8, 32 // ranks)


def _grid(ranks: int) -> tuple[int, int, int]:
    """As near to a cube as factors of two allow, like the classic 2 x 2 x 2."""
    grid = [1, 1, 1]
    axis = 0
    while ranks % 2 == 0:
        grid[axis % 3] *= 2
        ranks //= 2
        axis += 1
    grid[0] *= ranks
    return (grid[0], grid[1], grid[2])


def _implementations(machine: Machine) -> list[str]:
    return ["ompio", "romio"] if machine.romio else ["ompio"]


def _hdf5_mpiio(machine: Machine, ranks: int) -> Iterator[Case]:
    # HDF5's own metadata shifts its data; with an alignment the shift is whole pages, and the
    # pieces of both arms begin at page boundaries. The hint is what mpiio sets by itself.
    alike = ("alignment=4096", "hint=romio_ds_write=disable")
    piece = Piece(_grid(ranks), (128, 128, 128), _steps(ranks))
    for where, goal in (("tmpfs", 0.9), ("disk", 0.8)):
        for io in _implementations(machine):
            for collective in (False, True):
                mode = "collective" if collective else "independent"
                yield Case(
                    "hdf5-mpiio",
                    f"HDF5 / MPI-IO, {mode}, {io.upper()}, {where}",
                    where,
                    Seism(piece, "mpiio", io, collective, extra=alike),
                    Seism(piece, "hdf5", io, collective, extra=alike),
                    goal,
                    same_pieces=True,
                )


def _posix_dd(_: Machine, ranks: int) -> Iterator[Case]:
    piece = Piece(_grid(ranks), (128, 128, 128), _steps(ranks))
    for where in ("tmpfs", "disk"):
        yield Case(
            "posix-dd",
            f"posix / dd on one file, {where}",
            where,
            Dd(piece, shared=True),
            Seism(piece, "posix"),
            0.95,
        )
        yield Case(
            "posix-dd",
            f"posix-per-rank / dd on a file each, {where}",
            where,
            Dd(piece, shared=False),
            Seism(piece, "posix-per-rank"),
            0.95,
        )


def _memory(machine: Machine, ranks: int) -> Iterator[MemoryCase]:
    # An aggregator that gathers for others needs others: the scheduler does not matter here.
    ranks = max(4, ranks)
    on = f"{ranks} ranks, "
    piece = Piece(_grid(ranks), (256, 256, 512), 2)  # 128 MiB per rank
    for format in ("posix", "posix-per-rank"):
        yield MemoryCase("memory", f"memory, {on}{format}, 128 MiB", "tmpfs", Seism(piece, format))
    # The classic hint cb_buffer_size = bytes per rank gives the aggregator a second buffer of that
    # size: within the goal for the blocks of the classic test, not for large ones.
    classic_piece = Piece(_grid(ranks), (360, 128, 128), 2)  # 22.5 MiB per rank
    classic, small = "collective, classic hints", "collective, cb_buffer_size 32 MiB"
    second = "known: cb_buffer_size = bytes per rank, as the original asks, is a second buffer"
    variants = (
        ("independent, 128 MiB", piece, False, (), ""),
        (f"{classic}, 22.5 MiB", classic_piece, True, (), ""),
        (f"{classic}, 128 MiB", piece, True, (), second),
        (f"{small}, 128 MiB", piece, True, ("hint=cb_buffer_size=33554432",), ""),
    )
    for format in ("mpiio", "hdf5"):
        for io in _implementations(machine):
            for name, size, collective, extra, note in variants:
                arm = Seism(size, format, io, collective, extra=extra)
                title = f"memory, {on}{format}, {io.upper()}, {name}"
                yield MemoryCase("memory", title, "tmpfs", arm, note)


def _slab(machine: Machine, ranks: int) -> Iterator[Case]:
    """Every cell of the matrix. Both arms write the pieces through the same MPI-IO; short-split
    is smaller, since each piece takes a call."""
    off = ("hint=romio_cb_write=disable", "hint=romio_ds_write=disable")
    default = ("hint=romio_ds_write=disable",)  # which format mpiio sets by itself
    for io in _implementations(machine):
        for collective in (True, False):
            # 1 GB: runs of 256 MB, 9 times, left intervals of 4 to 7 % either way, of 10 MB 10 %.
            for axis, n1, n2, repeat in (
                ("long-fast", 5_120_000, 25, 3),
                ("long-slow", 5_120_000, 25, 3),
                ("short-split", 1_000_000, 12, 3),
            ):
                for hints, extra in (("default hints", default), ("cb and ds off", off)):
                    mode = "collective" if collective else "independent"
                    yield Case(
                        "slab",
                        f"slab / MPI-IO, {mode} {axis}, {hints}, {io.upper()}",
                        "tmpfs",
                        Slab(n1, n2, ranks, axis, "mpiio", io, collective, extra, repeat),
                        Slab(n1, n2, ranks, axis, "hdf5", io, collective, extra, repeat),
                        0.95,
                    )


def _netcdf(machine: Machine, ranks: int) -> Iterator[Case]:
    piece = Piece(_grid(ranks), (128, 128, 128), _steps(ranks))
    alike = ("alignment=4096",)
    for where, repeat in (("tmpfs", 7), ("disk", 3)):
        for io in _implementations(machine):
            for collective in (False, True):
                mode = "collective" if collective else "independent"
                about = f"{mode}, {io.upper()}, {where}"
                yield Case(
                    "netcdf",
                    f"netCDF-4 / HDF5, {about}",
                    where,
                    Seism(piece, "hdf5", io, collective, extra=alike, repeat=repeat),
                    Seism(piece, "netcdf4", io, collective, extra=alike, repeat=repeat),
                    0.9,
                )
                # Format mpiio writes the bytes as they lie in memory: as if swapped beforehand.
                yield Case(
                    "netcdf",
                    f"PnetCDF / MPI-IO, {about}",
                    where,
                    Seism(piece, "mpiio", io, collective, chunked=False, repeat=repeat),
                    Seism(piece, "pnetcdf", io, collective, chunked=False, repeat=repeat),
                    0.9,
                )


def _classic(_: Machine, ranks: int) -> Iterator[Case]:
    """Against the published kernels with their defaults: seism independent, a chunk for each
    block; and what sweeps find for seism in a file or several, and for the short dimension."""
    grid, domain, steps = _grid(ranks), (360, 128, 128), 5
    chunk = (180, 128, 128)
    words = ("seism", *map(str, (*grid, *domain, *chunk, steps)))
    for where in ("tmpfs", "disk"):
        yield Case(
            "classic",
            f"seism, independent, a chunk per block / the original's collective default, {where}",
            where,
            Classic(ranks, words),
            Seism(Piece(grid, domain, steps), "hdf5"),
            1.3,
            write_goal=2.0,
        )
    yield Case(
        "classic",
        "seism, best of sweep --budget 10m / the original's collective default, tmpfs",
        "tmpfs",
        Classic(ranks, words),
        Swept(
            Seism(Piece(grid, domain, steps), "hdf5", chunked=False),
            ("format=hdf5,mpiio,posix,posix-per-rank", "collective=on,off", "mpiio=ompio,romio"),
            "10m",
        ),
        1.3,
    )
    n1, n2, several = 100_000, 48, max(4, ranks)
    slab = Slab(n1, n2, several, "short-split", "hdf5")
    yield Case(
        "classic",
        "slab short-split, best of sweep --budget 10m / the original's way, collective, tmpfs",
        "tmpfs",
        Classic(several, ("slab", str(n1), str(n2), "T", "short-split")),
        Swept(
            slab,
            (
                "collective=on,off",
                f"chunk=none,{n1}x{n2 // several}",
                "mpiio=ompio,romio",
                "romio_cb_write=none,enable,disable",
                "romio_ds_write=none,enable,disable",
            ),
            "10m",
        ),
        8.0,
    )


def _particle(machine: Machine, ranks: int) -> Iterator[Case]:
    """16 MiB in a step, as h5bench writes them into compounds."""
    dim_1, steps = (1 << 19) // ranks, 2
    for where in ("tmpfs", "disk"):
        for io in _implementations(machine):
            for collective in (False, True):
                words = ("particle", str(dim_1), str(steps), "T" if collective else "F")
                mode = "collective" if collective else "independent"
                yield Case(
                    "particle",
                    f"particle, contig to interleaved / h5bench's calls, {mode}, {io.upper()}, "
                    f"{where}",
                    where,
                    Classic(ranks, words, io),
                    Particles(dim_1, steps, ranks, io, collective),
                    0.9,
                )


def _amr(machine: Machine, ranks: int) -> Iterator[Case | MemoryCase]:
    """Plot files of 128^3 and 256^3 cells with six components in boxes of 32^3."""
    program = "tailrace_bench_classic_amr"
    for cells in (128, 256):
        for where in ("tmpfs", "disk"):
            for io in _implementations(machine):
                at = f"{cells}^3, {io.upper()}, {where}"
                ours = {c: Amr(cells, 6, ranks, "pnetcdf", io, c) for c in (False, True)}
                theirs = {
                    c: Classic(
                        ranks, ("pnetcdf", str(cells), "32", "6", "T" if c else "F"), io, program
                    )
                    for c in (False, True)
                }
                for collective, mode in ((True, "collective"), (False, "independent")):
                    yield Case(
                        "amr",
                        f"amr, PnetCDF / AMReX's calls, {mode}, {at}",
                        where,
                        theirs[collective],
                        ours[collective],
                        1.0,
                    )
                for form, goal in (("pnetcdf", 0.9), ("hdf5", 0.95)):
                    yield Case(
                        "amr",
                        f"amr, {form} / the same bytes by MPI-IO, independent, {at}",
                        where,
                        Amr(cells, 6, ranks, "mpiio", io),
                        Amr(cells, 6, ranks, form, io),
                        goal,
                    )
            yield Case(
                "amr",
                f"amr, native folder / a file for each rank by pwrite, {cells}^3, {where}",
                where,
                Classic(ranks, ("plain", str(cells), "32", "6", "F"), "ompio", program),
                Amr(cells, 6, ranks, "native"),
                0.9,
            )
    small = Amr(376, 1, ranks, "pnetcdf", box=8, collective=True)
    yield MemoryCase("amr", "amr, 103,823 boxes of 8^3, PnetCDF, tmpfs", "tmpfs", small)
    yield MemoryCase(
        "amr",
        "amr, 103,823 boxes of 8^3, native, tmpfs",
        "tmpfs",
        Amr(376, 1, ranks, "native", box=8),
    )


def _compression(_: Machine, __: int) -> Iterator[Case]:
    """The same bytes in the same chunks, 64 MiB in 16 of them, on two ranks and on one."""
    x, y, z = chunk = (128, 128, 64)

    def arm(ranks: int, encode: str) -> Seism:
        piece = Piece((ranks, 1, 1), (x * 2 // ranks, y, z), 8)
        extra = ("fill=position", "deflate=1", f"encode={encode}")
        return Seism(piece, "hdf5", collective=encode == "library", extra=extra, chunk=chunk)

    yield Case(
        "compression",
        "deflate 1, encode ranks, 2 ranks / 1 rank, tmpfs",
        "tmpfs",
        arm(1, "ranks"),
        arm(2, "ranks"),
        1.7,
    )
    yield Case(
        "compression",
        "deflate 1, 2 ranks, encode ranks / encode library, tmpfs",
        "tmpfs",
        arm(2, "library"),
        arm(2, "ranks"),
        1.0,
    )


def _plan(machine: Machine, ranks: int) -> Iterator[Case]:
    """The cases of examples/intents, larger: the observed rate must not fall with the plan."""
    total = 1 << 21
    # 403 MB in the twelve steps of the shared file
    shared = (f"dim_1={total // 2 // ranks}",)
    blocks = total // 2048 // ranks  # per rank, in each of 96 datasets: 101 MB, and gaps
    apart = (f"dim_1={512 * blocks}", f"block_cnt={blocks}")
    for where in ("tmpfs", "disk"):
        for io in _implementations(machine):
            for example, words, what in (
                ("vpic_shared", shared, "VPIC-like, shared, collective"),
                ("file_per_process", apart, "write-only, file per process"),
            ):
                arm = Particle(example, words, ranks, io)
                yield Case(
                    "plan",
                    f"{what}, with the plan / without, {io.upper()}, {where}",
                    where,
                    arm,
                    replace(arm, planned=True),
                    1.0,
                    no_fall=True,
                )


makers: dict[str, Callable[[Machine, int], Iterator[Case | MemoryCase]]] = {
    "amr": _amr,
    "compression": _compression,
    "hdf5-mpiio": _hdf5_mpiio,
    "particle": _particle,
    "posix-dd": _posix_dd,
    "slab": _slab,
    "netcdf": _netcdf,
    "classic": _classic,
    "plan": _plan,
    "memory": _memory,
}
