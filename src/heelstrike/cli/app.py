"""`heelstrike`: the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
from heelstrike.cli.play import play
from heelstrike.cli.run import run
from heelstrike.cli.stability import stability
from heelstrike.cli.sweep import sweep
from heelstrike.cli.validate import validate
from heelstrike.cli.view import view

UNITS = {"[s]": "SECONDS", "[m]": "METRES", "[m/s]": "M/S", "[kg]": "KG", "[N/m]": "N/M"}
"""Words for values by the unit in their help."""

app = typer.Typer(
    name="heelstrike",
    help="A contact laboratory and simulator for legged and humanoid robots.",
    no_args_is_help=True,
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
app.command("play")(play)
app.command("compare")(compare)
app.command("stability")(stability)
app.command("sweep")(sweep)
app.command("view")(view)
app.command("inspect")(inspect)
app.command("list")(list_names)
app.command("paper")(paper)
app.command("impact")(impact)
app.command("validate")(validate)
app.command("bench")(bench)
app.command("cite")(cite)
app.command("export")(export)


def commands() -> Any:
    """Return the commands, whose help names values by words: --dt SECONDS, --out FILE."""
    made: Any = typer.main.get_command(app)
    for command in made.commands.values():
        for parameter in command.params:
            if parameter.metavar is None and not getattr(parameter, "is_flag", False):
                parameter.metavar = _word(parameter)
    return made


def _word(parameter: Any) -> str:
    """Return the word for the value of an option or an argument."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", str)
    if kind is Path:
        return "FILE"
    if kind in (int, float):
        units = [word for unit, word in UNITS.items() if unit in (parameter.help or "")]
        return units[0] if units else "NUMBER"
    return str(parameter.name).upper().replace("_", "-")
