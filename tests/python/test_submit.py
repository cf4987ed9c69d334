# SPDX-License-Identifier: Apache-2.0
"""Job scripts: what is asked for, how it is quoted, and that the shell runs them as meant."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tailrace_cli import Ran, called, tailrace

from tailrace.errors import TailraceError
from tailrace.submit import request
from tailrace.units import bytes_of

SEISM = ["seism", "processor=2x1x1", "domain=4x4x4", "time=1"]
NAMES = ["a b", "it's", 'dou"ble', "back\\slash", "$HOME `id` $(id)", "*", "-n", "ümlaut", "a  b ;"]

# Stands for the kernel's program: writes down what it gets, and a Record.
_kernel = """#!/bin/sh
[ "$1" = --version ] && { echo "stand-in 1"; exit 0; }
[ "$1" = --dry-run ] && {
    [ "$4" = --elsewhere ] || { echo "tailrace: error: on this machine" >&2; exit 2; }
    [ "$5" != bad=1 ] || { echo "tailrace: error: no key bad" >&2; exit 2; }
    [ "$5" != odd=1 ] || exit 139; exit 0; }
printf '<%s>\\n' "$@" >arguments
cat >input
echo '{}' >>results.jsonl
exit "${KERNEL_CODE-0}"
"""
_launcher = '#!/bin/sh\necho "$0 $1 $2 $3" >launched\nshift {}\nexec "$@"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with stand-ins for the program and for launchers on the path, and nothing else."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "mkdir", "cat", "date", "df", "wc", "sort", "tr", "grep", "ldd"):
        found = shutil.which(name)
        assert found, name
        (tools / name).symlink_to(found)
    stand_in(tmp_path, "tailrace-seism", _kernel)
    stand_in(tmp_path, "mpiexec", _launcher.format(2))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("TAILRACE_BIN", str(tools))
    monkeypatch.delenv("TAILRACE_BUILD_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stand_in(place: Path, name: str, text: str) -> None:
    path = place / "tools" / name
    path.unlink(missing_ok=True)  # it may be a link to the system's
    path.write_text(text)
    path.chmod(0o755)


def script(place: Path, *words: str) -> Path:
    ran = called("submit", *words, "--dry-run").expect(0)
    path = place / "job"
    path.write_text(ran.out)
    return path


def run_it(path: Path) -> subprocess.CompletedProcess[str]:
    """As a scheduler would, from another folder."""
    return subprocess.run(
        ["sh", str(path)], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("scheduler", ["slurm", "pbs"])
@pytest.mark.parametrize("name", NAMES)
def test_any_name_reaches_the_program(place: Path, name: str, scheduler: str) -> None:
    words = [*SEISM, f"filename={name}", "--run-folder", name, "--scheduler", scheduler]
    if scheduler == "slurm":
        words += ["--launcher", "mpiexec -n 2"]
    ran = run_it(script(place, *words))
    folder = place / name
    assert ran.returncode == 0, ran.stderr
    given = (folder / "arguments").read_text().splitlines()
    assert given == ["<processor=2x1x1>", "<domain=4x4x4>", "<time=1>", f"<filename={name}>"]
    assert (folder / "launched").read_text().split()[1:3] == ["-n", "2"]
    assert (folder / "input").read_text() == "" and f"Records: {folder}/results.jsonl" in ran.stdout
    assert sorted(path.name for path in place.iterdir()) == sorted(["job", "tools", name])


def test_lines_of_a_file_are_in_the_script(place: Path) -> None:
    """Whatever they hold; a line that would end them does not."""
    text = "processor 2 1 1\n# $HOME `id`\nfilename END_OF_INPUT\nEND_OF_INPUT\n\tDONE # the end\n"
    (place / "lines").write_text(text + "not read\n")
    words = ["seism", "--input", "lines", "time=3", "--scheduler", "pbs", "--run-folder", "r"]
    path = script(place, *words)
    (place / "lines").unlink()
    assert run_it(path).returncode == 0
    assert (place / "r" / "input").read_text() == text
    assert (place / "r" / "arguments").read_text() == "<--input>\n<->\n<time=3>\n"


def test_lines_without_an_end_get_one(place: Path) -> None:
    (place / "lines").write_text("processor 2 1 1\ntime 1")
    words = ["seism", "--input", "lines", "--scheduler", "pbs", "--run-folder", "r"]
    assert run_it(script(place, *words)).returncode == 0
    assert (place / "r" / "input").read_text() == "processor 2 1 1\ntime 1\nDONE\n"


def test_standard_input_is_taken_along(place: Path) -> None:
    ran = tailrace("submit", "seism", "-", "--dry-run", "--run-folder", "r", "--scheduler", "pbs",
                   stdin="processor 2 1 1\nDONE\n")  # fmt: skip
    (place / "job").write_text(ran.expect(0).out)
    assert run_it(place / "job").returncode == 0
    assert (place / "r" / "input").read_text() == "processor 2 1 1\nDONE\n"


def test_exit_codes_of_the_job(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(place, *SEISM, "--scheduler", "pbs", "--run-folder", "r")
    monkeypatch.setenv("KERNEL_CODE", "3")
    assert run_it(path).returncode == 3
    monkeypatch.delenv("KERNEL_CODE")
    stand_in(place, "mpiexec", "#!/bin/sh\nexit 0\n")
    ran = run_it(path)
    assert ran.returncode == 1 and "no Record came: nothing was run" in ran.stderr


def test_striping(place: Path) -> None:
    words = [*SEISM, "--scheduler", "pbs", "--run-folder", "r"]
    assert "lfs" not in script(place, *words).read_text()
    path = script(place, *words, "--stripe-count", "20", "--stripe-size", "1M")
    ran = run_it(path)
    assert ran.returncode == 0 and "no lfs here" in ran.stderr
    stand_in(place, "lfs", '#!/bin/sh\necho "$PWD: $*" >>../lfs_said\n')
    assert run_it(path).returncode == 0
    said = (place / "lfs_said").read_text().splitlines()
    assert said == [f"{place}/r: setstripe -c 20 -S 1048576 .", f"{place}/r: getstripe -d ."]
    stand_in(place, "lfs", "#!/bin/sh\nexit 25\n")
    (place / "r" / "arguments").unlink()
    ran = run_it(path)
    assert ran.returncode == 1 and "lfs setstripe -c 20 -S 1048576 . failed" in ran.stderr
    assert not (place / "r" / "arguments").exists()


def test_the_launcher_of_slurm(place: Path) -> None:
    """srun; for Open MPI by PMIx where srun has it, else mpiexec."""
    words = [*SEISM, "--run-folder", "r", "--nodes", "2"]
    assert "start() { srun --ntasks=2 --ntasks-per-node=1 " in script(place, *words).read_text()
    stand_in(place, "ldd", "#!/bin/sh\necho '  libmpi.so.40 => /opt/lib/libmpi.so.40 (0x1)'\n")
    path = script(place, *words)
    srun = '#!/bin/sh\n[ "$1" != --mpi=list ] || { echo MPI plugins: %s; exit 0; }\n'
    stand_in(place, "srun", srun % "pmix pmix_v4" + _launcher.format(3).partition("\n")[2])
    assert run_it(path).returncode == 0
    launched = (place / "r" / "launched").read_text().split()[1:]
    assert launched == ["--ntasks=2", "--ntasks-per-node=1", "--mpi=pmix"]
    stand_in(place, "srun", srun % "none pmi2" + "exit 1\n")
    assert run_it(path).returncode == 0
    assert (place / "r" / "launched").read_text().split()[1:3] == ["-n", "2"]


def test_the_hosts_of_pbs_are_given_to_open_mpi(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(place, "ldd", "#!/bin/sh\necho '  libmpi.so.40 => /opt/lib/libmpi.so.40 (0x1)'\n")
    stand_in(place, "mpiexec", _launcher.format(4).replace("$3", "$3 $4"))
    (place / "node file").write_text("n2\nn1\nn1\n")
    monkeypatch.setenv("PBS_NODEFILE", str(place / "node file"))
    ran = run_it(script(place, *SEISM, "--scheduler", "pbs", "--run-folder", "r"))
    assert ran.returncode == 0 and "hosts: n1 n2 \n" in ran.stdout
    assert f"-n 2 --hostfile {place}/node file" in (place / "r" / "launched").read_text()


def test_lines_for_the_scheduler(place: Path) -> None:
    words = [*SEISM, "--nodes", "2", "--ranks-per-node", "1", "--time", "1-2", "--account", "me"]
    more = ["--qos", "q 1", "--constraint", "knl,quad", "--core-spec", "4", "--partition", "p"]
    lines = script(place, *words, *more, "--directive=--exclusive").read_text().splitlines()
    assert [line.removeprefix("#SBATCH --") for line in lines if line.startswith("#S")] == [
        "job-name=tailrace-seism", "nodes=2", "ntasks-per-node=1", "time=26:00:00", "account=me",
        "partition=p", 'qos="q 1"', "constraint=knl,quad", "core-spec=4", "exclusive",
    ]  # fmt: skip
    lines = script(place, *words, "--partition", "p", "--scheduler", "pbs", "--constraint",
                   "model=skl", "--directive=-m n").read_text().splitlines()  # fmt: skip
    assert [line.removeprefix("#PBS ") for line in lines if line.startswith("#P")] == [
        "-N tailrace-seism", "-S /bin/sh", "-V", "-j oe",
        "-l select=2:ncpus=1:mpiprocs=1:model=skl", "-l place=scatter", "-l walltime=26:00:00",
        "-A me", "-q p", "-m n",
    ]  # fmt: skip


def test_the_interactive_line() -> None:
    nodes = ["seism", "--interactive", "--nodes", "20", "--ranks-per-node", "1"]
    words = [*nodes, "--time", "60", "--qos", "interactive"]
    words += ["--constraint", "knl,quad,cache", "--core-spec", "4"]
    ran = called("submit", *words).expect(0)
    assert ran.out == (
        "salloc --nodes=20 --ntasks-per-node=1 --time=01:00:00 --qos=interactive "
        "--constraint=knl,quad,cache --core-spec=4\n"
    )
    assert called("submit", *words, "--json").json["interactive"] == ran.out.strip()
    ran = called("submit", *nodes, "--scheduler", "pbs").expect(0)
    assert ran.out == "qsub -I -l select=20:ncpus=1:mpiprocs=1 -l place=scatter\n"


@pytest.mark.parametrize(("scheduler", "command"), [("slurm", "sbatch"), ("pbs", "qsub")])
def test_submitting(place: Path, scheduler: str, command: str) -> None:
    """The job's number; a script of another name where one is kept; nothing without a scheduler."""
    words = ["submit", *SEISM, "--run-folder", "r", "--scheduler", scheduler]
    ran = called(*words).expect(4)
    assert f"there is no {command} here, so nothing was submitted" in ran.err
    kept = place / "r" / f"seism.{scheduler}"
    assert kept.is_file() and f"{command} {kept}" in ran.err
    stand_in(place, command, '#!/bin/sh\necho note >&2\necho "$PWD: $*" >said\necho "17;west"\n')
    ran = called(*words).expect(0)
    assert f"job 17: {kept}\n" in ran.out and f"{command}: note" in ran.err
    assert str(kept) in (place / "r" / "said").read_text().split()
    found = called(*words, "time=2", "--json").expect(0).json
    assert found["job"] == "17" and found["file"] == str(place / "r" / f"seism-2.{scheduler}")
    stand_in(place, command, "#!/bin/sh\necho no >&2\nexit 1\n")
    assert f"{command} refused the job: no" in called(*words).expect(1).err


