# SPDX-License-Identifier: Apache-2.0
"""yt opens what tailrace-amr writes, and finds every value where it belongs."""

import amr_reader
import numpy as np
import pytest
import yt
from seism_tool import BUILD, good
from yt.frontends.amrex.api import AMReXDataset

AMR = BUILD / "bin/tailrace-amr"
READERS = {"plt00000": amr_reader.native, "plt00000.h5": amr_reader.hdf5}
yt.set_log_level("error")


@pytest.fixture(scope="module", params=[1, 2, 3])
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"levels_{request.param}")
    words = ["ncells=16 24 8", "max_grid_size=8", "ncomp=2", "nppc=2", "format=hdf5"]
    good(folder, 3, f"nlevs={request.param}", *words, program=AMR)
    return folder


@pytest.mark.parametrize("name", READERS)
def test_every_value(written, name):
    plot = amr_reader.check(READERS[name](written / name))
    found = yt.load(written / name)
    assert found.index.max_level == len(plot.levels) - 1
    assert list(found.domain_dimensions) == [16, 24, 8]
    np.testing.assert_allclose(found.domain_right_edge.d, [1, 1.5, 0.5])
    assert [name for _, name in found.field_list] == ["component_0", "component_1"]
    grids = {}
    for grid in found.index.grids:
        low = tuple(int(n) for n in grid.get_global_startindex())
        grids[grid.Level, low] = grid
    assert len(grids) == sum(len(level) for level in plot.levels)
    for number, level in enumerate(plot.levels):
        for box in level:
            grid = grids[number, box.lo]
            for component in range(2):
                values = np.asarray(grid[found.field_list[component]])  # i, j, k
                np.testing.assert_array_equal(values.T, box.values[component])


def test_particles(written):
    """As many as cells that nothing finer covers, twice; each in such a cell."""
    plot = amr_reader.native(written / "plt00000")
    found = AMReXDataset(str(written / "plt00000"))
    everything = found.all_data()
    position = np.stack(
        [np.asarray(everything["all", f"particle_position_{axis}"]) for axis in "xyz"], axis=1
    )
    ids = np.asarray(everything["all", "particle_id"])
    ranks = np.asarray(everything["all", "particle_cpu"])
    hidden = 0
    for number, level in enumerate(plot.levels[1:]):
        ratio = plot.domains[number + 1][0] // plot.domains[number][0]
        hidden += sum(int(np.prod(box.shape)) for box in level) // ratio**3
    cells = sum(int(np.prod(box.shape)) for level in plot.levels for box in level) - hidden
    assert len(position) == len(set(map(tuple, position))) == 2 * cells
    assert len(set(zip(ids, ranks, strict=True))) == 2 * cells
    finest = np.zeros(plot.domains[-1][::-1], "i4")
    where = tuple((position[:, d] * plot.domains[-1][0]).astype(int) for d in (2, 1, 0))
    np.add.at(finest, where, 1)
    for box in plot.levels[-1]:  # two in each of the finest cells
        inside = tuple(
            slice(low, high + 1) for low, high in zip(box.lo[::-1], box.hi[::-1], strict=True)
        )
        assert np.all(finest[inside] == 2)
