"""The page of `heelstrike bench`: the shell shows its tables, a browser also its figures."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.bench.accuracy import FINEST, GRID, PARTS, TOLERANCE
from heelstrike.bench.steps import PEER_BATCH, PEER_ONE
from heelstrike.view import plot
from heelstrike.view.figures.bench import against_peer
from heelstrike.view.pages.html import write_html
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD = (
    "A robot stands at rest on its feet; every contender uses the time step of the robot's file. "
    "Contenders take turns in one run, and the best turn of each counts. One world: CPU time of "
    "one thread. Batch: {worlds} worlds on all {cores} cores, wall time. MuJoCo runs mj_step and "
    "mujoco.rollout on the same file with its own solver settings. 'x' is MuJoCo's time over ours "
    "on as many threads, of batches by CPU time; where turns differ by half or more, the spread is "
    "stated and no bar is drawn."
)
EQUAL_ACCURACY = (
    "The robot falls 1 cm and stands for 1 s. Each simulator uses the largest time step that keeps "
    "the base within 1 mm of its own converged path. The table shows simulated seconds per second "
    "of the whole run."
)
WAYS_CAPTION = "Ways to step a robot that stands on its feet; 1 is the speed of MuJoCo."
LIMITATIONS = (
    "Laws have their default parameters; stiffer ground needs smaller steps. The largest step is "
    "one of 14, 20 ms / n, and is valid for this drop alone.",
    "MuJoCo's contact has another compliance and friction than the laws here: it is a reference "
    "for speed, not for accuracy.",
    "Times on a machine that others use vary by a fifth, ratios by less. 'spread' in the JSON is "
    "the median turn over the best.",
)
MAX_SPREAD = 1.5
"""Median turn over the best above which a ratio is marked and not drawn [-]."""
Result = Mapping[str, Any]
"""A part of the JSON of `heelstrike bench`."""


def write_page(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the page as one HTML file, completely or not at all."""
    faster = {name: ratios(found["ways"]) for name, found in result["robots"].items()}
    with tempfile.TemporaryDirectory() as folder:

        def picture(name: str, drawn: Figure, caption: str) -> Picture:
            return Picture(plot.save(drawn, Path(folder, name), few_colours=True), caption)

        first: tuple[Block, ...] = ()
        if any(faster.values()):
            first = (picture("ways.png", against_peer(faster), WAYS_CAPTION),)
        write_html(page(result, first), path)


def page(result: Result, first: tuple[Block, ...] = ()) -> Page:
    """Return the page, a section for each robot; `first` holds pictures for the introduction."""
    cores = int(result["machine"]["cores"])
    method = METHOD.format(worlds=result["worlds"], cores=cores)
    robots = [_robot(name, found) for name, found in result["robots"].items()]
    gpu = (Section("GPU", "gpu", (gpu_table(result["gpu"]),)),) if result["gpu"] else ()
    limits = Section("Known limitations", "limits", tuple(map(Paragraph, LIMITATIONS)))
    return Page(
        "heelstrike bench",
        (Paragraph(method), *map(Paragraph, [*result["notes"], *_load_note(result)]), *first),
        (*robots, *gpu, _machine(result), limits),
    )


def _load_note(result: Result) -> list[str]:
    if result["quiet"]:
        return []
    load = f"{result['load_before']:.1f} processes"
    return [
        f"The machine was in use by others ({load} before the run), so wall times of batches are "
        "rough."
    ]


def _robot(name: str, found: Result) -> Section:
    about = (
        f"nv = {found['nv']}, {found['points']} contact points, time step "
        f"{1e3 * found['dt']:g} ms; the law is linear-spring unless another is named."
    )
    parts = (
        Section(f"{name}: ways to step", f"{name}-ways", _ways(found)),
        Section(f"{name}: laws", f"{name}-laws", _laws(found)),
        Section(
            f"{name}: equal accuracy", f"{name}-equal", (Paragraph(EQUAL_ACCURACY), *_equal(found))
        ),
        Section(
            f"{name}: memory", f"{name}-memory", (Paragraph(memory_in_words(found["memory"])),)
        ),
    )
    return Section(name, name, (Paragraph(about),), parts)


def _ways(found: Result) -> tuple[Block, ...]:
    times, rows = found["ways"], []
    for name, spent in times.items():
        theirs = _peer(times, name)
        rows.append(TableRow((name, _us(spent), _rate(1e6 / spent["us"]), _ratio(theirs, spent))))
    threads = found["threads"]
    speedup = f"{threads['count']} threads are {threads['ratio']:.2f} times as fast as one."
    names = ("way", "us per step", "steps per second", "x")
    return Table(names, tuple(rows), names[1:]), Paragraph(speedup)


def _laws(found: Result) -> tuple[Block, ...]:
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


def _equal(found: Result) -> tuple[Block, ...]:
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
    return Table(names, tuple(rows), names[1:]), *_best(found["accuracy"]), *_without_step(found)


