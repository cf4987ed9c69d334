# SPDX-License-Identifier: Apache-2.0
"""The hints of a plan at programs on plain MPI-IO: they arrive on all ranks or on none, what the
program set stays, and nothing waits for ever."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TAILRACE_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "hooks" / "vol"))

from mpi_programs import BUILD, MPIEXEC, SANITIZERS, mpi_components, version_for_python  # noqa: E402
from own_namespace import not_run  # noqa: E402
from plans import Json, compiled, entry, prove, setting, write_plan  # noqa: E402
from profiled import script  # noqa: E402
from tailrace_cli import Ran, tailrace  # noqa: E402
from test_fortran import compiler  # noqa: E402

from tailrace.intent import layers, plugin  # noqa: E402
from tailrace.sandbox.scratch import Scratch  # noqa: E402
from tailrace.sandbox.survey import survey  # noqa: E402
from tailrace.tune.measurement import Runner, Setting  # noqa: E402

PROGRAM = BUILD / "tests" / "bin" / "mpiio_hints_in_force"
COMPONENTS = mpi_components()
OPEN_MPI = os.environ.get("TAILRACE_TEST_MPI") == "openmpi"
KEYS = ("cb_nodes", "cb_buffer_size", "romio_no_indep_rw", "romio_ds_read")
# MPICH tells its defaults; Open MPI what was given.
NATIVE = [f"{key} {value}" for key, value in zip(
    KEYS, ("none",) * 4 if OPEN_MPI else ("1", "16777216", "false", "automatic"), strict=True
)]  # fmt: skip


def hints(*more: Json, pattern: str = "*.dat", when: str = "any") -> Json:
    return entry(
        pattern,
        setting("41", "hint.cb_nodes", "1"),
        setting("42", "hint.cb_buffer_size", "8388608"),
        setting("46", "hint.romio_no_indep_rw", "true", "opt_in"),
        setting("45", "hint.romio_ds_read", "enable"),
        *more, when=when,
    )  # fmt: skip


def run(
    folder: Path, plan: Path, what: str = "plain", name: str = "f.dat", **added: str | None
) -> tuple[list[str], dict[str, Json], str]:
    """What the program says is in force, the lines by setting, and stderr."""
    ran = tailrace(
        "apply", plan, "--json", "--", *MPIEXEC, "-n", "4", PROGRAM, name, what, *KEYS,
        cwd=folder, timeout=60, **SANITIZERS, **added,
    ).expect(0)  # fmt: skip
    said = [line for line in ran.err.splitlines() if line.startswith((*KEYS, "right", "wrong"))]
    assert said[-1] == "right"
    return said[:-1], {line["setting"]: line for line in ran.json["lines"]}, ran.err


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
def test_hints_arrive(tmp_path: Path, component: str, added: dict[str, str]) -> None:
    said, lines, error = run(tmp_path, write_plan(tmp_path, hints()), **added)
    ompio = component == "ompio"
    nodes = "none" if ompio else "1"
    assert said == [
        f"cb_nodes {nodes}", "cb_buffer_size 8388608", "romio_no_indep_rw true",
        "romio_ds_read enable",
    ]  # fmt: skip
    held = "OMPIO has been seen to write wrong data with several aggregators"
    expected = {
        "hint.cb_nodes": ("held", held) if ompio else ("applied", ""),
        "hint.cb_buffer_size": ("applied", ""),
    }
    # Requested is not happened: OMPIO lists whatever it was given.
    for key in ("hint.romio_no_indep_rw", "hint.romio_ds_read"):
        why = "given, and OMPIO has no such hint"
        expected[key] = ("unavailable", why) if ompio else ("applied", "")
    assert {key: (line["became"], line["reason"]) for key, line in lines.items()} == expected
    assert {line["count"] for line in lines.values()} == {4}
    assert {line["processes"] for line in lines.values()} == {"0-3"}
    assert "tailrace:" not in error


def test_a_plan_may_choose_the_mpi_io(tmp_path: Path) -> None:
    """Of Open MPI's two, by the environment: the hints of the other arrive. The user's own stays.

    MPICH has one, which is ROMIO, and another variable changes nothing."""
    plan = write_plan(tmp_path, hints())
    romio = os.environ["TAILRACE_TEST_ROMIO"]
    because = {"rule": "site", "text": "t", "effect": "e", "source": "s"}
    chosen = {"name": "OMPI_MCA_io", "value": romio, "because": because}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "environment": [chosen]}))
    _, lines, _ = run(tmp_path, plan)
    assert lines["OMPI_MCA_io"]["became"] == "applied"
    assert lines["hint.romio_no_indep_rw"]["became"] == "applied"
    _, lines, _ = run(tmp_path, plan, OMPI_MCA_io="ompio")
    assert lines["OMPI_MCA_io"]["became"] == "kept"
    reason = "given, and OMPIO has no such hint" if OPEN_MPI else ""
    assert lines["hint.romio_no_indep_rw"]["reason"] == reason


@pytest.mark.parametrize("text", ["io = {romio}", "\tio=^ompio", "# io = {romio}\nioff = 1", ""])
def test_a_parameter_file_may_choose_the_mpi_io(tmp_path: Path, text: str) -> None:
    """Open MPI reads it by itself: nothing of it is in the environment of the program."""
    home = tmp_path / "home" / ".openmpi"
    home.mkdir(parents=True)
    home.joinpath("mca-params.conf").write_text(
        "btl_tcp_verbose = 0\n" + text.format(romio=os.environ["TAILRACE_TEST_ROMIO"]) + "\n"
    )
    said, lines, _ = run(
        tmp_path, write_plan(tmp_path, hints()), HOME=str(home.parent), OMPI_MCA_io=None
    )
    romio = text.strip().startswith("io") or not OPEN_MPI
    assert said[0] == ("cb_nodes 1" if romio else "cb_nodes none")
    assert lines["hint.cb_nodes"]["became"] == ("applied" if romio else "held")
    for key in ("hint.romio_no_indep_rw", "hint.romio_ds_read"):
        assert lines[key]["became"] == ("applied" if romio else "unavailable")


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
@pytest.mark.parametrize("what", ["own", "one_rank"])
def test_what_the_program_set_itself_wins(
    tmp_path: Path, what: str, component: str, added: dict[str, str]
) -> None:
    """On all ranks, also where one of them alone has set it."""
    style = setting("45", "hint.access_style", "random")
    said, lines, _ = run(tmp_path, write_plan(tmp_path, hints(style)), what, **added)
    if what == "own":
        assert said[3] == "romio_ds_read disable"
    assert said[1] == "cb_buffer_size 8388608"
    assert lines["hint.cb_buffer_size"]["became"] == "applied"
    key, reason = {
        "own": ("hint.romio_ds_read", "the program set it itself"),
        "one_rank": ("hint.access_style", "the program set it itself on another rank"),
    }[what]
    assert lines[key]["became"] == "kept"
    assert lines[key]["reason"] in {reason, "the program set it itself"}


def test_what_has_nothing_for_the_file(tmp_path: Path) -> None:
    """By name, by how it is opened and by its ranks; settings of HDF5 are not for it."""
    added = COMPONENTS[-1][1]
    said, lines, _ = run(tmp_path, write_plan(tmp_path, hints(pattern="*.other")), **added)
    assert said == NATIVE
    assert lines["hint.cb_buffer_size"]["became"] == "not met"
    assert "the nearest was" in lines["hint.cb_buffer_size"]["reason"]
    plan = write_plan(
        tmp_path, hints(when="open"),
        entry("*.dat", setting("42", "hint.ind_wr_buffer_size", "65536", ranks=3),
              setting("3", "meta_block_bytes", 65536)),
    )  # fmt: skip
    said, lines, _ = run(tmp_path, plan, **added)
    assert said == NATIVE
    for key in ("hint.cb_buffer_size", "hint.ind_wr_buffer_size"):
        assert lines[key]["reason"].startswith("the file was not created or opened in the way")
    assert lines["meta_block_bytes"]["reason"].startswith("no process used HDF5")
    # Created with MPI_MODE_CREATE.
    plan = write_plan(tmp_path, hints(when="create"))
    assert run(tmp_path, plan, **added)[0][1] == "cb_buffer_size 8388608"


def test_no_hints_no_hook(tmp_path: Path) -> None:
    plan = {"entries": [entry("*.dat", setting("3", "meta_block_bytes", 65536))]}
    assert layers.to_set_hints(plan, ["true"]) == ([], "")
    plan["entries"].append(hints())
    assert Path(layers.to_set_hints(plan, ["true"])[0][0]).name == "libtailrace_mpiio.so"


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
@pytest.mark.parametrize("what", ["missing", "alone", "exclusive"])
def test_opens_that_fail_and_opens_alone(
    tmp_path: Path, what: str, component: str, added: dict[str, str]
) -> None:
    """A missing file is missing still, and the program's handler hears of it once; one rank alone
    asks nobody."""
    _, lines, error = run(tmp_path, write_plan(tmp_path, hints()), what, **added)
    expected = {"missing": "not met", "alone": "applied", "exclusive": "applied"}
    assert lines["hint.cb_buffer_size"]["became"] == expected[what]
    assert lines["hint.cb_buffer_size"]["count"] == {"missing": 0, "alone": 5, "exclusive": 4}[what]
    assert "tailrace:" not in error


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
def test_a_file_has_the_programs_error_handler(
    tmp_path: Path, component: str, added: dict[str, str]
) -> None:
    """With it a program hears of writes that fail; the default one of a program may end it."""
    _, lines, _ = run(tmp_path, write_plan(tmp_path, hints()), "handler", **added)
    assert lines["hint.cb_buffer_size"]["became"] == "applied"


def test_romio_is_chosen_by_leaving_the_other_out(tmp_path: Path) -> None:
    _, lines, _ = run(tmp_path, write_plan(tmp_path, hints()), OMPI_MCA_io="^ompio")
    assert lines["hint.romio_no_indep_rw"]["became"] == "applied"
    assert lines["hint.cb_nodes"]["became"] == "applied"


def test_hints_that_mpi_refuses(tmp_path: Path) -> None:
    """Names that are too long for it, and values with which the file cannot be opened."""
    added = COMPONENTS[-1][1]
    long = "x" * 200
    plan = write_plan(tmp_path, hints(setting("42", f"hint.{long}", "1")))
    said, lines, error = run(tmp_path, plan, **added)
    assert said[1] == "cb_buffer_size 8388608"
    if OPEN_MPI:
        assert lines[f"hint.{long}"]["became"] == "misfit"
    assert "tailrace:" not in error


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
@pytest.mark.parametrize("what", ["plain", "own", "exclusive"])
def test_a_refused_open_is_made_again(
    tmp_path: Path, what: str, component: str, added: dict[str, str]
) -> None:
    """With the program's own info; said once. No MPI here fails for a hint: a tool below ours
    does."""
    tool = BUILD / "tests" / "bin" / "mpiio_tool.so"
    added = {**added, "LD_PRELOAD": str(tool), "TAILRACE_TEST_REFUSE": "cb_buffer_size"}
    said, lines, error = run(tmp_path, write_plan(tmp_path, hints()), what, **added)
    own = ["romio_ds_read disable"] if what == "own" else NATIVE[3:]
    assert said == [*NATIVE[:3], *own]
    line = lines["hint.cb_buffer_size"]
    assert (line["became"], line["reason"], line["count"]) == (
        "refused", "the file was opened with the program's own hints", 4,
    )  # fmt: skip
    assert error.count("MPI-IO did not open it with the hints of the plan") == 1


# One rank is told something else than the others: its environment is set in a shell.
OTHER = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 3 ]; then {change}; fi; exec "$@"'


def preloaded(
    folder: Path, plan: Path, change: str, added: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """The program under a plan, with `change` on its last rank."""
    added = {**SANITIZERS, **plugin.environment_to_apply(plugin.find(), plan, {}), **added}
    exports = [word for name in added for word in ("-x", name)] if OPEN_MPI else []
    command = [
        MPIEXEC[0], *exports, *MPIEXEC[1:], "-n", "4", "sh", "-c", OTHER.format(change=change),
        "sh", str(PROGRAM), "f.dat", "plain", *KEYS,
    ]  # fmt: skip
    words, more = layers.with_preload(command, str(layers.find("mpiio")))
    ran = subprocess.run(
        words, cwd=folder, env={**os.environ, **added, **more}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
@pytest.mark.parametrize(
    "change",
    [
        "export TAILRACE_PLAN=$PWD/other.compiled",
        "export TAILRACE_PLAN=$PWD/no-such-file",
        "unset TAILRACE_PLAN",
        "export TAILRACE_MODE=off",
        "export TAILRACE_MODE=record",
        "export TAILRACE_PROVEN=1;another",
    ],
)
def test_ranks_that_disagree_go_on_without_a_plan(
    tmp_path: Path, change: str, component: str, added: dict[str, str]
) -> None:
    compiled(write_plan(tmp_path, hints(pattern="*.d*"), name="other.json"))
    plan = compiled(write_plan(tmp_path, hints()))
    ran = preloaded(tmp_path, plan, change.replace(";", "\\;"), added)
    assert ran.stdout.splitlines() == [*NATIVE, "right"]
    assert ran.stderr.count("the plan is off for this file") == 1


@pytest.mark.parametrize(("component", "added"), COMPONENTS)
def test_a_plan_without_hints(tmp_path: Path, component: str, added: dict[str, str]) -> None:
    """Below a hook that is preloaded all the same; and off on all ranks."""
    plan = compiled(write_plan(tmp_path, entry("*.dat", setting("3", "meta_block_bytes", 65536))))
    assert preloaded(tmp_path, plan, ":", added).stdout.splitlines() == [*NATIVE, "right"]
    plan = compiled(write_plan(tmp_path, hints()))
    ran = preloaded(tmp_path, plan, ":", {**added, "TAILRACE_MODE": "off"})
    assert ran.stdout.splitlines() == [*NATIVE, "right"]
    assert ran.stderr == ""


def test_collective_settings_need_a_proof(tmp_path: Path) -> None:
    """Of this MPI: without one they are held back."""
    shared = setting("s1", "hint.cb_buffer_size", "4194304", "collective", ranks=4)
    plan = compiled(write_plan(tmp_path, entry("*.dat", shared)))
    added = {**COMPONENTS[-1][1], **plugin.environment_to_apply(plugin.find(), plan, {})}
    words, more = layers.with_preload(
        [*MPIEXEC, "-n", "4", str(PROGRAM), "f.dat", "plain", *KEYS], str(layers.find("mpiio"))
    )
    for proven, expected in (("", "4194304"), (";another MPI", NATIVE[1].split()[1])):
        given = {**os.environ, **SANITIZERS, **added, **more, "TAILRACE_PROVEN": proven}
        ran = subprocess.run(words, cwd=tmp_path, env=given, capture_output=True, text=True,
                             timeout=60, check=True)  # fmt: skip
        assert ran.stdout.splitlines()[1] == f"cb_buffer_size {expected}"


FROM_PYTHON = """
from mpi4py import MPI
{beside}
MPI.File.Open(MPI.COMM_WORLD, "f.dat", MPI.MODE_CREATE | MPI.MODE_WRONLY).Close()
"""
H5PY = "import h5py; h5py.File(f'{MPI.COMM_WORLD.rank}.h5', 'w').close()"


@pytest.mark.parametrize("beside", ["", H5PY])
def test_the_proof_of_an_mpi_that_nobody_else_sees(tmp_path: Path, beside: str) -> None:
    """Python loads it for one of its modules: the proof names it, and is for no other."""
    collective = setting("42", "hint.cb_buffer_size", "8388608", "collective")
    plan = write_plan(tmp_path, entry("*.dat", collective))
    words = [*MPIEXEC, "-n", "2", *script(tmp_path, FROM_PYTHON.replace("{beside}", beside))]
    document = json.loads(prove(plan, *words, **SANITIZERS).read_text())
    assert document["proof"]["mpi_version"] == version_for_python()
    assert ("hdf5_version" in document["proof"]) == bool(beside)
    held = ("held", "this MPI is not that of the proven run")
    for version, expected in (("", ("applied", "")), ("another MPI", held), (None, held)):
        if version is None:
            del document["proof"]["mpi_version"]
        elif version:
            document["proof"]["mpi_version"] = version
        plan.write_text(json.dumps(document))
        ran = tailrace(
            "apply", plan, "--json", "--allow", "collective", "--", *words, cwd=tmp_path,
            timeout=60, **SANITIZERS,
        ).expect(0)  # fmt: skip
        (line,) = ran.json["lines"]
        assert (line["became"], line["reason"]) == expected


@pytest.mark.parametrize("interface", ["mpif.h", "USE_MPI", "USE_F08"])
def test_from_fortran(tmp_path: Path, interface: str) -> None:
    program = tmp_path / "hints"
    defined = [] if interface == "mpif.h" else [f"-D{interface}"]
    source = Path(__file__).with_name("hints_in_force.F90")
    subprocess.run([compiler(), *defined, "-o", program, source], check=True, timeout=60)
    ran = tailrace(
        "apply", write_plan(tmp_path, hints()), "--", *MPIEXEC, "-n", "2", program, "f.dat",
        "cb_buffer_size", cwd=tmp_path, timeout=60, **SANITIZERS,
    ).expect(0)  # fmt: skip
    assert "cb_buffer_size 8388608" in ran.out
    assert "rule 42, hint.cb_buffer_size = 8388608: applied 2 times" in ran.err


def test_pnetcdf(tmp_path: Path) -> None:
    program = BUILD / "tests" / "bin" / "mpiio_pnetcdf"
    if not program.is_file():
        not_run("needs PnetCDF for this MPI")
    ran = tailrace(
        "apply", write_plan(tmp_path, hints(pattern="*.nc")), "--", *MPIEXEC, "-n", "4", program,
        "p.nc", cwd=tmp_path, timeout=60, **SANITIZERS,
    ).expect(0)  # fmt: skip
    assert "rule 42, hint.cb_buffer_size = 8388608: applied 4 times" in ran.err


def test_hdf5_says_it_once(tmp_path: Path) -> None:
    """The connector puts the hints, the hook below it stays out; without the connector (an older
    HDF5, a static one) the hook puts them."""
    program = BUILD / "tests" / "bin" / "vol_apply_ranks"
    plan = write_plan(tmp_path, entry("*.h5", setting("42", "hint.cb_buffer_size", "8388608")))

    def applied(*words: str | Path) -> Ran:
        return tailrace("apply", plan, "--json", "--", *MPIEXEC, "-n", "4", *words, program, "r.h5",
                        cwd=tmp_path, timeout=60, **SANITIZERS).expect(0)  # fmt: skip

    for words, seen in (
        ([], ["hdf5"]),
        (["env", "-u", "HDF5_VOL_CONNECTOR"], ["mpiio"]),
    ):
        ran = applied(*words)
        assert "cb_buffer_size 8388608" in ran.err
        (line,) = ran.json["lines"]
        assert (line["became"], line["reason"], line["processes"]) == ("applied", "", "0-3")
        assert [process["layers"] for process in ran.json["processes"]] == [seen] * 4


@pytest.mark.parametrize("key", ["alignment_bytes", "hint.cb_buffer_size"])
def test_a_tool_before_mpi_leaves_hdf5_its_plan(tmp_path: Path, key: str) -> None:
    """One that wraps what the connector asks ranks with: objects of Open MPI that a program has
    copies of are known as what they are, also where this library puts no hints."""
    tool = BUILD / "tests" / "bin" / "mpiio_tool.so"
    value = {"alignment_bytes": 4096, "hint.cb_buffer_size": "8388608"}[key]
    plan = write_plan(tmp_path, entry("*.h5", setting("1", key, value, "layout")))
    program = BUILD / "tests" / "bin" / "vol_apply_ranks"
    ran = tailrace(
        "apply", plan, "--json", "--", *MPIEXEC, "-n", "4", program, "r.h5",
        cwd=tmp_path, timeout=60, LD_PRELOAD=str(tool), **SANITIZERS,
    ).expect(0)  # fmt: skip
    assert "content right" in ran.err and ran.err.count("tool: ") == 4
    (line,) = ran.json["lines"]
    assert (line["became"], line["count"], line["processes"]) == ("applied", 8, "0-3")


def test_by_the_environment(tmp_path: Path) -> None:
    """`tailrace env` does the same for whoever starts programs by himself."""
    plan = write_plan(tmp_path, hints())
    words = shlex.join([*MPIEXEC, "-n", "2", str(PROGRAM), "f.dat", "plain", *KEYS])
    exports = tailrace("env", plan, cwd=tmp_path, LD_PRELOAD=None, **SANITIZERS).expect(0).out
    assert "export LD_PRELOAD=" in exports
    ran = subprocess.run(["sh", "-c", f"{exports}\n{words}"], cwd=tmp_path, capture_output=True,
                         env={**os.environ, **SANITIZERS, **COMPONENTS[-1][1]}, text=True,
                         timeout=60, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "cb_buffer_size 8388608" in ran.stdout


@pytest.mark.parametrize("keep", [True, False])
def test_in_runs_of_tune(tmp_path: Path, keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the proof, which see each close, and timed ones."""
    for name, value in SANITIZERS.items():
        monkeypatch.setenv(name, value)
    home, root = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    plan = json.loads(write_plan(tmp_path, hints()).read_text())
    ground = Scratch(home, root / "run", survey(home, set()), set())
    ground.fill()
    words = [*MPIEXEC, "-n", "4", str(PROGRAM), "f.dat", "plain", *KEYS]
    ran = Runner(Setting(words, home, root / "run"), ground).run("run", plan, 60, keep)
    assert ran.outcome.code == 0
    line = next(line for line in ran.lines if line.setting == "hint.cb_buffer_size")
    assert (line.became, line.count) == ("applied", 4)
