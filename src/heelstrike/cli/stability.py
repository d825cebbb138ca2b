"""`heelstrike stability SCENE --law L`: largest stable step, and a map over stiffness and step."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import PICTURES, output, print_json, will_write
from heelstrike.cli.options import Depth, Json, Restitution, RobotName, SceneName, Settings
from heelstrike.cli.outputs import fresh
from heelstrike.cli.run import chosen_scene
from heelstrike.errors import HeelstrikeError
from heelstrike.finite import finite

if TYPE_CHECKING:
    from heelstrike.measure.stability import StabilityMap
    from heelstrike.simulate.scene_file import SceneFile


def stability(
    scene: SceneName = None,
    robot: RobotName = None,
    law: Annotated[
        str, typer.Option(help="Law by name, tuned to this robot; scene: its own.")
    ] = "scene",
    dt: Annotated[
        float | None, typer.Option(help="Time step to check [s]; default: the scene's.")
    ] = None,
    depth: Depth = 1e-3,
    restitution: Restitution = 0.3,
    settings: Settings = None,
    picture: Annotated[Path | None, typer.Option(help="Picture of the map, a .png file.")] = None,
    as_json: Json = False,
) -> None:
    """Find the largest stable time step; draw a map over stiffness."""
    from heelstrike.measure.laws import SCENE, law_names, under
    from heelstrike.measure.stability import stability_map
    from heelstrike.view import plot
    from heelstrike.view.figures.stability_map import draw

    made = chosen_scene(scene, robot, {}, settings or [])
    if law != SCENE and len(law_names(law)) != 1:
        raise HeelstrikeError(
            f"--law {law}: not one law",
            path="--law",
            value=law,
            allowed="the name of a law, such as hunt-crossley, or scene",
        )
    step = made.content.simulation.dt if dt is None else dt
    path = picture or fresh(f"{made.name}-stability", (".png",))
    will_write(path, "a picture", PICTURES, "--picture")
    judged, words, _ = under(made, law, step, (depth, restitution))
    found = stability_map(judged, progress=None)
    own = found.own
    stiff = float(found.k[own]) if len(found.k) else None
    plot.save(draw(found, _title(made, law), step, stiff), path, few_colours=True)
    values = _values(found, own, step) | {"scene": made.name, "law": words, "picture": str(path)}
    if as_json:
        print_json(values | {"map": _cells(found)})
    else:
        _show(made.content.about or made.name, values)


def _title(made: SceneFile, law: str) -> str:
    """Return the title of the map: what is shown, of which robot, under which law."""
    kind = type(made.scene.surfaces[0].law).__name__ if law == "scene" else law
    return f"Time steps in which {made.robot.name} rests on the ground of '{made.name}', {kind}"


def _values(found: StabilityMap, own: int, dt: float) -> dict[str, Any]:
    closed = float(found.closed[own])
    fits = found.closed >= dt
    stiffest = float(found.k[fits][-1]) if len(found.k) and fits.any() else None
    return {
        "dt": dt,
        "k": float(found.k[own]) if len(found.k) else None,
        "mass": found.mass,
        "largest_dt": found.largest(own),
        "largest_dt_closed_form": finite(closed),
        "friction_dt_closed_form": finite(found.bristle),
        "largest_k": found.stiffest(found.row(dt)) if len(found.k) else None,
        "largest_k_closed_form": stiffest if math.isfinite(closed) else None,
        "searched_dt": float(found.dt[-1]),
        "searched_k": float(found.k[-1]) if len(found.k) else None,
    }


def _cells(found: StabilityMap) -> dict[str, Any]:
    return {
        "dt": found.dt.tolist(),
        "k": found.k.tolist(),
        "unstable": found.unstable.tolist(),
        "closed": finite(found.closed.tolist()),
    }


def _show(about: str, values: dict[str, Any]) -> None:
    from heelstrike.record.summary import row

    console = output()
    console.print(about, style="bold", markup=False)
    last, rests = values["searched_dt"], values["largest_dt"]
    sign = ">= " if rests >= last else ""
    lines = [("law", values["law"])]
    lines.append(("mass", f"smallest effective mass at a contact point: {values['mass']:.3g} kg"))
    simulated = f"{sign}{1e3 * rests:.3g} ms" if rests else "none of the simulated ones"
    lines.append(("largest dt", f"{simulated}, simulated" if rests else simulated))
    if values["largest_dt_closed_form"] is None:
        lines.append(("", "no limit by the closed form: the law is solved with the motion"))
    else:
        lines.append(("", f"{1e3 * values['largest_dt_closed_form']:.3g} ms by the closed form"))
    if (friction := values["friction_dt_closed_form"]) is not None:
        lines.append(("", f"{1e3 * friction:.3g} ms for its friction"))
    if values["largest_k"] is not None:
        most = values["searched_k"]
        for name, key, how in (
            ("largest k", "largest_k", f"simulated at {1e3 * values['dt']:g} ms"),
            ("", "largest_k_closed_form", "by the closed form"),
        ):
            if (k := values[key]) is not None:
                lines.append((name, f"{'>= ' if k >= most else ''}{k:.3g} N/m, {how}"))
    lines.append(("map", values["picture"]))
    for name, text in lines:
        console.print(row(name, text), markup=False, soft_wrap=True)
