"""What `heelstrike bench` found, as a page: the shell shows its tables, a browser all of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.bench.accuracy import FINEST, GRID, PARTS, TOLERANCE
from heelstrike.bench.steps import PEER_BATCH, PEER_ONE
from heelstrike.view import plot
from heelstrike.view.figures.bench import against_peer, growth
from heelstrike.view.pages.html import write_html
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOW = (
    "A robot stands at rest on its feet; every contender makes steps of the file's own size. "
    "Contenders take turns in one run, and each one's best turn counts. One world: CPU time of one "
    "thread. Batch: {worlds} worlds on all {cores} cores, wall time. MuJoCo: mj_step, and "
    "mujoco.rollout, on the same file with its own solver settings. 'x' is MuJoCo's time over ours "
    "on as many threads."
)
EQUAL = (
    "The robot falls 1 cm and stands for 1 s, each simulator with the largest step that keeps the "
    "base within 1 mm of its own converged path; then simulated seconds per second, from the drop "
    "on."
)
GROWN = (
    "Joints: chains in the air. Points: on hoap1's soles. Both in a batch on one thread, with "
    "seconds to compile. Worlds: hoap1 on all cores."
)
STEPPED = "Ways to step a robot that stands on its feet; 1 is MuJoCo's."
GROWTH = "Microseconds per world and step over the count, logarithmic."
LIMITS = (
    "Laws have their default numbers; stiffer ground needs smaller steps. The largest step is one "
    "of 14, 20 ms / n, and holds for this drop alone.",
    "MuJoCo's contact has other softness and friction than any of the laws: it is a peer in "
    "speed, not an oracle.",
    "Figures of a machine that others use vary by a fifth; ratios by less. 'spread' in the JSON is "
    "the median turn over the best.",
)


def write_page(result: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes it as one HTML file, whole or not at all."""
    faster = {name: ratios(found["ways"]) for name, found in result["robots"].items()}
    with tempfile.TemporaryDirectory() as folder:

        def picture(name: str, drawn: Figure, caption: str) -> Picture:
            return Picture(plot.save(drawn, Path(folder, name), few_colours=True), caption)

        first: tuple[Block, ...] = ()
        if any(faster.values()):
            first = (picture("ways.png", against_peer(faster), STEPPED),)
        curves = (picture("growth.png", growth(result["growth"]), GROWTH),)
        write_html(page(result, first, curves), path)


def page(
    result: Mapping[str, Any], first: tuple[Block, ...] = (), curves: tuple[Block, ...] = ()
) -> Page:
    """The page; what is measured of a robot has a section of its own. Pictures come `first`, and
    as `curves` of growth.
    """
    cores = int(result["machine"]["cores"])
    how = HOW.format(worlds=result["worlds"], cores=cores)
    robots = [_robot(name, found) for name, found in result["robots"].items()]
    grown = Section("Growth", "growth", (Paragraph(GROWN), _growth(result["growth"]), *curves))
    gpu = (Section("GPU", "gpu", _gpu(result["gpu"])),) if result["gpu"] else ()
    limits = Section("Known limitations", "limits", tuple(map(Paragraph, LIMITS)))
    return Page(
        "heelstrike bench",
        (Paragraph(how), *map(Paragraph, [*result["notes"], *_disturbed(result)]), *first),
        (*robots, grown, *gpu, _machine(result), limits),
    )


def _disturbed(result: Mapping[str, Any]) -> list[str]:
    if result["quiet"]:
        return []
    load = f"{result['load_before']:.1f} processes"
    return [f"Others used the machine ({load} before the run): wall times, of batches, are rough."]


def _robot(name: str, found: Mapping[str, Any]) -> Section:
    about = (
        f"nv = {found['nv']}, {found['points']} contact points, steps of {1e3 * found['dt']:g} ms; "
        "where no law is named, linear-spring."
    )
    parts = (
        Section(f"{name}: ways to step", f"{name}-ways", _ways(found)),
        Section(f"{name}: laws", f"{name}-laws", _laws(found)),
        Section(f"{name}: equal accuracy", f"{name}-equal", (Paragraph(EQUAL), *_equal(found))),
        Section(
            f"{name}: memory", f"{name}-memory", (Paragraph(memory_in_words(found["memory"])),)
        ),
    )
    return Section(name, name, (Paragraph(about),), parts)


def _ways(found: Mapping[str, Any]) -> tuple[Block, ...]:
    times, rows = found["ways"], []
    for name, spent in times.items():
        theirs = _peer(times, name)
        rows.append(TableRow((name, _us(spent), _rate(1e6 / spent["us"]), _ratio(theirs, spent))))
    threads = found["threads"]
    said = f"{threads['count']} threads make {threads['ratio']:.2f} times the steps of one."
    names = ("way", "us a step", "steps a second", "x")
    return Table(names, tuple(rows), names[1:]), Paragraph(said)


def _laws(found: Mapping[str, Any]) -> tuple[Block, ...]:
    rows, times = [], found["ways"]
    for name, law in found["laws"].items():
        if law["said"]:
            rows.append(TableRow((name, "fell", *[""] * 5)))
            continue
        one, many = law["one"], law["batch"]
        cells = [_us(one), _ratio(times.get(PEER_ONE), one)]
        cells += [_us(many), _ratio(times.get(PEER_BATCH), many)]
        rows.append(TableRow((name, *cells, f"{law['cold_s']:.2f}", f"{law['cached_s']:.3f}")))
    names = ("law", "one world, us", "x", "batch, us", "x ", "cold, s", "cached, s")
    fallen = [f"{name}: {law['said']}." for name, law in found["laws"].items() if law["said"]]
    return Table(names, tuple(rows), names[1:]), *map(Paragraph, fallen)


