"""`heelstrike inspect FILE`: what a robot file has, and what is simulated otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import PICTURES, output, print_json, say, table, will_write
from heelstrike.cli.options import Collide, Json

if TYPE_CHECKING:
    from rich.table import Table

    from heelstrike.robot.robot import Robot

CONCERNS = {"motion": "motion", "contact": "contact", "hull": "hulls", "file": "remark"}
"""Words for what a difference concerns."""


def inspect(
    robot: Annotated[str, typer.Argument(help="Bundled name, .urdf or .xml.")],
    base: Annotated[str, typer.Option(help="auto, floating or fixed.")] = "auto",
    collide: Collide = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw its first pose from two sides into this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a robot file has, and what is simulated otherwise."""
    from heelstrike.robot import load
    from heelstrike.robot.describe import describe

    if picture is not None:
        will_write(picture, "a picture", PICTURES, "--picture")
    names = collide if collide in (None, "all", "feet") else str(collide).split(",")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = load(robot, base=base, collide=names)
    found = describe(made)
    if picture is not None:
        _draw(made, picture)
    if as_json:
        print_json(found)
        return
    _print(found)


def _draw(robot: Robot, path: Path) -> None:
    from heelstrike.view.render.portrait import portrait

    pose = next(iter(robot.poses))
    portrait([(robot, pose, 30.0), (robot, pose, 120.0)], path, labels=[pose, "from the side"])
    say(f"picture: {path}")


def _print(found: dict[str, Any]) -> None:
    console, contacts = output(), found["contacts"]
    free = sum(joint["kind"] == "free" for joint in found["joints"])
    joints = _counted({"joint": len(found["joints"]) - free}) + ", free base" * bool(free)
    console.print(
        f"{found['name']}: {joints}, {found['mass']:.4g} kg, nv {found['velocities']}, "
        f"{'poses' if len(found['poses']) > 1 else 'pose'} {', '.join(found['poses'])}"
    )
    console.print(_joints(found["joints"]))
    console.print(_bodies(found["bodies"]))
    console.print(
        f"contacts: {_counted({'point': contacts['points']})} of "
        f"{_counted(contacts['shapes']) or 'no shapes'}; {contacts['meets_floor']} may touch the "
        f"ground, {_counted({'pair': contacts['self_pairs']})} one another"
        + (f"; feet {', '.join(contacts['feet'])}" if contacts["feet"] else "")
        + (f"; hulls to {1e3 * contacts['hull_error']:.2g} mm" if contacts["hull_error"] else "")
    )
    if found["actuators"]:
        console.print(_actuators(found["actuators"]))
    for tendon in (*found["tendons"], *found["spatial_tendons"]):
        joints = ", ".join(tendon["joints"] if "joints" in tendon else tendon["bodies"])
        numbers = [f"{key} {tendon[key]:g}" for key in ("stiffness", "damping") if tendon[key]]
        numbers += [f"range {_range(tendon['limit'])}"] if tendon.get("limit") else []
        console.print(f"tendon {tendon['name']} over {joints}: {', '.join(numbers)}")
    for drag in found["drags"][:1]:
        bodies = len({own["body"] for own in found["drags"]})
        medium = f"density {drag['density']:g} kg/m^3, viscosity {drag['viscosity']:g} Pa s"
        console.print(f"a fluid resists {_counted({'body': bodies})}: {medium}")
    for constraint in found["constraints"]:
        joined = " and ".join(constraint["bodies"])
        console.print(f"constraint {constraint['name']} ({constraint['kind']}): {joined}")
    if found["as_the_file_says"]:
        console.print("simulated as the file says", style="green")
    if found["fidelity"]:
        title = "Remarks" if found["as_the_file_says"] else "Otherwise than the file says"
        console.print(_fidelity(title, found["fidelity"]))


def _joints(joints: list[dict[str, Any]]) -> Table:
    heads = {
        "torque": "torque_limit",
        "armature": "armature",
        "damping": "damping",
        "friction": "friction",
        "spring": "stiffness",
    }
    rows = [
        [
            joint["name"],
            joint["kind"],
            _range([joint["lower"], joint["upper"]]),
            *(_number(joint[key]) for key in heads.values()),
        ]
        for joint in joints
    ]
    return _filled("Joints, SI units", ["name", "kind", "range", *heads], rows, tuple(heads))


def _bodies(bodies: list[dict[str, Any]]) -> Table:
    rows = [
        [
            body["name"],
            f"{body['mass']:.4g}",
            _number(body["compensated_mass"]),
            _counted(body["collides"]),
            _number(body["points"]),
            _number(body["drawn"]),
        ]
        for body in bodies
    ]
    heads = ["name", "mass [kg]", "lifted [kg]", "collides", "points", "drawn"]
    return _filled("Bodies", heads, rows, ("mass [kg]", "lifted [kg]", "points", "drawn"))


def _actuators(actuators: list[dict[str, Any]]) -> Table:
    rows = []
    for own in actuators:
        lag = "" if own["dynamics"] == "none" else f", {own['dynamics']}"
        acts = ", ".join(own["acts_on"])
        ends = _range(own["control_range"]), _range(own["force_range"])
        rows.append([own["name"], own["kind"] + lag, "" if acts == own["name"] else acts, *ends])
    return _filled("Actuators", ["name", "kind", "acts on", "control", "force"], rows)


def _filled(
    title: str, heads: list[str], rows: list[list[str]], numbers: tuple[str, ...] = ()
) -> Table:
    """Return a table without the columns that are empty; names are folded, not cut."""
    kept = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    made = table(title, *(heads[k] for k in kept), numbers=numbers)
    for column in made.columns:
        column.overflow = "fold"
    for row in rows:
        made.add_row(*(row[k] for k in kept))
    return made


def _fidelity(title: str, differences: list[dict[str, Any]]) -> Table:
    made = table(title, "concerns", "what")
    for own in differences:
        why = f" ({own['why']})" if own["why"] else ""
        made.add_row(CONCERNS[own["concerns"]], own["what"] + why)
    return made


def _counted(kinds: dict[str, int]) -> str:
    plurals = {"body": "bodies", "box": "boxes", "mesh": "meshes"}
    return ", ".join(
        f"{count} {kind if count == 1 else plurals.get(kind, kind + 's')}"
        for kind, count in kinds.items()
    )


def _range(ends: Sequence[float | None] | None) -> str:
    if ends is None or (ends[0] is None and ends[1] is None):
        return ""
    return " .. ".join("none" if end is None else f"{end:.3g}" for end in ends)


def _number(x: float | None) -> str:
    return f"{x:.3g}" if x else ""
