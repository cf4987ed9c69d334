# SPDX-License-Identifier: Apache-2.0
"""Fill plugins: through the compiled helper, through ctypes, and where they are missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import seism_files as files
from tailrace_cli import tailrace

from tailrace import native
from tailrace.errors import ExitCode, TailraceError
from tailrace.verify import plugin
from tailrace.verify.kernel import Seism
from tailrace.verify.seism import check_fill

RUN = Seism((2, 1, 2), (3, 4, 5), 2, "plugin", "libmixed.so", "mixed", ("1.5", "2"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("plugin") / "libmixed.so"
    source = Path(__file__).with_name("plugin.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", built, source], check=True)
    return built


def expected(x: int, y: int, z: int) -> np.float32:
    block = (x // 3, y // 4, z // 5)
    place = (x % 3, y % 4, z % 5)
    rank = (block[0] * 1 + block[1]) * 2 + block[2]
    value = rank + 0.5 * 2 + 0.25 * 2 + 10.0 * 4
    value += sum((100.0 + i) * block[i] + (1000.0 + 7 * i) * place[i] for i in range(3))
    return np.float32(value + 1.5 * 1 + 2.0 * 2)


@pytest.mark.parametrize("way", ["compiled", "ctypes"])
def test_values_of_boxes_over_several_blocks(
    way: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "ctypes":
        monkeypatch.setattr(plugin, "core", lambda: None)
    elif native.core() is None:
        pytest.fail("the compiled helper is not there: set TAILRACE_BUILD_DIR or install")
    fill = plugin.PluginFill(RUN, str(library))
    for box in ((slice(0, 6), slice(0, 4), slice(0, 10)), (slice(2, 5), slice(1, 3), slice(4, 7))):
        got = fill(0, box)
        for (i, j, k), value in np.ndenumerate(got):
            assert value == expected(box[0].start + i, box[1].start + j, box[2].start + k)


def values() -> np.ndarray:
    found = np.zeros(RUN.shape, np.float32)
    for place, _ in np.ndenumerate(found):
        found[place] = expected(*place[1:])
    return found


def test_verify_calls_the_plugin_that_the_file_names(library: Path, tmp_path: Path) -> None:
    case = files.Case(RUN.processor, RUN.domain, RUN.steps, "rank")
    good = values()
    for name, data in (("good", good), ("bad", good.copy())):
        if name == "bad":
            data[1, 2, 3, 4] += 1
        files.write_classic_attribute(tmp_path / name, case, data, "libmixed.so mixed 1.5 2")
    lost = tailrace("verify", tmp_path / "good").expect(ExitCode.CAPABILITY_MISSING)
    assert "libmixed.so" in lost.err and "--plugin-lib" in lost.err
    tailrace("verify", tmp_path / "good", LD_LIBRARY_PATH=str(library.parent)).expect(0)
    tailrace("verify", tmp_path / "good", "--plugin-lib", library).expect(0)
    ran = tailrace("verify", "--json", tmp_path / "bad", "--plugin-lib", library).expect(3)
    assert ran.json["files"][0]["wrong"] == 1


def test_a_missing_function_is_named(library: Path) -> None:
    run = Seism(RUN.processor, RUN.domain, 1, "plugin", "libmixed.so", "mixd")
    with pytest.raises(TailraceError, match="no function mixd") as caught:
        plugin.PluginFill(run, str(library))
    assert caught.value.code == ExitCode.CAPABILITY_MISSING


def test_a_function_that_refuses_its_arguments_verifies_nothing(
    library: Path, tmp_path: Path
) -> None:
    case = files.Case(RUN.processor, RUN.domain, 1, "rank")
    nothing = np.full(case.shape, np.nan, np.float32)
    files.write_classic_attribute(tmp_path / "bad", case, nothing, f"{library} picky 1 2")
    with pytest.raises(TailraceError, match="refuses its arguments: it wants one number") as caught:
        check_fill(tmp_path / "bad")
    assert caught.value.code == ExitCode.USAGE
    files.write_classic_attribute(tmp_path / "good", case, files.data(case), f"{library} picky 1")
    assert check_fill(tmp_path / "good").ok