def _equal(found: Mapping[str, Any]) -> tuple[Block, ...]:
    rows, peer = [], found["accuracy"].get("mujoco", {})
    for name, each in found["accuracy"].items():
        if each["dt"] is None:
            rows.append(TableRow((name, "none", *[""] * 5)))
            continue
        cells: list[str] = [f"{1e3 * each['dt']:.2f}", f"{1e3 * each['error']:.2f}"]
        for kind in ("one", "batch"):
            theirs = peer.get(kind)
            share = each[kind]["rate"] / theirs["rate"] if theirs else None
            cells += [_rate(each[kind]["rate"]), "" if share is None else f"{share:.1f}"]
        rows.append(TableRow((name, *cells)))
    names = ("law", "step, ms", "error, mm", "one world, s/s", "x", "batch, s/s", "x ")
    return Table(names, tuple(rows), names[1:]), *_best(found["accuracy"]), *_without(found)


def _best(found: Mapping[str, Any]) -> list[Paragraph]:
    """Which law simulates most seconds beside MuJoCo."""
    peer, said = found.get("mujoco"), []
    ours = {name: each for name, each in found.items() if each["dt"] and name != "mujoco"}
    for kind, where in (("one", "one world"), ("batch", "a batch")):
        if peer and peer[kind] and ours:
            first = max(ours, key=lambda name: ours[name][kind]["rate"])
            share = ours[first][kind]["rate"] / peer[kind]["rate"]
            said.append(f"{where}: {first}, {share:.1f} times MuJoCo ({peer['integrator']})")
    return [Paragraph(f"Most simulated seconds in {', in '.join(said)}.")] if said else []


def _without(found: Mapping[str, Any]) -> list[Paragraph]:
    """Why laws have no step."""
    return [
        Paragraph(
            f"{name}: its steps of {1e6 * GRID / FINEST:.0f} us and twice of it end "
            f"{1e3 * each['reference_error']:.2g} mm apart, so it has no reference."
            if each["reference_error"] >= TOLERANCE / 10
            else f"{name}: no step of {1e3 * GRID / PARTS[-1]:.2g} ms or more is within 1 mm."
        )
        for name, each in found["accuracy"].items()
        if each["dt"] is None
    ]


def memory_in_words(found: Mapping[str, Any]) -> str:
    """What a world takes."""
    said = [f"A world is {found['bytes_per_world']} bytes of arrays."]
    if found["peak_per_world"] is not None:
        low, high = found["worlds"]
        grown = f"{found['peak_per_world']:.0f} bytes a world from {low} to {high} worlds"
        said.append(f"The peak of a process grows by {grown}.")
    if found["growth_with_steps"] is not None:
        few, many = found["steps"]
        kib = f"{found['growth_with_steps'] / 1024:.0f} KiB"
        said.append(f"From {few} to {many} steps without a recording a process grows by {kib}.")
    return " ".join(said)


def _growth(found: Mapping[str, Any]) -> Table:
    rows = []
    for name, each in found.items():
        for k, point in enumerate(each["curve"]):
            cold = f"{point['cold_s']:.2f}" if "cold_s" in point else ""
            first = k == 0
            powers = [f"{each['us_exponent']:.2f}"] if first else [""]
            powers += [f"{each['cold_s_exponent']:.2f}"] if first and cold else [""]
            label = name if first else ""
            rows.append(
                TableRow((label, f"{point['count']:.0f}", _three(point["us"]), cold, *powers))
            )
    names = ("with", "count", "us a step", "compiled, s", "us ~ count^", "s ~ count^")
    return Table(names, tuple(rows), names[1:])


def _gpu(found: Mapping[str, Any]) -> tuple[Block, ...]:
    rows = []
    for robot, made in found.items():
        for name, each in made.items():
            if each is None:
                continue
            said = each.get("said") or f"{1e-6 * each['steps_per_s']:.1f}"
            built = "" if "said" in each else f"{each['built_s']:.1f}"
            rows.append(TableRow((robot, name, said, built)))
    names = ("robot", "what", "million steps a second", "built, s")
    return (Table(names, tuple(rows), names[2:]),)


def _machine(result: Mapping[str, Any]) -> Section:
    rows = [TableRow((name, value)) for name, value in result["machine"].items()]
    busy = "quiet" if result["quiet"] else "in use by others"
    rows.append(TableRow(("load before", f"{result['load_before']:.2f}, {busy}")))
    rows.append(TableRow(("date", f"{result['date']}, in {result['took_s']:.0f} s")))
    return Section(
        "Machine, versions, command",
        "machine",
        (Paragraph(result["command"], code=True), Table(("what", "is"), tuple(rows))),
    )


def _peer(times: Mapping[str, Any], name: str) -> Mapping[str, float] | None:
    """MuJoCo's time on as many threads as a way takes."""
    alone = name.startswith("one world") or name.endswith("one thread")
    return times.get(PEER_ONE if alone else PEER_BATCH)


def ratios(times: Mapping[str, Any]) -> dict[str, float]:
    """Of our ways to MuJoCo's, where it was measured."""
    peers = {name: _peer(times, name) for name in times if name not in (PEER_ONE, PEER_BATCH)}
    return {name: peer["us"] / times[name]["us"] for name, peer in peers.items() if peer}


def _ratio(theirs: Mapping[str, float] | None, ours: Mapping[str, float]) -> str:
    return "" if theirs is None else f"{theirs['us'] / ours['us']:.1f}"


def _us(spent: Mapping[str, float]) -> str:
    return _three(spent["us"])


def _rate(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{_three(value / size)} {unit}"
    return _three(value)


def _three(value: float) -> str:
    """Three digits, zeros too: 21.0, 0.280, 212."""
    return f"{value:.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")
