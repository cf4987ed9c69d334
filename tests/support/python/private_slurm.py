# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one's own: one node, this machine; its own ports, folders and key. No network."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from own_namespace import not_run

from tailrace.run.kinship import ends_with_parent

PACKAGES = "slurmctld slurmd slurm-client munge"
FEATURES = "knl,quad,cache"

_up_within_s = 30
_down_within_s = 10


@dataclass(frozen=True)
class Slurm:
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    @property
    def environment(self) -> dict[str, str]:
        return _environment() | self.settings

    def said(self, *words: str) -> str:
        """Standard output of one of Slurm's commands."""
        return subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        ).stdout

    def wait_for(self, job: str, within_s: float = 60) -> dict[str, str]:
        """The properties of a job that has ended."""
        end = time.monotonic() + within_s
        while True:
            found = self.properties(job)
            if found["JobState"] not in {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"}:
                return found
            assert time.monotonic() < end, f"{found}\n{self.logs()}"
            time.sleep(0.05)

    def properties(self, job: str) -> dict[str, str]:
        lines = self.said("scontrol", "show", "job", job).splitlines()
        pairs = [word.partition("=") for line in lines for word in line.split()]
        return {key: value for key, _, value in pairs}

    def logs(self) -> str:
        return "\n".join(
            line for file in sorted(self.folder.glob("*.log"))
            for line in file.read_text(errors="replace").splitlines()[-15:]
        )  # fmt: skip


@contextmanager
def private_slurm() -> Iterator[Slurm]:
    """Up in about a second. Where that cannot be, the test counts as not run."""
    missing = [
        name
        for name in ("munged", "slurmctld", "slurmd", "sbatch")
        if shutil.which(name, path=_environment()["PATH"]) is None
    ]
    if missing:
        not_run(f"needs Slurm ({', '.join(missing)}); apt-get install {PACKAGES}")
    # A short name: the path of a socket may have 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    slurm = Slurm(folder)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        _configure(folder)
        _start(slurm, daemons)
        yield slurm
    finally:
        _end(slurm, daemons)
        shutil.rmtree(folder, ignore_errors=True)


def _environment() -> dict[str, str]:
    """Without a job that this may run in; daemons are in sbin, which not every PATH has."""
    found = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
    return found | {"PATH": f"{found.get('PATH', '')}:/usr/sbin:/sbin"}


def _configure(folder: Path) -> None:
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o711)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    control, node = _free_ports(2)
    folder.chmod(0o755)
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/spool\n")
    (folder / "slurm.conf").write_text(
        f"""\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
KillWait=1
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node} CPUs=8 Feature={FEATURES}
PartitionName=all Nodes=n1 Default=YES MaxTime=60 State=UP
PartitionName=paid Nodes=n1 AllowAccounts=physics MaxTime=60 State=UP
EnforcePartLimits=ALL
"""
    )


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _start(slurm: Slurm, daemons: list[subprocess.Popen[bytes]]) -> None:
    folder, configuration = slurm.folder, str(slurm.folder / "slurm.conf")
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    _daemon(slurm, daemons, "munged", "--foreground", "--force", *munge,
            f"--socket={folder}/munge/socket")  # fmt: skip
    end = time.monotonic() + _up_within_s
    _wait(slurm, daemons, end, (folder / "munge" / "socket").exists)
    _daemon(slurm, daemons, "slurmctld", "-D", "-i", "-c", "-f", configuration)
    _daemon(slurm, daemons, "slurmd", "-D", "-N", "n1", "-f", configuration)
    _wait(slurm, daemons, end, lambda: slurm.said("sinfo", "-h", "-o", "%t").startswith("idle"))


def _daemon(slurm: Slurm, daemons: list[subprocess.Popen[bytes]], *words: str) -> None:
    with (slurm.folder / f"{words[0]}.out.log").open("wb") as log:
        process = subprocess.Popen(
            words, env=_environment(), cwd=slurm.folder, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True, preexec_fn=ends_with_parent(),  # noqa: PLW1509
        )  # fmt: skip
    daemons.append(process)


def _wait(slurm: Slurm, daemons: list[subprocess.Popen[bytes]], end: float,
          ready: Callable[[], bool]) -> None:  # fmt: skip
    while not ready():
        gone = [one.args for one in daemons if one.poll() is not None]
        if gone or time.monotonic() > end:
            last = " / ".join(slurm.logs().splitlines()[-3:])
            not_run(f"needs a Slurm of its own, which does not come up here: {gone or ''} {last}")
        time.sleep(0.02)


def _end(slurm: Slurm, daemons: list[subprocess.Popen[bytes]]) -> None:
    """The jobs first, and their steps with them: those are no children of ours."""
    if len(daemons) == 3:
        slurm.said("scancel", "--me")
        end = time.monotonic() + _down_within_s
        while slurm.said("squeue", "-h", "-o", "%i") and time.monotonic() < end:
            time.sleep(0.05)
    for one in reversed(daemons):
        one.terminate()
        with suppress(subprocess.TimeoutExpired):
            one.wait(_down_within_s)
        one.kill()
        one.wait()
