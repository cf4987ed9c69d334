# SPDX-License-Identifier: Apache-2.0
"""What surrounds each test: its signals, its folder, and the way to say that it cannot be run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = Path(os.environ["TAILRACE_SOURCE_DIR"]) / "tests/support/run_case.sh.in"


@pytest.fixture
def run_case(tmp_path):
    """The script as configured for a build folder of its own, which only lists what was not run."""
    (tmp_path / "tests").mkdir()
    script = tmp_path / "run_case"
    text = TEMPLATE.read_text()
    for name, value in {
        "PROJECT_BINARY_DIR": tmp_path, "PROJECT_SOURCE_DIR": os.environ["TAILRACE_SOURCE_DIR"],
        "TAILRACE_PYTHON_EXECUTABLE": sys.executable, "tailrace_mpiexec_text": "mpiexec",
        "tailrace_venv_bin": Path(sys.executable).parent, "TAILRACE_MPI_FLAVOUR": "",
        "TAILRACE_ROMIO_COMPONENT": "", "TAILRACE_SANITIZE": "", "tailrace_test_pythonpath": "",
    }.items():  # fmt: skip
        text = text.replace(f"@{name}@", str(value))
    script.write_text(text)
    script.chmod(0o755)

    def run(*command, ci="", code=0):
        done = subprocess.run(
            ["/bin/sh", script, "--name", "tailrace.some.np1", "--", *map(str, command)],
            env={**os.environ, "CI": ci}, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("code", [0, 1, 9, 77])
def test_the_exit_code_goes_through(run_case, code):
    run_case("sh", "-c", f"exit {code}", code=code)


def test_signals_are_as_in_a_terminal(run_case):
    """Also where this shell was itself started with SIGINT ignored."""
    asks = "import signal; print(*(signal.getsignal(n) == signal.SIG_DFL for n in (2, 3)))"
    program = [sys.executable, "-c", asks.replace("(2, 3)", "(signal.SIGQUIT, signal.SIGTERM)")]
    assert run_case(*program) == "True True\n"
    kill = "import os, signal; signal.signal(2, signal.SIG_DFL) is signal.SIG_IGN and exit(4)"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run_case(sys.executable, "-c", kill)
        run_case("sh", "-c", "kill -INT $$; exit 3", code=130)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_failed_test_left_running_ends(run_case):
    """Also in a session of its own, as the ranks of a launcher are."""
    left = "setsid sleep 300 >/dev/null 2>&1 & echo $!; sleep 0.2; exit 3"
    process = Path("/proc", run_case("sh", "-c", left, code=3).strip(), "stat")
    assert not process.exists() or process.read_text().split()[2] == "Z"


NOT_RUN = 'echo "needs wings; buy some" >>"$TAILRACE_TEST_NOT_RUN"; exit '


def test_what_was_not_run_is_listed_and_fails_in_ci(run_case, tmp_path):
    listed = tmp_path / "tests/not_run.txt"
    assert "needs wings" in run_case("sh", "-c", NOT_RUN + "0", code=77)
    assert listed.read_text() == "tailrace.some.np1: needs wings; buy some\n"
    assert "CI=true" in run_case("sh", "-c", NOT_RUN + "0", ci="true", code=1)
    assert len(listed.read_text().splitlines()) == 1


def test_a_failure_stays_one(run_case, tmp_path):
    run_case("sh", "-c", NOT_RUN + "5", code=5)
    assert not (tmp_path / "tests/not_run.txt").exists()


def test_nothing_is_left(run_case):
    folder = run_case("sh", "-c", 'touch "$TMPDIR/x"; echo "$TMPDIR"').strip()
    assert folder.startswith("/tmp/tr.")
    assert not list(Path("/tmp").glob(f"{Path(folder).name}*"))