def _best(found: Result) -> list[Paragraph]:
    """Return a sentence on the fastest law at equal accuracy, relative to MuJoCo."""
    peer, best = found.get("mujoco"), []
    ours = {name: each for name, each in found.items() if each["dt"] and name != "mujoco"}
    for kind, where in (("one", "one world"), ("batch", "a batch")):
        if peer and peer[kind] and ours:
            first = max(ours, key=lambda name: ours[name][kind]["rate"])
            share = ours[first][kind]["rate"] / peer[kind]["rate"]
            best.append(f"{first} in {where}, {share:.1f} times MuJoCo ({peer['integrator']})")
    return [Paragraph(f"Fastest at equal accuracy: {'; '.join(best)}.")] if best else []


def _without_step(found: Result) -> list[Paragraph]:
    """Return the reasons why laws have no step."""
    return [
        Paragraph(
            f"{name}: no converged path, as its runs with steps of {1e6 * GRID / FINEST:.0f} us "
            f"and twice of it differ by {1e3 * each['reference_error']:.2g} mm."
            if each["reference_error"] >= TOLERANCE / 10
            else f"{name}: no step of {1e3 * GRID / PARTS[-1]:.2g} ms or more stays within 1 mm."
        )
        for name, each in found["accuracy"].items()
        if each["dt"] is None
    ]


def memory_in_words(found: Result) -> str:
    """Return sentences on the memory per world and the growth of a process."""
    sentences = [f"The arrays of a world take {found['bytes_per_world']} bytes."]
    if found["peak_per_world"] is not None:
        low, high = found["worlds"]
        grown = f"{found['peak_per_world']:.0f} bytes per world from {low} to {high} worlds"
        sentences.append(f"The peak memory of a process grows by {grown}.")
    if found["growth_with_steps"] is not None:
        few, many = found["steps"]
        kib = f"{found['growth_with_steps'] / 1024:.0f} KiB"
        sentences.append(
            f"From {few} to {many} steps without a recording, a process grows by {kib}."
        )
    return " ".join(sentences)


def gpu_table(found: Result) -> Table:
    """Return the table of GPU speeds by robot and law, or why a law was not measured."""
    rows = []
    for robot, made in found.items():
        for name, each in made.items():
            if each is None:
                continue
            speed = each.get("said") or f"{1e-6 * each['steps_per_s']:.1f}"
            built = "" if "said" in each else f"{each['built_s']:.1f}"
            rows.append(TableRow((robot, name, speed, built)))
    names = ("robot", "law", "million steps per second", "built, s")
    return Table(names, tuple(rows), names[2:])


def _machine(result: Result) -> Section:
    rows = [TableRow((name, value)) for name, value in result["machine"].items()]
    busy = "quiet" if result["quiet"] else "in use by others"
    rows.append(TableRow(("load before the run", f"{result['load_before']:.2f}, {busy}")))
    rows.append(TableRow(("date", f"{result['date']}, in {result['took_s']:.0f} s")))
    return Section(
        "Machine, versions, command",
        "machine",
        (Paragraph(result["command"], code=True), Table(("property", "value"), tuple(rows))),
    )


def _peer(times: Result, name: str) -> Mapping[str, float] | None:
    """Return MuJoCo's time on as many threads as a way to step uses."""
    alone = name.startswith("one world") or name.endswith("one thread")
    return times.get(PEER_ONE if alone else PEER_BATCH)


def ratios(times: Result) -> dict[str, float]:
    """Return MuJoCo's time over ours for each way to step that was measured steadily."""
    peers = {name: _peer(times, name) for name in times if name not in (PEER_ONE, PEER_BATCH)}
    return {
        name: _over(peer, times[name])
        for name, peer in peers.items()
        if peer and is_steady(peer, times[name])
    }


def is_steady(*spent: Mapping[str, float]) -> bool:
    """Return whether the turns of contenders differ so little that their ratio means something."""
    return all(each.get("spread", 1.0) <= MAX_SPREAD for each in spent)


def _over(theirs: Mapping[str, float], ours: Mapping[str, float]) -> float:
    """Return the ratio of two times: of CPU time where both have it, since pools may starve."""
    clock = "cpu_us" if "cpu_us" in theirs and "cpu_us" in ours else "us"
    return theirs[clock] / ours[clock]


def _ratio(theirs: Mapping[str, float] | None, ours: Mapping[str, float]) -> str:
    if theirs is None:
        return ""
    spread = max(each.get("spread", 1.0) for each in (theirs, ours))
    doubt = "" if is_steady(theirs, ours) else f" (spread {spread:.1f})"
    return f"{_over(theirs, ours):.1f}{doubt}"


def _us(spent: Mapping[str, float]) -> str:
    return _three(spent["us"])


def _rate(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{_three(value / size)} {unit}"
    return _three(value)


def _three(value: float) -> str:
    """Format a number with three digits, including zeros: 21.0, 0.280, 212."""
    return f"{value:.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")
