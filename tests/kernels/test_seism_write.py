# SPDX-License-Identifier: Apache-2.0
"""Every element of files written on 1, 2, 3, 4 and 8 ranks, by readers that share nothing with us;
and what the file says about itself."""

import subprocess

import h5py
import numpy as np
import pytest
from seism_tool import (
    ROMIO,
    SOURCE,
    environment,
    good,
    position_values,
    rank_values,
    raw_values,
    run,
    seen,
)

GRIDS = {1: (1, 1, 1), 2: (1, 2, 1), 3: (3, 1, 1), 4: (2, 1, 2), 8: (2, 2, 2)}
FORMATS = ("hdf5", "mpiio", "posix", "posix-per-rank")


def by_x(numbers):
    return "x".join(map(str, numbers))


def stored(path, form):
    if form == "hdf5":
        with h5py.File(path) as file:
            return file["chunked"][...]
    return raw_values(path)[0]


@pytest.mark.parametrize("ranks", GRIDS)
@pytest.mark.parametrize("form", FORMATS)
def test_every_element(tmp_path, form, ranks):
    grid, domain = GRIDS[ranks], (5, 3, 4)
    good(
        tmp_path,
        ranks,
        f"processor={by_x(grid)}",
        f"domain={by_x(domain)}",
        "time=3",
        f"format={form}",
        "fill=position",
        "verify",
        "read_back",
    )
    found = stored(tmp_path / "seism-test.h5", form)
    np.testing.assert_array_equal(found, position_values(grid, domain, 3))


@pytest.mark.parametrize(
    "form, collective",
    (("hdf5", 0), ("hdf5", 1), ("mpiio", 0), ("mpiio", 1), ("posix", 0)),
)
@pytest.mark.parametrize("chunk", ((5, 3, 4), (2, 3, 3), (10, 6, 8), (1, 1, 1)))
def test_chunks_that_do_and_do_not_fit_the_blocks(tmp_path, form, collective, chunk):
    # A thousand chunks of one element take long.
    grid, domain = (2, 2, 2), (2, 2, 2) if chunk == (1, 1, 1) else (5, 3, 4)
    good(
        tmp_path,
        8,
        f"processor={by_x(grid)}",
        f"domain={by_x(domain)}",
        "time=2",
        f"chunk={by_x(chunk)}",
        f"format={form}",
        "fill=position",
        f"collective_write={collective}",
        "verify",
    )
    found = stored(tmp_path / "seism-test.h5", form)
    np.testing.assert_array_equal(found, position_values(grid, domain, 2))


@pytest.mark.parametrize("form", ("hdf5", "mpiio"))
@pytest.mark.parametrize("collective", (0, 1))
def test_through_romio(tmp_path, form, collective):
    if not ROMIO:
        return  # another MPI than Open MPI has ROMIO only: all other tests go through it
    good(
        tmp_path,
        4,
        "processor=2x1x2",
        "domain=5x3x4",
        "time=2",
        "chunk=2x3x3",
        f"format={form}",
        f"collective_write={collective}",
        "fill=position",
        "verify",
        "read_back",
        "precreate",
        mpi=["--mca", "io", ROMIO],
    )
    found = stored(tmp_path / "seism-test.h5", form)
    np.testing.assert_array_equal(found, position_values((2, 1, 2), (5, 3, 4), 2))


@pytest.mark.parametrize("form", FORMATS)
def test_rank_fill(tmp_path, form):
    good(tmp_path, 8, "processor=2x2x2", "domain=5x3x4", "time=2", f"format={form}", "verify")
    found = stored(tmp_path / "seism-test.h5", form)
    np.testing.assert_array_equal(found, rank_values((2, 2, 2), (5, 3, 4), 2))


@pytest.mark.parametrize("domain", ((1, 1, 1), (1, 7, 1), (13, 1, 1), (1, 1, 5)))
def test_blocks_of_width_one(tmp_path, domain):
    good(
        tmp_path,
        4,
        "processor=4x1x1",
        f"domain={by_x(domain)}",
        "time=2",
        "fill=position",
        "verify",
        "read_back",
    )
    found = stored(tmp_path / "seism-test.h5", "hdf5")
    np.testing.assert_array_equal(found, position_values((4, 1, 1), domain, 2))


def test_the_file_describes_itself(tmp_path):
    lines = (
        "processor 2 1 1\ndomain 4 6 8\nchunk 4 3 8\ntime 2\nn_nodes 5\ncollective_write\n"
        "hint cb_nodes=1\nuse_function_lib libplugins.so\nuse_function_name gaussian\n"
        "use_function_argc 4\nuse_function_argv 1 2 3 4\nDONE\n"
    )
    good(tmp_path, 2, lines=lines)
    with h5py.File(tmp_path / "seism-test.h5") as file:
        plain = dict(file.attrs)
        assert plain["kernel"] == "seism"
        assert plain["schema"] == "tailrace-seism/1"
        for key, value in {"processor": [2, 1, 1], "domain": [4, 6, 8], "chunk": [4, 3, 8]}.items():
            assert plain[key].dtype == "u8" and plain[key].tolist() == value
        assert plain["time"] == 2 and plain["n_nodes"] == 5
        assert plain["fill"] == "plugin" and plain["format"] == "hdf5"
        assert plain["use_function_name"] == "gaussian" and plain["use_function_argc"] == 4
        assert list(plain["use_function_argv"]) == ["1", "2", "3", "4"]
        assert plain["collective_write"] == 1 and plain["precreate"] == 0
        assert list(plain["hint"]) == ["cb_nodes=1"]
        # The classic compound: type, offsets, values.
        classic = file["seismCoreAttributes"].dtype
        assert classic.itemsize == 184
        offsets = {name: classic.fields[name][1] for name in classic.names}
        assert offsets == {
            "name": 0,
            "processor_dims": 8,
            "chunk_dims": 32,
            "domain_dims": 56,
            "simulation_time": 80,
            "n_nodes": 84,
            "subfile": 88,
            "collective_write": 92,
            "precreate": 96,
            "set_collective_metadata": 100,
            "never_fill": 104,
            "deflate": 108,
            "zfp": 112,
            "use_function_lib": 120,
            "use_function_name": 128,
            "use_function_argc": 136,
            "use_function_argv": 144,
        }
        value = plain["simulation_attributes"]
        assert value["name"] == b"my_attr" or value["name"] == "my_attr"
        assert value["processor_dims"].tolist() == [2, 1, 1]
        assert value["chunk_dims"].tolist() == [4, 3, 8]
        assert value["domain_dims"].tolist() == [4, 6, 8]
        assert value["simulation_time"] == 2 and value["n_nodes"] == 5
        assert value["collective_write"] == 1 and value["never_fill"] == 0
        argv = value["use_function_argv"]
        assert (argv.decode() if isinstance(argv, bytes) else argv) == "1 2 3 4"


