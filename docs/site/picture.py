# SPDX-License-Identifier: Apache-2.0
"""A picture of what a command prints, as SVG, for a page:   picture.py FILE.svg COMMAND...
Those in docs/user/images are of the first programs of docs/user/tune_in_five_minutes.md and
docs/how_to/slow_h5py_with_chunks.md."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100


def main(file: Path, command: list[str]) -> None:
    """Runs the command; its errors are not in the picture, and home is `~`."""
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, check=True,
        env=os.environ | {"COLUMNS": str(WIDTH)},
    )  # fmt: skip
    console = Console(record=True, width=WIDTH, file=Path(os.devnull).open("w"))  # noqa: SIM115
    console.print(Text(f"$ {shlex.join(command)}", "bold"))
    console.print(Text(done.stdout.replace(str(Path.cwd()), "~").rstrip()))
    svg = console.export_svg(title="tailrace", unique_id=file.stem)
    svg = re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)  # which are fetched
    file.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
