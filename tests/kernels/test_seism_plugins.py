# SPDX-License-Identifier: Apache-2.0
"""Fill plugins by value."""

import os
import subprocess

import h5py
import numpy as np
import pytest
from seism_tool import PLUGINS, good, position_values, rank_values, run

GRID, DOMAIN = (2, 1, 2), (5, 6, 3)
BASE = ("processor=2x1x2", "domain=5x6x3", "time=2", "verify")


def written(folder):
    with h5py.File(folder / "seism-test.h5") as file:
        return file["chunked"][...]


def gaussian_values(amplitude, widths):
    axes = []
    for d in range(3):
        n = GRID[d] * DOMAIN[d]
        axes.append((((np.arange(n) + 0.5) / n - 0.5) / widths[d]) ** 2)
    exponent = axes[0][:, None, None] + axes[1][None, :, None] + axes[2][None, None, :]
    return (amplitude * np.exp(-0.5 * exponent)).astype("f4")


def classic_values(amplitude, widths):
    """Of seism-core's: indices by widths in elements, from half the extent."""
    axes = [
        ((np.arange(g * d) - 0.5 * g * d) / w) ** 2
        for g, d, w in zip(GRID, DOMAIN, widths, strict=True)
    ]
    exponent = axes[0][:, None, None] + axes[1][None, :, None] + axes[2][None, None, :]
    return (amplitude * np.exp(-exponent)).astype("f4")


def plugin(name, *arguments, library="libplugins.so"):
    return (
        f"use_function_lib={library}",
        f"use_function_name={name}",
        f"use_function_argc={len(arguments)}",
        f"use_function_argv={' '.join(arguments)}",
    )


@pytest.mark.parametrize("library", ["libplugins.so", str(PLUGINS)])
def test_mpi_rank_fill_is_the_default_fill(tmp_path, library):
    good(tmp_path, 4, *BASE, *plugin("mpi_rank_fill", library=library))
    np.testing.assert_array_equal(written(tmp_path), rank_values(GRID, DOMAIN, 2))


@pytest.mark.parametrize("arguments", [("1", "1", "1", "1"), ("-2.5", "0.1", "3", "0.5")])
def test_gaussian_of_domain(tmp_path, arguments):
    good(tmp_path, 4, *BASE, *plugin("gaussian_of_domain", *arguments))
    amplitude, *widths = map(float, arguments)
    found = written(tmp_path)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], gaussian_values(amplitude, widths), rtol=2e-7)


def test_gaussian_of_domain_1_1_1_1_has_no_zeros_and_repeats_only_by_symmetry(tmp_path):
    good(tmp_path, 2, "processor=2x1x1", "domain=5x6x9", "time=1",
         *plugin("gaussian_of_domain", *"1111"))  # fmt: skip
    values = written(tmp_path)[0]
    assert values.min() > 0.68
    for axis in range(3):
        np.testing.assert_array_equal(values, np.flip(values, axis))
    eighth = values[:5, :3, :5]
    # Where two coordinates are the same fraction of their extents they may be exchanged.
    assert len(np.unique(eighth)) > 0.9 * eighth.size


@pytest.mark.parametrize("arguments", [("1", "1", "1", "1"), ("-2.5", "4", "30.5", "2")])
def test_gaussian_has_the_values_of_seism_core(tmp_path, arguments):
    good(tmp_path, 4, *BASE, *plugin("gaussian", *arguments))
    amplitude, *widths = map(float, arguments)
    np.testing.assert_allclose(written(tmp_path)[1], classic_values(amplitude, widths), rtol=2e-6)


def test_sd_has_the_values_of_seism_core(tmp_path):
    """One argument; all blocks are the same; the file may be longer, and NaN is behind its end."""
    sample = np.arange(100, dtype="f4")
    sample.tofile(tmp_path / "s")
    good(tmp_path, 4, *BASE, *plugin("sd", "s"))
    x, y, z = np.indices([g * d for g, d in zip(GRID, DOMAIN, strict=True)])
    x, z = x % DOMAIN[0], z % DOMAIN[2]
    np.testing.assert_array_equal(written(tmp_path)[0], sample[(z * 6 + y) * 5 + x])
    sample[:50].tofile(tmp_path / "s")
    good(tmp_path, 4, *BASE[:-1], *plugin("sd", "s"))
    found = written(tmp_path)[0]
    index = (z * 6 + y) * 5 + x
    np.testing.assert_array_equal(np.isnan(found), index >= 50)
    np.testing.assert_array_equal(found[index < 50], sample[index[index < 50]])


