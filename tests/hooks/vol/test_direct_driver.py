# SPDX-License-Identifier: Apache-2.0
"""The direct driver (O_DIRECT), in an HDF5 that was built with it, as the superbuild's is; and in a
program that names a variable of HDF5 (H5P_FILE_ACCESS_DEFAULT), which then lies in the program."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from plans import entry, setting, write_plan
from tailrace_cli import tailrace

PROGRAM = Path(os.environ["TAILRACE_BUILD_DIR"], "tests", "bin", "declare_c")
DRIVERS = PROGRAM.with_name("vol_drivers")
HAS_IT = hasattr(ctypes.CDLL(os.environ["TAILRACE_TEST_HDF5"]), "H5Pset_fapl_direct")


def test_a_file_is_written_past_the_page_cache(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, entry("d.h5", setting("33", "driver", "direct", "opt_in")))
    subprocess.run([PROGRAM, "write", "native.h5"], cwd=tmp_path, check=True, capture_output=True)
    ran = tailrace(
        "apply", plan, "--json", "--",
        "strace", "-f", "-e", "trace=openat", "-o", "trace", PROGRAM, "write", "d.h5",
        cwd=tmp_path,
    )  # fmt: skip
    ran.expect(0)
    (line,) = (line for line in ran.json["lines"] if line["setting"] == "driver")
    opened = [one for one in (tmp_path / "trace").read_text().splitlines() if '"d.h5"' in one]
    assert opened
    if HAS_IT:
        assert line["became"] == "applied"
        assert any("O_DIRECT" in one for one in opened), opened
    else:
        assert line["reason"] == "this HDF5 was built without the direct driver"
        assert not any("O_DIRECT" in one for one in opened), opened
    with h5py.File(tmp_path / "d.h5") as found, h5py.File(tmp_path / "native.h5") as expected:
        assert list(found) == list(expected) == ["x"]
        assert np.array_equal(found["x"][...], expected["x"][...])


@pytest.mark.parametrize("locking", ["TRUE", "FALSE"])
def test_other_opens_of_the_file_end_as_without_a_plan(tmp_path: Path, locking: str) -> None:
    """Written with the direct driver, read with the core driver: HDF5 finds an open file only where
    it is opened with the same one."""
    changes = {"HDF5_USE_FILE_LOCKING": locking}
    native = subprocess.run(
        [DRIVERS], cwd=tmp_path, check=True, capture_output=True, text=True,
        env=os.environ | changes,
    )  # fmt: skip
    assert "read while it is written: 77, its own driver: 1, errors: 0" in native.stdout
    assert "open to write while it is read: refused" in native.stdout
    plan = write_plan(
        tmp_path,
        entry("d.h5", setting("33", "driver", "direct", "opt_in"), when="create"),
        entry("d.h5", setting("32", "driver", "core", "opt_in"), when="open"),
    )
    ran = tailrace("apply", plan, "--json", "--", DRIVERS, cwd=tmp_path, **changes).expect(0)
    assert native.stdout in ran.err
    applied = {line["rule"] for line in ran.json["lines"] if line["became"] == "applied"}
    assert applied == ({"32", "33"} if HAS_IT else {"32"})
