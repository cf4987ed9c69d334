# SPDX-License-Identifier: Apache-2.0
"""Reads Darshan logs in a process of its own: a line of JSON on stdout for each.

python -m tailrace.intent.darshan_child [--partial] LOG...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.intent.darshan_import import read_log
from tailrace.intent.darshan_log import StderrWatch, no_darshan


def main(words: list[str]) -> int:
    """One line per log: {"profile": ...} or {"error": ...}; ends at the first error."""
    partial = words[:1] == ["--partial"]
    try:
        import darshan.backend.cffi_backend  # noqa: F401
    except ImportError:
        return _failed(no_darshan())
    watch = StderrWatch()
    for word in words[1:] if partial else words:
        try:
            profile = read_log(Path(word), watch, partial=partial)
            line = json.dumps({"profile": profile}, allow_nan=False)  # no time is endless
        except TailraceError as error:
            return _failed(error)
        except Exception as error:  # of the library's Python part, on what is no log any more
            return _failed(
                TailraceError(
                    "the log is truncated or damaged: reading it ended with "
                    f"{type(error).__name__}: {error}",
                    where=word,
                    hint="copy it anew, or wait until the job has ended",
                )
            )
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


def _failed(error: TailraceError) -> int:
    sys.stdout.write(json.dumps({"error": error.as_json()}) + "\n")
    return int(error.code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