def test_sample_data_by_global_position(tmp_path):
    n = [g * d for g, d in zip(GRID, DOMAIN, strict=True)]
    sample = np.arange(np.prod(n), dtype="f4").reshape(n[2], n[1], n[0])  # z slowest, x fastest
    sample.tofile(tmp_path / "sample.f32")
    good(tmp_path, 4, *BASE, *plugin("sd_of_domain", "sample.f32", *map(str, n)))
    np.testing.assert_array_equal(written(tmp_path)[1], sample.transpose(2, 1, 0))


def test_sample_data_repeats_in_a_larger_domain(tmp_path):
    sample = np.arange(24, dtype="f4").reshape(4, 3, 2)
    sample.tofile(tmp_path / "s")
    good(tmp_path, 4, *BASE, *plugin("sd_of_domain", "s", "2", "3", "4"))
    x, y, z = np.indices([g * d for g, d in zip(GRID, DOMAIN, strict=True)])
    np.testing.assert_array_equal(written(tmp_path)[0], sample[z % 4, y % 3, x % 2])


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (("nothere", "2", "3", "4"), ["nothere", "No such file"]),
        (("s", "2", "3", "5"), ["96 bytes", "120 bytes"]),
        (("s", "2", "3"), ["3 arguments", "FILE NX NY NZ"]),
        (("s", "2", "-3", "4"), ["argument 2", '"-3"']),
        (("s", "4294967296", "4294967296", "4"), ["too many"]),
        ((".", "2", "3", "4"), ["sample"]),
    ],
)
def test_sample_data_that_is_wrong(tmp_path, arguments, parts):
    np.arange(24, dtype="f4").tofile(tmp_path / "s")
    result = run(tmp_path, 4, *BASE, *plugin("sd_of_domain", *arguments))
    assert result.code == 2 and result.codes == [2] * 4
    assert len(result.errors) == 1
    for part in parts:
        assert part in result.err, result.err
    assert not (tmp_path / "seism-test.h5").exists()


OLD = r"""
#include <stdlib.h>
typedef unsigned long long hsize_t;  /* as the library of that time had it */
float old(int mpi_rank, hsize_t *system_size, hsize_t *domain_block_size,
          hsize_t *domain_block_number, hsize_t *position_in_block, int argc, char **argv) {
    float sum = mpi_rank + 10 * argc;
    for (int i = 0; i < argc; ++i) sum += atof(argv[i]) * 0.5f;
    for (int d = 0; d < 3; ++d) {
        sum = sum * 3 + system_size[d];
        sum = sum * 3 + domain_block_size[d];
        sum = sum * 3 + domain_block_number[d];
        sum = sum * 3 + position_in_block[d];
        system_size[d] = domain_block_size[d] = domain_block_number[d] = 0;  /* scratch */
    }
    return sum;
}
"""


