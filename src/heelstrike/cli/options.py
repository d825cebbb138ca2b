"""Options by which several verbs choose and change a scene."""

from __future__ import annotations

from typing import Annotated

import typer

SceneName = Annotated[str | None, typer.Argument(help="A bundled scene, or a .toml file.")]
RobotName = Annotated[
    str | None, typer.Option(help="A robot alone on a plane: a bundled name, .urdf or .xml.")
]
LawName = Annotated[str | None, typer.Option(help="The law of every surface, by name.")]
Drop = Annotated[
    float | None, typer.Option(help="Height of the lowest contact point at the start [m].")
]
Duration = Annotated[float | None, typer.Option(help="Simulated time [s].")]
Step = Annotated[float | None, typer.Option(help="Time step [s].")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A value by path: ground.normal.k=2e4. Repeatable."),
]
