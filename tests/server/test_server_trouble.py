# SPDX-License-Identifier: Apache-2.0
"""A model in trouble: every rank ends, and hears of the failure with its name; no file that is not
whole has its final name."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
from mpi_programs import BUILD, MPIEXEC, PRELOAD, mpi_components
from own_namespace import not_run, small_disk

TROUBLE = BUILD / "tests/bin/tailrace_server_trouble"
MODEL = 3
STEPS, ROWS, COLUMNS, WIDE = 4, 8, 16, 16384
layouts = pytest.mark.parametrize("servers", [0, 1, 2], ids=lambda n: f"servers{n}")
ENVIRONMENT = {**os.environ, **mpi_components()[0][1]}


def words(case, servers, options=(), before=(), launcher=(), around=()):
    asked = ["--npes_output_server", servers] if servers else []
    ranks = [*MPIEXEC, *launcher, "-n", MODEL + servers, *around]
    return [str(word) for word in [*before, *ranks, TROUBLE, case, *asked, *options]]


# Each rank leaves the number of its process in the folder.
NUMBERED = ["sh", "-c", 'echo $$ > pid${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}; exec "$0" "$@"']


def process_of(folder, rank):
    return int((folder / f"pid{rank}").read_text())


def run(folder, case, servers, environment=(), **where):
    """The calls that failed, per rank of the model: [(call, text), ...]. A hang is a failure."""
    with tempfile.TemporaryDirectory() as beside:
        heard = Path(beside) / "rank"
        done = subprocess.run(
            words(case, servers, **where),
            cwd=folder,
            env=ENVIRONMENT | dict(environment) | {"TROUBLE_HEARD": str(heard)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=150,  # many files are synced, and the disk may be busy
            check=False,
        )
        assert done.returncode == 0, done.stderr
        texts = [Path(f"{heard}.{rank}").read_text(errors="replace") for rank in range(MODEL)]
    assert "HDF5" not in done.stderr.replace("HDF5 error", "")
    assert sorted(re.findall(r"^rank (\d) ended$", done.stdout, re.M)) == ["0", "1", "2"]
    failed = {rank: re.findall(r"^(\w+): (.*)$", text, re.M) for rank, text in enumerate(texts)}
    for calls in failed.values():
        assert calls.pop()[0] == "put_after_finalize"
    return failed


def values(step, columns=COLUMNS):
    return step * 1000000 + np.arange(MODEL * ROWS * columns).reshape(MODEL * ROWS, columns)


def check_good(file, steps=STEPS):
    with netCDF4.Dataset(file) as data:
        assert data["T"].shape == (steps, MODEL * ROWS, COLUMNS)
        assert list(data["time"][:]) == list(range(steps))
        for step in range(steps):
            assert (data["T"][step] == values(step)).all()


def no_leftovers(folder):
    assert not [p for p in folder.rglob("*") if ".part" in p.name]


def only_whole(folder, expected):
    """Under final names there are these files, and they hold every element."""
    assert {str(file.relative_to(folder)) for file in folder.rglob("*.*")} == {
        *expected,
        "good.nc4",
    }
    check_good(folder / "good.nc4")
    for name in expected:
        with h5py.File(folder / name) as data:
            for step in range(STEPS):
                assert (data["T"][step] == values(step, WIDE)).all()


def check_cells(failed, cells):
    """All ranks hear the same of each file: its name, the reason, the rank that saw it."""
    for calls in failed.values():
        assert calls == failed[0]
        for file, reason in cells.items():
            own = [text for call, text in calls if file in text and call == "close_file"]
            assert len(own) == 1, file
            assert re.search(reason, own[0]), own
            assert re.search(r"\(rank \d of \d\)", own[0]), own
        others = [text for call, text in calls if not any(file in text for file in cells)]
        assert others == []


def cells_of(rules, formats=("nc4", "h5")):
    """Per name and rule a collection in each format, and the environment that brings it about."""
    files = {f"bad/{name}.{suffix}": rule for name, rule in rules.items() for suffix in formats}
    faults = [f"path=*/{file}*,{rule}" for file, rule in files.items() if rule]
    return list(files), {
        "TROUBLE_FILES": " ".join(files),
        "TAILRACE_FAULT": ";".join(faults),
        "LD_PRELOAD": str(PRELOAD),
    }


@layouts
def test_calls_that_the_system_refuses(tmp_path, servers):
    """Create, write, flush, close and rename, each of a collection of its own; others go on."""
    rules = {
        "create": "op=open,errno=EACCES",
        "first": "op=write,errno=EIO",
        "second": "op=write,after=1,errno=EIO",
        "late": "op=write,after=4,errno=EDQUOT",
        "flush": "op=fsync,errno=EIO",
        "close": "op=close,after=4,errno=EIO",
        "name": "op=rename,errno=EROFS",
        "fine": "",
    }
    files, environment = cells_of(rules)
    (tmp_path / "bad").mkdir()
    failed = run(tmp_path, "cells", servers, environment)
    words = {
        "EIO": "Input/output error",
        "EACCES": "Permission denied",
        "EDQUOT": "Disk quota exceeded",
        "EROFS": "Read-only file system",
    }
    cells = {}
    for file in files:
        rule = rules[file.split("/")[1].split(".")[0]]
        if rule:
            cells[file] = words[rule.rsplit("=", 1)[1]]
    check_cells(failed, cells)
    late = [text for call, text in failed[1] if "late.h5" in text]
    assert "bad/late.h5:/time, record 2: " in late[0], "heard when it is written, not at the end"
    only_whole(tmp_path, ["bad/fine.nc4", "bad/fine.h5"])


@layouts
@pytest.mark.parametrize(("suffix", "writes"), [("nc4", 15), ("h5", 19)])
def test_every_write_that_fails_is_heard_of(tmp_path, servers, suffix, writes):
    """What HDF5 keeps of a file that it could not close spoils no other one."""
    rules = {f"a{after}.": f"op=write,after={after},errno=ENOSPC" for after in range(writes)}
    files, environment = cells_of(rules | {"fine": ""}, [suffix])
    (tmp_path / "bad").mkdir()
    failed = run(tmp_path, "cells", servers, environment)
    check_cells(failed, dict.fromkeys(files[:-1], "No space left on device"))
    only_whole(tmp_path, files[-1:])


@layouts
def test_a_folder_that_vanishes(tmp_path, servers):
    files = ["gone/a.nc4", "gone/b.h5", "stays.nc4", "stays.h5"]
    (tmp_path / "gone").mkdir()
    failed = run(tmp_path, "vanish", servers, {"TROUBLE_FILES": " ".join(files)})
    check_cells(failed, dict.fromkeys(files[:2], "No such file|does not exist"))
    only_whole(tmp_path, files[2:])


@layouts
@pytest.mark.parametrize("case", ["none", "long_name", "pause"])
def test_all_is_written(tmp_path, servers, case):
    assert run(tmp_path, case, servers) == {0: [], 1: [], 2: []}
    check_good(tmp_path / "good.nc4")
    no_leftovers(tmp_path)


@layouts
def test_no_collection(tmp_path, servers):
    command = words("no_collection", servers)
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, timeout=60, check=True)
    assert not list(tmp_path.iterdir())


@layouts
def test_a_missing_folder_fails_its_own_collection(tmp_path, servers):
    files = ["missing/a.nc4", "missing/b.h5", "fine.h5"]
    failed = run(tmp_path, "cells", servers, {"TROUBLE_FILES": " ".join(files)})
    check_cells(failed, dict.fromkeys(files[:2], "folder missing does not exist"))
    only_whole(tmp_path, files[2:])


@layouts
def test_the_last_call_names_all_files_that_failed(tmp_path, servers):
    rules = "op=fsync,path=*/c.h5*,errno=EIO;op=fsync,path=*/d.nc4*,errno=EIO"
    done = subprocess.run(
        words("only_finalize", servers),
        cwd=tmp_path,
        env=ENVIRONMENT
        | {"TROUBLE_FILES": "c.h5 d.nc4", "TAILRACE_FAULT": rules, "LD_PRELOAD": str(PRELOAD)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert len(re.findall(r"^rank \d finalize 1: c.h5.part: fsync", done.stdout, re.M)) == MODEL
    assert len(re.findall(r"^ +also: d.nc4.part$", done.stdout, re.M)) == MODEL


@layouts
@pytest.mark.parametrize(
    ("case", "named"),
    [
        ("left_out_step", 'rank 2 gives variable "T"'),
        ("left_out_put", 'rank 2 gives variable "time"'),
        ("another_variable", 'rank 2 gives variable "extra_00000"'),
        ("another_order", 'rank 2 gives variable "extra_00000" as put 1, rank 0 variable "T"'),
        ("another_shape", "rank 2 has other metadata"),
    ],
)
def test_calls_that_differ_are_an_error_on_all_ranks(tmp_path, servers, case, named):
    failed = run(tmp_path, case, servers)
    for calls in failed.values():
        assert calls
        assert all("ranks make different calls" in text and named in text for _, text in calls)
        assert calls[-1][0] == "finalize"
    no_leftovers(tmp_path)
    assert not list(tmp_path.glob("good.nc4"))


@layouts
def test_a_file_that_lacks_a_step_gets_no_name(tmp_path, servers):
    failed = run(tmp_path, "overlap", servers)
    for calls in failed.values():
        assert calls == failed[0]
        assert any("blocks overlap" in text for _, text in calls)
        assert calls[-1][0] == "finalize"
    assert not list(tmp_path.iterdir())


@layouts
def test_a_wrong_type_is_named_where_it_is_put(tmp_path, servers):
    failed = run(tmp_path, "wrong_type", servers)
    puts = [text for call, text in failed[2] if call == "put"]
    assert len(puts) == STEPS
    assert all("variable T of collection good" in text and "real32" in text for text in puts)
    assert [call for call, _ in failed[0]][-1] == "finalize"
    no_leftovers(tmp_path)


@layouts
def test_a_wrong_name_is_a_local_error_with_a_guess(tmp_path, servers):
    failed = run(tmp_path, "wrong_name", servers)
    assert failed[0] == failed[1] == []
    assert failed[2] == [("put", 'there is no variable "TT". Did you mean "T"?')]
    check_good(tmp_path / "good.nc4")


@layouts
def test_a_file_that_was_closed_is_not_written_again(tmp_path, servers):
    failed = run(tmp_path, "put_after_close", servers)
    for calls in failed.values():
        assert calls == failed[0]
        assert [call for call, _ in calls] == ["put", "end_step"] * 2
        assert "good.nc4: this run has finished it already" in calls[0][1]
    check_good(tmp_path / "good.nc4", steps=2)
    no_leftovers(tmp_path)


@layouts
def test_a_field_larger_than_its_queue_is_refused_at_once(tmp_path, servers):
    failed = run_refused(tmp_path, servers)
    assert len(failed) == MODEL
    assert all("the queue of 100 bytes cannot hold a step" in line for line in failed)
    assert not list(tmp_path.iterdir())


def run_refused(folder, servers):
    done = subprocess.run(
        words("small_queue", servers),
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return re.findall(r"^rank \d add_collection 2: .*$", done.stdout, re.M)


@layouts
def test_a_disk_that_fills_while_another_collection_goes_on(tmp_path, servers):
    """The disk is seen by the ranks alone: they say what is on it in the end."""
    disk = tmp_path / "disk"
    disk.mkdir()
    look = f'"$@"; ls -A {shlex.quote(str(disk))} > left; true'
    files = ["disk/a.nc4", "disk/b.h5", "fine.nc4"]
    failed = run(
        tmp_path,
        "cells",
        servers,
        {"TROUBLE_FILES": " ".join(files)},
        before=[*small_disk(disk, 6 << 20), "sh", "-c", look, "sh"],
    )
    check_cells(failed, dict.fromkeys(files[:2], "No space left"))
    assert (tmp_path / "left").read_text() == ""
    (tmp_path / "left").unlink()
    only_whole(tmp_path, files[2:])


@pytest.mark.parametrize(("servers", "poor"), [(0, 0), (0, 2), (1, 2), (2, 0)])
def test_a_rank_of_the_model_without_memory_fails_its_file_on_all_ranks(tmp_path, servers, poor):
    environment = {"TROUBLE_FILES": "poor.nc4 fine.h5", "TROUBLE_RANK": str(poor)}
    in_messages = ["--server_shared_bytes", "0"]
    failed = run(tmp_path, "no_memory", servers, environment, options=in_messages)
    check_cells(failed, {"poor.nc4": rf"no memory .*\(rank {poor} of 3\)"})
    who = "the server" if (servers, poor) == (0, 0) else "this rank of the model"
    named = (
        rf"poor.nc4, variable T, record 1: ({who}|this rank of the model) has no memory .*512 KiB"
    )
    assert re.match(named, dict(failed[0])["end_step"])
    only_whole(tmp_path, ["fine.h5"])


@layouts
def test_a_rank_without_memory_has_its_shared_memory(tmp_path, servers):
    poor = {"TROUBLE_FILES": "fine.nc4 fine.h5", "TROUBLE_RANK": "2"}
    assert run(tmp_path, "no_memory", servers, poor) == {0: [], 1: [], 2: []}
    only_whole(tmp_path, ["fine.nc4", "fine.h5"])


@pytest.mark.parametrize(
    ("shared", "what"),
    [
        ("64MiB", "the server has no memory for 1572864"),
        ("0", "the server has no memory for a piece"),
    ],
)
def test_a_server_without_memory_fails_the_file_and_goes_on(tmp_path, shared, what):
    options = ["--server_shared_bytes", shared]
    late = {"TROUBLE_FILES": "poor.nc4"}
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run, tmp_path, "late", 1, late, options=options, around=NUMBERED)
        until((tmp_path / "good.nc4.part").exists)
        server = process_of(tmp_path, MODEL)
        used = int(Path(f"/proc/{server}/statm").read_text().split()[0]) * resource.getpagesize()
        resource.prlimit(server, resource.RLIMIT_AS, (used + (256 << 10), resource.RLIM_INFINITY))
        (tmp_path / "go").touch()
        failed = running.result()
    check_cells(failed, {"poor.nc4": rf"{what}.* \(rank {MODEL} of {MODEL + 1}\)"})
    assert dict(failed[0])["close_file"].startswith(f"poor.nc4, variable T, record 1: {what}")
    for rank in range(MODEL + 1):
        (tmp_path / f"pid{rank}").unlink()
    only_whole(tmp_path, [])


@pytest.mark.parametrize("servers", [1, 2])
def test_a_server_that_is_stopped_for_a_while(tmp_path, servers):
    command = words("pause", servers, around=NUMBERED)
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT) as running:
        until((tmp_path / "good.nc4.part").exists)
        server = process_of(tmp_path, MODEL)
        os.kill(server, signal.SIGSTOP)
        time.sleep(2)
        os.kill(server, signal.SIGCONT)
        assert running.wait(timeout=60) == 0
    check_good(tmp_path / "good.nc4")


@pytest.mark.parametrize(
    ("stopped", "how"), [(0, signal.SIGSTOP), (1, signal.SIGSTOP), (1, signal.SIGKILL)]
)
def test_a_server_that_is_stopped_for_good_counts_as_lost(tmp_path, stopped, how):
    """Two servers with a file each. MPI itself waits for the one that is stopped, in the end."""
    killed = how == signal.SIGKILL
    if killed and os.environ.get("TAILRACE_TEST_MPI") != "openmpi":
        not_run("needs Open MPI: a launcher that goes on after a rank was killed")
    limit = ["--server_stuck_timeout_s", "2"]
    goes_on = ["--enable-recovery"] if killed else []
    command = words("pause", 2, limit, launcher=goes_on, around=NUMBERED)
    environment = ENVIRONMENT | {"TROUBLE_FILES": "other.nc4"}
    output = tmp_path / "output"
    with (
        output.open("w") as out,
        subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out) as running,
    ):
        until(lambda: all((tmp_path / f"{n}.nc4.part").exists() for n in ("good", "other")))
        server = process_of(tmp_path, MODEL + stopped)
        os.kill(server, how)
        until(lambda: output.read_text().count("put_after_finalize") == MODEL)
        if not killed:
            os.kill(server, signal.SIGCONT)
        assert running.wait(timeout=60) == 0 or killed
    lost = rf"server rank {stopped} has not moved for 2 s; it is not known what became of "
    file, whole = ("other.nc4", "good.nc4") if stopped == 0 else ("good.nc4", "other.nc4")
    # Without server 0 nobody knows whether the calls agreed: what is whole may be called lost, too.
    named = rf"({file}|layout of the server{'|' + whole if stopped == 0 else ''}): {lost}"
    for rank in range(MODEL):
        failed = re.findall(rf"^rank {rank} (\w+) \d: (.*)$", output.read_text(), re.M)
        assert failed.pop()[0] == "put_after_finalize"
        assert all(re.match(named, text) for _, text in failed), failed
        assert "finalize" in {call for call, _ in failed}
        assert any(re.match(f"{file}: {lost}item", text) for _, text in failed)
    # The other server goes on; one that goes on later may finish what it has whole.
    late = [file] if not killed and (tmp_path / file).exists() else []
    for name in [whole, *late]:
        with h5py.File(tmp_path / name) as data:
            for step in range(STEPS):
                assert (data["T"][step] == values(step, data["T"].shape[2])).all()
    assert killed or not (tmp_path / f"{file}.part").exists()
    assert not killed or not (tmp_path / file).exists()


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


@layouts
def test_a_model_that_does_not_finalize_lets_its_servers_go(tmp_path, servers):
    done = subprocess.run(
        words("not_finalized", servers),
        cwd=tmp_path,
        env=ENVIRONMENT | {"TROUBLE_FILES": "a.h5"},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stderr.startswith("tailrace server: error: MPI ends, and the server was not")
    assert len(done.stderr.splitlines()) == 2
    assert not list(tmp_path.glob("*.nc4")) + list(tmp_path.glob("*.h5"))


@pytest.mark.parametrize("servers", [1, 2])
def test_steps_that_a_full_queue_refuses_leave_no_file_without_them(tmp_path, servers):
    slow = {"TAILRACE_FAULT": "op=open,path=*.part,delay_ms=500", "LD_PRELOAD": str(PRELOAD)}
    failed = run(tmp_path, "full_queue", servers, slow)
    for calls in failed.values():
        assert calls == failed[0]
        assert all(re.search(r"the queue is full: 15\d\d bytes", text) for _, text in calls), calls
        assert calls[-1][0] == "finalize"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", ["exits", "model_killed"])
@layouts
def test_a_rank_of_the_model_that_dies_ends_the_job(tmp_path, servers, case):
    """By the launcher; nothing has a final name that is not whole."""
    done = subprocess.run(
        words(case, servers), cwd=tmp_path, env=ENVIRONMENT, timeout=30, check=False
    )
    assert done.returncode != 0
    assert not list(tmp_path.glob("*.nc4"))


def test_twelve_thousand_variables(tmp_path):
    assert run(tmp_path, "many_variables", 1) == {0: [], 1: [], 2: []}
    with netCDF4.Dataset(tmp_path / "good.nc4") as data:
        assert len(data.variables) == 12002
        assert (data["T"][3] == values(3)).all()


@layouts
def test_the_profiles_of_model_and_servers_name_the_collection(tmp_path, servers):
    command = [*words("none", servers), "--with_io_profiler"]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, timeout=60, check=True)
    check_good(tmp_path / "good.nc4")
    for group in ["model", "servers"] if servers else ["model"]:
        base = tmp_path / f"tailrace_server_profile.{group}"
        table = base.with_name(base.name + ".txt").read_text()
        assert "Name" in table.splitlines()[2]
        assert re.search(r"^-*good +\d", table, re.M)
        document = json.loads(base.with_name(base.name + ".json").read_text())
        names = {region["path"][-1] for region in document["regions"]}
        assert {"good", "put" if group == "model" else "write"} <= names
        trace = json.loads(base.with_name(base.name + ".trace.json").read_text())
        assert trace["traceEvents"]
    alone = (tmp_path / "tailrace_server_profile.model.txt").read_text()
    assert ("--write" in alone) == (servers == 0)