def test_an_old_library_gives_the_same_bytes(tmp_path):
    """Compiled against nothing of ours; it writes into its arguments, as it may."""
    (tmp_path / "old.c").write_text(OLD)
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", tmp_path / "libold.so", tmp_path / "old.c"],
        check=True,
    )
    path = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    good(
        tmp_path,
        4,
        *BASE,
        *plugin("old", "1", "7", library="libold.so"),
        env={"LD_LIBRARY_PATH": path},
    )
    expected = np.empty([g * d for g, d in zip(GRID, DOMAIN, strict=True)], "f4")
    three = np.float32(3)
    for index in np.ndindex(*expected.shape):
        block = [i // d for i, d in zip(index, DOMAIN, strict=True)]
        total = np.float32((block[0] * GRID[1] + block[1]) * GRID[2] + block[2] + 20)
        total += np.float32(0.5)
        total += np.float32(3.5)
        for d in range(3):
            for number in (GRID[d], DOMAIN[d], block[d], index[d] % DOMAIN[d]):
                total = total * three + np.float32(number)
        expected[index] = total
    np.testing.assert_array_equal(written(tmp_path)[0], expected)


def test_argv_counts_from_0_and_needs_no_argc(tmp_path):
    good(
        tmp_path,
        4,
        *BASE,
        "use_function_lib=libplugins.so",
        "use_function_name=gaussian_of_domain",
        "use_function_argv=3 1 1 1",
    )
    np.testing.assert_allclose(written(tmp_path)[0], gaussian_values(3, (1, 1, 1)), rtol=2e-7)


def test_the_published_plugin_input(tmp_path):
    lines = (
        "processor 2 1 2\nchunk 5 6 3\ndomain 5 6 3\ntime 2\nuse_function_lib libplugins.so\n"
        "use_function_name gaussian\nuse_function_argc 4\nuse_function_argv 1 1 1 1 \nDONE\n"
    )
    good(tmp_path, 4, lines=lines)
    np.testing.assert_allclose(written(tmp_path)[0], classic_values(1, (1, 1, 1)), rtol=2e-6)


def test_without_a_plugin_position_fill_differs_from_step_to_step(tmp_path):
    good(tmp_path, 4, *BASE, "fill=position")
    found = written(tmp_path)
    np.testing.assert_array_equal(found, position_values(GRID, DOMAIN, 2))
    assert (found[0] != found[1]).mean() > 0.99


THROWING = r"""
#include <cstddef>
#include <cstdint>
#include <stdexcept>
using U = std::uint64_t;
static int calls = 0;
extern "C" float boom(int rank, U*, U*, U*, U*, int, char**) {
    if (rank == 1) throw std::runtime_error("no value here");
    return 1;
}
extern "C" float odd(int rank, U*, U*, U*, U*, int, char**) {
    if (rank == 1) throw 42;
    return 1;
}
extern "C" float later(int, U*, U*, U*, U*, int, char**) {
    if (++calls > 90) throw std::runtime_error("too often");
    return 1;
}
extern "C" float fine(int, U*, U*, U*, U*, int, char**) { return 1; }
extern "C" int fine_check(int, char**, char*, std::size_t) { throw std::runtime_error("no"); }
"""


@pytest.mark.parametrize(
    "name, parts, written_first",
    [
        ("boom", ["function boom", "no value here", "rank 1 of 4"], False),
        ("odd", ["function odd", "no std::exception"], False),
        ("later", ["function later", "too often"], True),  # while the file is verified
        ("fine", ["function fine_check", "threw an exception: no"], False),
    ],
)
def test_a_function_that_throws(tmp_path, name, parts, written_first):
    (tmp_path / "throw.cpp").write_text(THROWING)
    library = tmp_path / "libthrow.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-o", library, tmp_path / "throw.cpp"], check=True)
    result = run(tmp_path, 4, *BASE, *plugin(name, library="./libthrow.so"))
    assert result.codes == [2] * 4 and len(result.errors) == 1, result.err
    for part in (*parts, "libthrow.so", "<command line>"):
        assert part in result.err, result.err
    assert (tmp_path / "seism-test.h5").exists() == written_first
    assert len(result.records) == (1 if written_first else 0)


def test_a_plugin_is_what_fills(tmp_path):
    result = good(tmp_path, 4, *BASE, *plugin("mpi_rank_fill"))
    assert result.records[-1]["configuration"]["fill"] == "plugin"
    listing = good(tmp_path, 0, "--dry-run", *BASE, *plugin("mpi_rank_fill")).out
    assert "\nfill plugin " in listing
    again = good(tmp_path, 0, "--dry-run", lines=listing)
    assert "\nfill plugin " in again.out
    for fill in ("rank", "position"):
        refused = run(tmp_path, 4, *BASE, *plugin("mpi_rank_fill"), f"fill={fill}")
        assert refused.code == 2 and f"fill {fill} and use_function_lib" in refused.err
    alone = run(tmp_path, 4, *BASE, "fill=plugin")
    assert alone.code == 2 and "use_function_lib" in alone.err
