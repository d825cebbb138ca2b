"""`heelstrike list [laws|robots|papers]`: what there is, by name."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from heelstrike.cli.console import output, print_json, table


class Kind(StrEnum):
    """What can be listed."""

    laws = "laws"
    robots = "robots"
    papers = "papers"


def list_things(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; all, if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """List contact laws, bundled robots or papers."""
    kinds = [kind] if kind else list(Kind)
    found = {k.value: _FIND[k]() for k in kinds}
    if as_json:
        print_json(found)
        return
    for k in kinds:
        output().print(_SHOW[k](found[k.value]))


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
    made = table("Contact laws", "name", "what", "parameters", "source")
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
    numbers = ("nv", "mass \\[kg]", "points")
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
    made = table("Papers", "name", "item", "what it shows")
    for p in found:
        made.add_row(p["name"], "", f"[italic]{p['title']}[/]\n{p['authors']}\n{p['source']}")
        for name, summary in p["items"].items():
            made.add_row("", name, summary)
    return made


_FIND: dict[Kind, Callable[[], list[dict[str, Any]]]] = {
    Kind.laws: _laws,
    Kind.robots: _robots,
    Kind.papers: _papers,
}
_SHOW: dict[Kind, Callable[[list[dict[str, Any]]], Table]] = {
    Kind.laws: _show_laws,
    Kind.robots: _show_robots,
    Kind.papers: _show_papers,
}
