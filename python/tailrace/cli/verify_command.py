# SPDX-License-Identifier: Apache-2.0
"""`tailrace verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, Quiet
from tailrace.cli.output import Output
from tailrace.errors import TailraceError

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="One or more files of a kernel to check, or two files to compare.",
        show_default=False,
    ),
]
Each = Annotated[
    bool,
    typer.Option("--each", help="Check each of two files against its fill; do not compare them."),
]
Hashes = Annotated[
    bool, typer.Option("--hash", help="Print content hashes (XXH3-128), one per object and file.")
]
PluginLib = Annotated[
    str,
    typer.Option(
        "--plugin-lib", metavar="LIB", help="The fill plugin, if it is not where the file says.",
        show_default=False,
    ),
]  # fmt: skip
IgnoreList = Annotated[
    list[str],
    typer.Option(
        "--ignore", metavar="GLOB", show_default=False,
        help="Leave out a path, or path@attribute. You may give it several times.",
    ),
]  # fmt: skip
Rtol = Annotated[
    float, typer.Option("--rtol", min=0.0, help="Relative tolerance of floating-point numbers.")
]
Atol = Annotated[
    float, typer.Option("--atol", min=0.0, help="Absolute tolerance of floating-point numbers.")
]
Most = Annotated[int, typer.Option("--show", min=1, help="How many differences to print.")]


def verify(
    files: Files,
    each: Each = False,
    hashes: Hashes = False,
    plugin_lib: PluginLib = "",
    ignore: IgnoreList = [],  # noqa: B006  (read only)
    rtol: Rtol = 0.0,
    atol: Atol = 0.0,
    show: Most = 10,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Check a kernel's file, compare two files, or print content hashes.

    With one file, three or more, or two and --each, it reads each element of the kernel's files
    and checks it against the fill that the file names. With two files it says whether they have
    the same content, whatever their layout, chunks or compression.

    Exit code 3: an element is wrong, the files differ, or a file is not complete.
    """
    output = Output(as_json=as_json, quiet=quiet)
    compares = len(files) == 2 and not each and not hashes
    if hashes and (rtol or atol):
        raise TailraceError("tolerances are for what is compared, not for --hash", where="verify")
    if not compares and not hashes and ignore:
        raise TailraceError(
            "--ignore is for the comparison of two files and for --hash", where="verify"
        )
    if plugin_lib and (compares or hashes):
        raise TailraceError("--plugin-lib is for the check of a kernel's file", where="verify")
    if hashes:
        from tailrace.cli.verify_hash import print_hashes

        return print_hashes(output, files, tuple(ignore))
    from tailrace.verify.close import Tolerance

    tolerance = Tolerance(rtol, atol)
    if compares:
        from tailrace.cli.verify_compare import compare_two
        from tailrace.verify.compare import CompareOptions

        options = CompareOptions(tuple(ignore), tolerance, show)
        return compare_two(output, files[0], files[1], options)
    from tailrace.cli.verify_fill import check_files

    return check_files(output, files, plugin_library=plugin_lib, tolerance=tolerance, most=show)
