"""Options that several verbs share: by which they choose and change a scene, and print."""

from __future__ import annotations

from typing import Annotated

import typer

SCENE = typer.Argument(help="A bundled scene, or a .toml file.")
Scene = Annotated[str, SCENE]
SceneName = Annotated[str | None, SCENE]
"""Of a verb that also takes a robot alone."""
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
Depth = Annotated[float, typer.Option(help="Of a point at rest, for named laws [m].")]
Restitution = Annotated[float, typer.Option(help="Wanted of named laws.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