def test_the_program_looks_at_the_inputs_first(place: Path) -> None:
    words = ["submit", "seism", "bad=1", "processor=2x1x1", "--dry-run"]
    ran = called(*words).expect(2)
    assert "inputs: no key bad" in ran.err and "--no-check" in ran.err
    called(*words, "--no-check").expect(0)
    words[2] = "odd=1"
    assert "not checked here (exit code 139): without a word" in called(*words).expect(0).err


MISTAKES = [
    (["siesm"], 'there is no kernel "siesm". Did you mean "seism"?'),
    (["slab", "1000", "50", "T"], "how many ranks on each node?"),
    (["slab", "--ranks-per-node", "1", "time=1"], "the program tailrace-slab is not installed"),
    (["limit", "processor=2x1x1"], "the program tailrace-limit is not installed"),
    (["seism"], "there are no inputs"),
    (["seism", "time=1"], "how many ranks on each node?"),
    ([*SEISM, "--nodes", "-1"], "'--nodes': Input should be greater than or equal to 1"),
    ([*SEISM, "--nodes", "0"], "'--nodes': Input should be greater than or equal to 1"),
    ([*SEISM, "--nodes", "two"], "'--nodes': Input should be a valid integer"),
    ([*SEISM, "--ranks-per-node", "0"], "'--ranks-per-node': Input should be greater"),
    ([*SEISM, "--nodes", "3"], "2 ranks, the product of `processor`, are not the same number"),
    ([*SEISM, "--ranks-per-node", "3"], "`processor` makes 2 ranks, and 1 x 3 on the nodes are 3"),
    ([*SEISM, "--core-spec", "-1"], "'--core-spec': Input should be greater"),
    ([*SEISM, "--time", "soon"], '--time: "soon" is no time'),
    ([*SEISM, "--time", "-5"], '--time: "-5" is no time'),
    ([*SEISM, "--time", "0"], "--time: the time is 0"),
    ([*SEISM, "--time", "1:70"], '"1:70" has more than 59 minutes or seconds'),
    ([*SEISM, "--stripe-size", "1X"], '--stripe-size: "1X" is no size'),
    ([*SEISM, "--stripe-size", "1MB"], '--stripe-size: "1MB" is no size'),
    ([*SEISM, "--stripe-size", "100K"], "100K are 102400 bytes, which is no size of a Lustre"),
    ([*SEISM, "--stripe-size", "4G"], "4G are 4294967296 bytes, which is no size"),
    ([*SEISM, "--stripe-count", "0"], "--stripe-count: 0 is no number of stripes"),
    ([*SEISM, "--account", "a\n#SBATCH -N 9"], "--account: it holds the control character \\x0a"),
    ([*SEISM, "--directive", "a\nrm -rf x"], "--directive: it holds the control character"),
    ([*SEISM, "--run-folder", "a\nb"], "--run-folder: it holds the control character"),
    ([*SEISM, "--run-folder", "job"], "--run-folder: "),
    ([*SEISM, "--launcher", "srun 'x"], "--launcher: \"srun 'x\": No closing quotation"),
    ([*SEISM, "--matrix"], "--matrix: seism has no matrix"),
    (["slab", "--matrix", "--ranks-per-node", "2", "--input", "x"], "inputs of a matrix are words"),
    (["slab", "--matrix", "--ranks-per-node", "2", "axis=pair"], "the matrix varies it"),
    (["slab", "--matrix", "--ranks-per-node", "2", "100", "5", "T"], "are KEY=VALUE"),
    ([*SEISM, "--scheduler", "slrum"], 'there is no "slrum". Did you mean "slurm"?'),
    ([*SEISM, "--scheduler", "pbs", "--account", "a b"], '"a b" cannot stand in a line for PBS'),
    ([*SEISM, "--scheduler", "pbs", "--constraint", "knl"], "PBS takes model=skl"),
    ([*SEISM, "--scheduler", "pbs", "--qos", "x"], "--qos: PBS has no such thing"),
    ([*SEISM, "--scheduler", "pbs", "--core-spec", "1"], "--core-spec: PBS has no such thing"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "text"), MISTAKES, ids=lambda item: str(item)[-40:])
