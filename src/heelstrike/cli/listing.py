"""`heelstrike list [scenes|robots|surfaces|laws|papers]`: names and short descriptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import output, print_json, table
from heelstrike.cli.options import Json

if TYPE_CHECKING:
    from rich.table import Table


class Kind(StrEnum):
    """Kinds of things that have names."""

    scenes = "scenes"
    robots = "robots"
    surfaces = "surfaces"
    laws = "laws"
    papers = "papers"


def list_names(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; default: everything.")] = None,
    as_json: Json = False,
) -> None:
    """List scenes, robots, surfaces, contact laws and papers."""
    kinds = [kind] if kind else list(Kind)
    found = {k.value: _FIND[k]() for k in kinds}
    if as_json:
        print_json(found)
        return
    for k in kinds:
        output().print(_SHOW[k](found[k.value]))


def _scenes() -> list[dict[str, Any]]:
    import heelstrike as hs

    return [{"name": name, "about": hs.load_scene(name).content.about} for name in hs.scenes()]


def _show_scenes(found: list[dict[str, Any]]) -> Table:
    made = table("Bundled scenes", "name", "description")
    for scene in found:
        made.add_row(scene["name"], scene["about"])
    return made


def _surfaces() -> list[dict[str, Any]]:
    from heelstrike.scene.files.schema import field_notes, summary, surface_kinds

    return [
        {
            "name": name,
            "what": summary(kind),
            "keys": {f.name: field_notes(kind).get(f.name, "") for f in fields(kind)},
        }
        for name, kind in surface_kinds().items()
    ]


def _show_surfaces(found: list[dict[str, Any]]) -> Table:
    made = table("Surfaces", "name", "description", "keys")
    for surface in found:
        made.add_row(surface["name"], surface["what"], ", ".join(surface["keys"]))
    return made


def _laws() -> list[dict[str, Any]]:
    from heelstrike.contact.catalog import laws

    return [
        {
            "name": law.name,
            "kind": law.kind,
            "what": law.what,
            "parameters": [
                {"name": p.name, "unit": p.unit, "default": p.default, "meaning": p.meaning}
                for p in law.parameters
            ],
            "sources": list(law.sources),
        }
        for law in laws()
    ]


def _show_laws(found: list[dict[str, Any]]) -> Table:
    from rich.text import Text

    made = table("Contact laws", "name", "description", "parameters", "source")
    for law in found:
        parameters = "\n".join(map(_parameter, law["parameters"]))
        made.add_row(law["name"], law["what"], Text(parameters), "\n".join(law["sources"]))
        made.add_row()
    return made


def _parameter(p: dict[str, Any]) -> str:
    unit = f" [{p['unit']}]" if p["unit"] not in ("", "1") else ""
    return f"{p['name']}{unit}"


def _robots() -> list[dict[str, Any]]:
    import heelstrike as hs

    found = []
    for name in hs.bundled():
        robot = hs.load(name)
        found.append(
            {
                "name": name,
                "velocities": robot.nv,
                "mass": round(float(robot.mass), 6),
                "points": len(robot.points),
                "poses": sorted(robot.poses),
            }
        )
    return found


def _show_robots(found: list[dict[str, Any]]) -> Table:
    numbers = ("nv", "mass [kg]", "points")
    made = table("Bundled robots", "name", *numbers, "poses", numbers=numbers)
    for robot in found:
        made.add_row(
            robot["name"],
            str(robot["velocities"]),
            f"{robot['mass']:g}",
            str(robot["points"]),
            ", ".join(robot["poses"]),
        )
    return made


def _papers() -> list[dict[str, Any]]:
    from heelstrike.papers import papers

    return [
        {
            "name": p.name,
            "title": p.title,
            "authors": p.authors,
            "source": p.source,
            "items": {name: item.summary for name, item in p.items.items()},
        }
        for p in papers()
    ]


def _show_papers(found: list[dict[str, Any]]) -> Table:
    made = table("Papers", "name", "item", "description")
    for p in found:
        made.add_row(p["name"], "", f"[italic]{p['title']}[/]\n{p['authors']}\n{p['source']}")
        for name, summary in p["items"].items():
            made.add_row("", name, summary)
    return made


_FIND: dict[Kind, Callable[[], list[dict[str, Any]]]] = {
    Kind.scenes: _scenes,
    Kind.robots: _robots,
    Kind.surfaces: _surfaces,
    Kind.laws: _laws,
    Kind.papers: _papers,
}
_SHOW: dict[Kind, Callable[[list[dict[str, Any]]], Table]] = {
    Kind.scenes: _show_scenes,
    Kind.robots: _show_robots,
    Kind.surfaces: _show_surfaces,
    Kind.laws: _show_laws,
    Kind.papers: _show_papers,
}
