# SPDX-License-Identifier: Apache-2.0
"""Name spaces of one's own: for small disks, and for a life without a network.

Root may have them; others (and root in a container) where the system allows user name spaces.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

_probes = {"-m": "mount -t tmpfs -o size=64k tailrace-probe /tmp", "-n": "true", "-u": "hostname x"}


def unshare(kind: str) -> list[str]:
    """Words before a command that give it mounts (-m), a network (-n) or a name (-u) of its own.

    Where that is refused the test counts as not run (a failure where CI=true).
    """
    for words in (["unshare", kind], ["unshare", "-r", kind]):
        try:
            probe = [*words, "sh", "-c", _probes[kind]]
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return words
        except OSError:
            break
    not_run(
        f"needs `unshare {kind}`; run it as root with CAP_SYS_ADMIN, or allow user name spaces: "
        "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
    )


def small_disk(folder: Path, size: int) -> list[str]:
    """Words before a command for which `folder` is a file system of that many bytes."""
    script = f"mount -t tmpfs -o size={size} tailrace {shlex.quote(str(folder))} && exec " + '"$@"'
    return [*unshare("-m"), "--", "sh", "-c", script, "sh"]


def not_run(reason: str) -> None:
    """For what this machine refuses; the closing summary of the tests names it."""
    if os.environ.get("TAILRACE_TEST_NOT_RUN"):
        with Path(os.environ["TAILRACE_TEST_NOT_RUN"]).open("a") as file:
            file.write(reason + "\n")
    if os.environ.get("CI") == "true":
        pytest.fail(f"not run, and CI=true: {reason}")
    pytest.skip(reason, allow_module_level=True)
