"""Options that several commands share: they choose and change a scene, or set the output."""

from __future__ import annotations

from typing import Annotated

import typer


def _scenes() -> list[str]:
    """Return the bundled scenes, for completion in a shell."""
    from heelstrike.scene.files import scenes

    return list(scenes())


def _robots() -> list[str]:
    """Return the bundled robots, for completion in a shell."""
    from heelstrike.robot import bundled

    return list(bundled())


def _laws() -> list[str]:
    """Return the names of laws, for completion in a shell."""
    from heelstrike.contact.catalog import LAWS, kebab

    return [kebab(law.__name__) for law in LAWS]


SCENE = typer.Argument(help="Bundled scene, or a .toml file.", autocompletion=_scenes)
SceneName = Annotated[str | None, SCENE]
"""Scene of a command that also accepts --robot."""
RobotName = Annotated[
    str | None,
    typer.Option(
        help="Robot to put on a plane: a bundled name, .urdf or .xml.", autocompletion=_robots
    ),
]
LawName = Annotated[
    str | None,
    typer.Option(help="Contact law of every surface, by name.", autocompletion=_laws),
]
Drop = Annotated[float | None, typer.Option(help="Height of fall until the first contact [m].")]
Collide = Annotated[
    str | None,
    typer.Option(
        metavar="SHAPES",
        help="Shapes of robots that collide: all, feet, or names of bodies, links and shapes, "
        "separated by commas.",
    ),
]
Duration = Annotated[float | None, typer.Option(help="Simulated time [s].")]
Step = Annotated[float | None, typer.Option(help="Time step [s].")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Set a value, such as ground.normal.k=2e4. Repeatable."
    ),
]
Depth = Annotated[float, typer.Option(help="Depth at rest that named laws are tuned to [m].")]
Restitution = Annotated[float, typer.Option(help="Restitution that named laws are tuned to.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
