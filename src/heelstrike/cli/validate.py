"""`heelstrike validate [SET]`: contact laws against measurements."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heelstrike.cli.console import output, print_json, will_write
from heelstrike.cli.options import Json

if TYPE_CHECKING:
    from heelstrike.validation.validate import Validation


def _sets() -> list[str]:
    """Return the data sets, for completion in a shell."""
    from heelstrike.validation.sets import SETS

    return list(SETS)


def validate(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[SET]",
            help="Data set; default: all of them, with --data those whose files are there.",
            autocompletion=_sets,
        ),
    ] = None,
    laws: Annotated[
        str | None, typer.Option(help="Names of laws, separated by commas; default: the set's.")
    ] = None,
    mujoco: Annotated[bool, typer.Option("--mujoco/--no-mujoco", help="Judge MuJoCo, too.")] = True,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder or file to judge, of the same columns as the training file.",
        ),
    ] = None,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--kept",
            help="Fit parameters on the training file, or take those that are kept; default: fit, "
            "unless --data is given.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few laws, cases and sets of parameters.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a page, pictures and numbers to a folder."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit contact laws on measurements and judge them on others.

    Training files are found by the variable HEELSTRIKE_DATA.
    """
    from heelstrike.validation.sets import SETS, sets_in
    from heelstrike.validation.validate import validate as run

    if report is not None:
        from heelstrike.view.pages.validation import PAGE, write_report

        will_write(report / PAGE, "a page", (".md",), "--report")
    chosen = laws.split(",") if laws else None
    found = []
    for one in [name] if name else SETS if data is None else sets_in(data):
        found.append(run(one, chosen, data, mujoco=mujoco, refit=refit, quick=quick))
        if not as_json:
            _show(found[-1])
    if report is not None:
        page = write_report(found, report)
        if not as_json:
            output().print(f"report        {page}", markup=False, soft_wrap=True)
    if as_json:
        print_json([each.as_dict() for each in found])


def _show(found: Validation) -> None:
    """Print table and verdict."""
    from heelstrike.validation.tables import table

    console = output()
    console.print(f"{found.name}: {found.title}", style="bold", markup=False)
    for note in found.notes:
        console.print(note, markup=False)
    console.print()
    console.print(table(found.as_dict()), markup=False, soft_wrap=True)
    console.print("mean +- standard error (median) over cases", markup=False)
    console.print()
    for sentence in found.verdict:
        console.print(textwrap.fill(sentence, console.width, subsequent_indent="  "), markup=False)
    console.print()
