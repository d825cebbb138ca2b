"""`heelstrike impact ROBOT ...`: estimate one hit by three methods, or plan one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import PICTURES, output, print_json, say, table, will_write
from heelstrike.cli.options import Json

if TYPE_CHECKING:
    import numpy as np

    from heelstrike.contact.laws.linear_spring import LinearSpring
    from heelstrike.impact.comparison import Comparison
    from heelstrike.robot.robot import Robot

DAMPING_RATIO = 0.3
"""Damping of the contact over critical damping, by default [-]."""
DOMINANT = 0.95
"""Share of the peak that a damper's first force has where it determines it [-]."""


def impact(
    robot: Annotated[str, typer.Argument(help="Bundled name, or a path to .urdf or .xml.")],
    link: Annotated[str, typer.Option(help="Link that hits the target.")],
    direction: Annotated[
        str, typer.Option(help="Direction of the hit: x, -x, y, -y, z or -z of the world.")
    ] = "x",
    speed: Annotated[float, typer.Option(help="Speed of the link before the hit [m/s].")] = 0.5,
    target_mass: Annotated[float, typer.Option(help="Mass of the target [kg]; inf: fixed.")] = 5.0,
    target_velocity: Annotated[
        float, typer.Option(help="Velocity of the target [m/s]; negative: it approaches.")
    ] = 0.0,
    k: Annotated[float, typer.Option(help="Stiffness of the contact [N/m].")] = 1e4,
    c: Annotated[
        float | None,
        typer.Option(
            help="Damping of the contact [N s/m]; default: 0.3 of critical for the masses."
        ),
    ] = None,
    pose: Annotated[str | None, typer.Option(help="Pose of the robot; default: its first.")] = None,
    floor: Annotated[str, typer.Option(help="Contact of the feet: rigid or elastic.")] = "rigid",
    torque: Annotated[
        str, typer.Option(help="Joint torque: full (eq. 10) or damping (eq. 11).")
    ] = "full",
    planned: Annotated[
        bool, typer.Option("--plan", help="Find posture and velocities of the largest impulse.")
    ] = False,
    margin: Annotated[
        float, typer.Option(help="Distance of a plan's ZMP from the support polygon's edge [m].")
    ] = 0.03,
    out: Annotated[Path | None, typer.Option(help="Picture of the forces, a .png file.")] = None,
    as_json: Json = False,
) -> None:
    """Estimate force, impulse and ZMP of a hit by three methods.

    The methods are virtual mass, simplified dynamics and full simulation.
    """
    from rich.text import Text

    from heelstrike.checks import number
    from heelstrike.impact.comparison import compare
    from heelstrike.impact.nlp import MAX_TIME
    from heelstrike.impact.planning import plan
    from heelstrike.impact.target import Target
    from heelstrike.robot import load

    speed = number("--speed", speed, "a speed above 0 and below 1000 m/s", above=0.0, below=1e3)
    if out is not None:
        will_write(out, "a picture", PICTURES, "--out")
    chosen = load(robot, collide="feet")
    q = _posture(chosen, pose)
    target = Target(mass=target_mass, velocity=target_velocity)
    law = _law(chosen, q, link, direction, target_mass, k, c)
    common: dict[str, Any] = {"direction": direction, "target": target, "law": law}
    motion: dict[str, Any] = {"speed": speed}
    factor = None
    if planned:
        say(f"Planning takes seconds to minutes; each of its searches ends after {MAX_TIME:g} s.")
        found = plan(chosen, q, link, margin=margin, full=False, **common)
        q, motion, factor = found.q, {"v": found.v[6:]}, found.factor
    made = compare(chosen, q, link, floor=floor, torque=torque, **common, **motion)
    cause = _cause(made, law, target_velocity)
    if out is not None:
        _draw(made, out)
    if as_json:
        print_json(_plain(made, factor) | {"k": law.k, "c": law.c, "cause": cause})
        return
    console = output()
    console.print(_shown(made))
    console.print(Text(made.simplified.summary()))
    console.print(Text(cause))
    if factor is not None:
        console.print(f"plan            {factor:.2f} times the impulse of the starting posture")
    if out is not None:
        console.print(Text(f"Picture: {out}"), soft_wrap=True)


def _law(
    robot: Robot,
    q: np.ndarray,
    link: str,
    direction: str,
    target_mass: float,
    k: float,
    c: float | None,
) -> LinearSpring:
    """Return the law of the contact; without c its damping follows from the mass that is hit."""
    from heelstrike.contact.laws.linear_spring import LinearSpring
    from heelstrike.impact.mass import virtual_mass

    if c is None:
        own = float(virtual_mass(robot, q, link, direction=direction))
        mass = 1 / (1 / own + 1 / target_mass)
        c = float(f"{2 * DAMPING_RATIO * (max(k, 0.0) * mass) ** 0.5:.2g}")
    return LinearSpring(k=k, c=c)


def _cause(made: Comparison, law: LinearSpring, target_velocity: float) -> str:
    """Return what determines the peak: the spring, or the damper at the first contact."""
    jump = law.c * (float(made.simplified.speed[0]) - target_velocity)
    peak = float(made.full.peak[0])
    numbers = f"k = {law.k:g} N/m, c = {law.c:g} N s/m"
    if jump < DOMINANT * peak:
        return f"contact         {numbers}: the spring determines the peak"
    return (
        f"contact         {numbers}: the damper determines the peak, c v = {jump:.3g} N at the "
        "first contact, whatever the masses; a smaller --c shows their effect"
    )


def _posture(robot: Robot, pose: str | None) -> np.ndarray:
    if pose is not None:
        return robot.pose(pose)
    return robot.pose(next(iter(robot.poses))) if robot.poses else robot.neutral


def _shown(made: Comparison) -> Any:
    """Return a table with a row for each method."""
    numbers = ("peak [N]", "error [%]", "impulse [N s]", "error [%]", "contact [ms]")
    grid = table("", "method", *numbers, numbers=numbers)
    for row in made.rows():
        grid.add_row(
            row["method"],
            f"{row['peak']:.1f}",
            f"{row['peak error']:.1f}",
            f"{row['impulse']:.3f}",
            f"{row['impulse error']:.1f}",
            f"{1e3 * row['duration']:.1f}",
        )
    return grid


def _plain(made: Comparison, factor: float | None) -> dict[str, Any]:
    """Return the results as values for JSON."""
    history = made.simplified.history
    left = None if history is None else float(history.left[0])
    return {
        "virtual_mass": float(made.simplified.virtual_mass[0]),
        "speed": float(made.simplified.speed[0]),
        "methods": made.rows(),
        "zmp_leaves_at": left if left == left else None,
        "plan_factor": factor,
    }


def _draw(made: Comparison, path: Path) -> None:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 3.8))
    history = made.simplified.history
    if history is not None:
        alone = made.virtual_mass.records["force"][0, :, 0]
        ax.plot(1e3 * history.time, alone[: len(history.time)], label="virtual mass")
        ax.plot(1e3 * history.time, history.force[0], label="simplified")
    ax.plot(1e3 * made.full.time, made.full.force[0], "--", label="full simulation")
    plot.label(ax, "Force on the target", "time [ms]", "force [N]")
    ax.legend(fontsize=8, frameon=False)
    plot.save(figure, path)
