"""`heelstrike`: the commands."""

from __future__ import annotations

from typing import Annotated

import typer

from heelstrike import __version__
from heelstrike.cli.bench import bench
from heelstrike.cli.cite import cite
from heelstrike.cli.compare import compare
from heelstrike.cli.export import export
from heelstrike.cli.impact import impact
from heelstrike.cli.inspect import inspect
from heelstrike.cli.listing import list_names
from heelstrike.cli.paper import paper
from heelstrike.cli.run import run
from heelstrike.cli.stability import stability
from heelstrike.cli.sweep import sweep
from heelstrike.cli.view import view

app = typer.Typer(
    name="heelstrike",
    help="A contact laboratory and simulator for legged and humanoid robots.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # units in brackets are not markup, and plain help is fast
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"heelstrike {__version__}")
        raise typer.Exit


@app.callback()
def heelstrike(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A contact laboratory and simulator for legged and humanoid robots."""


app.command("run")(run)
app.command("compare")(compare)
app.command("stability")(stability)
app.command("sweep")(sweep)
app.command("view")(view)
app.command("inspect")(inspect)
app.command("list")(list_names)
app.command("paper")(paper)
app.command("impact")(impact)
app.command("bench")(bench)
app.command("cite")(cite)
app.command("export")(export)