def test_mistakes(place: Path, words: list[str], text: str) -> None:
    (place / "job").touch()
    ran: Ran = called("submit", *words)
    assert ran.code == (4 if "not installed" in text else 2) and ran.out == ""
    assert text in ran.err and "hint: " in ran.err
    assert sorted(path.name for path in place.iterdir()) == ["job", "tools"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 600), ("1:30", 90), ("01:00:00", 3600), ("100:00:01", 360001), ("1-0", 86400),
     ("1-2:3", 93780), ("2-00:00:10", 172810)],
)  # fmt: skip
def test_times(text: str, seconds: int) -> None:
    assert request.seconds_of(text) == seconds


def test_sizes() -> None:
    words = ["65536", "64K", "64k", "64 KiB", "1M", "2G", "1T", "7B"]
    found = [bytes_of(word, "") for word in words]
    assert found == [65536, 65536, 65536, 65536, 1 << 20, 2 << 30, 1 << 40, 7]
    for wrong in ("", "M", "-1M", "1.5M", "1e6", "1MB", "1 m"):
        with pytest.raises(TailraceError, match="is no size"):
            bytes_of(wrong, "")


def test_scripts_please_shellcheck(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{place / 'tools'}:/usr/bin:/bin")
    (place / "lines").write_text("processor 2 1 1\nfilename a 'b\n")
    striped = ["--stripe-count", "2", "--run-folder", "it's"]
    for scheduler in ("slurm", "pbs"):
        words = ["seism", "--input", "lines", *striped, "--scheduler", scheduler]
        path = script(place, *words)
        done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
