# SPDX-License-Identifier: Apache-2.0
"""The commands."""

from __future__ import annotations

from typing import Annotated

import typer

from tailrace.cli.advise_command import advise
from tailrace.cli.apply_command import apply
from tailrace.cli.compare_command import compare
from tailrace.cli.doctor_command import doctor
from tailrace.cli.env_command import env
from tailrace.cli.intents_command import intents
from tailrace.cli.options import Json
from tailrace.cli.output import Output
from tailrace.cli.profile_command import profile
from tailrace.cli.repack_command import repack
from tailrace.cli.report_command import report
from tailrace.cli.rules_command import rules
from tailrace.cli.run_command import run
from tailrace.cli.scale_command import scale
from tailrace.cli.submit_command import submit
from tailrace.cli.suite_command import suite
from tailrace.cli.sweep_command import sweep
from tailrace.cli.tune_command import tune
from tailrace.cli.verify_command import verify

_epilog = (
    "Exit codes: 0 ok, 1 the run failed, 2 usage or configuration, 3 verification failed, "
    "4 a capability is missing."
)

app = typer.Typer(
    name="tailrace",
    help="Measure, understand, tune and hide the output of parallel programs.",
    epilog=_epilog,
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print versions and the commit, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    if version:
        from tailrace.cli.versions import print_versions

        print_versions(Output(as_json=as_json))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(run)
app.command()(sweep)
app.command()(scale)
app.command()(compare)
app.command()(suite)
app.command()(submit)
app.command(no_args_is_help=True, context_settings={"allow_interspersed_args": False})(profile)
app.command()(verify)
app.command()(report)
app.command()(intents)
app.command()(rules)
app.command()(advise)
app.command(no_args_is_help=True)(apply)
app.command()(env)
app.command(no_args_is_help=True)(repack)
app.command(no_args_is_help=True, context_settings={"allow_interspersed_args": False})(tune)
app.command()(doctor)