def test_raw_formats_carry_the_same_attributes(tmp_path):
    for form in ("posix", "mpiio", "posix-per-rank"):
        good(
            tmp_path,
            2,
            "processor=2x1x1",
            "domain=2x2x2",
            "time=1",
            f"format={form}",
            f"filename={form}",
        )
        attributes = {a["name"]: a["value"] for a in raw_values(tmp_path / form)[1]["attributes"]}
        assert attributes["kernel"] == "seism" and attributes["processor"] == [2, 1, 1]
        assert attributes["fill"] == "rank" and attributes["format"] == form


def test_the_published_input_runs_unchanged(tmp_path):
    """Its figures scaled down by an environment variable; the text is the published one."""
    text = (SOURCE / "examples/classic/default.in").read_text()
    smaller = {"TAILRACE_SEISM_DOMAIN": "36 12 12", "TAILRACE_SEISM_CHUNK": "18x12x12"}
    good(tmp_path, 8, lines=text + "nonsense behind DONE\n", env=smaller)
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].shape == (5, 72, 24, 24)
        assert file["chunked"].chunks == (1, 18, 12, 12)
        np.testing.assert_array_equal(file["chunked"][...], rank_values((2, 2, 2), (36, 12, 12), 5))


def test_inputs_of_the_classic_tests_run(tmp_path):
    """Keys with 0 for off, as the original's own check files have them; a comment stays one."""
    lines = (
        "processor 2 2 1\nchunk 4 4 4\ndomain 4 4 4\ntime 2\n# time 4\nearly_allocation\n"
        "deflate 0\nsubfile 0\nzfp 0\nn_nodes 0\nuse_function_argc 0\nDONE\n"
    )
    good(tmp_path, 4, lines=lines)
    with h5py.File(tmp_path / "seism-test.h5") as file:
        assert file["chunked"].shape[0] == 2


def test_names_with_blanks_dashes_and_shell_characters(tmp_path):
    for name in ("a b.h5", "-rf.h5", "$(touch pwned);'\"&.h5", "f#1.h5", "ü.h5"):
        good(tmp_path, 2, lines=f"processor 2 1 1\ndomain 2 2 2\ntime 1\nfilename {name}\nDONE\n")
        assert (tmp_path / name).exists()
    assert not (tmp_path / "pwned").exists()


def test_a_link_as_the_name_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "seism-test.h5").symlink_to("elsewhere/f.h5")
    good(tmp_path, 2, "processor=2x1x1", "domain=2x2x2", "time=1", "repeat=2")
    assert (tmp_path / "seism-test.h5").is_symlink()
    assert h5py.is_hdf5(tmp_path / "elsewhere/f.h5")


def test_nothing_is_left_but_the_file_and_its_record(tmp_path):
    for form in ("hdf5", "mpiio", "posix"):
        good(tmp_path, 3, "processor=3x1x1", "domain=2x2x2", "time=1", f"format={form}")
        assert seen(tmp_path) == ["results.jsonl", "seism-test.h5"]


def test_a_wrong_element_is_found_and_named(tmp_path):
    """The verifier sees one flipped element. The write is right, so a plugin that gives another
    value the second time stands for the damage."""
    source = tmp_path / "liar.c"
    source.write_text(
        "static long calls;\n"
        "float liar(int r, unsigned long long *s, unsigned long long *d, unsigned long long *n,\n"
        "           unsigned long long *p, int c, char **v) {\n"
        "  ++calls; return p[0] == 1 && p[1] == 2 && p[2] == 3 && calls > 4 * 4 * 4 ? 5 : 1; }\n"
    )
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", tmp_path / "libliar.so", source],
        check=True,
        env=environment(),
    )
    words = ["processor=1x1x1", "domain=4x4x4", "time=1"]
    lie = ["use_function_lib=./libliar.so", "use_function_name=liar"]
    for pattern in ("same", "other", "shuffled"):
        read = run(tmp_path, 1, *words, f"read={pattern}", *lie)
        assert read.code == 3, read.err
        found = f"1 of 64 elements that were read in the pattern {pattern} are wrong"
        assert found in read.err, read.err
        assert read.records[-1]["error"]["code"] == "verification"
    result = run(tmp_path, 1, *words, "verify", *lie)
    assert result.code == 3, result.err
    assert "1 of 64 elements of /chunked are wrong" in result.err
    assert "(0, 1, 2, 3): expected 5, found 1" in result.out
    record = result.records[-1]
    assert record["status"] == "failed" and record["error"]["exit_code"] == 3
    assert record["verification"]["wrong"] == 1
    assert record["verification"]["first"][0]["index"] == [0, 1, 2, 3]
