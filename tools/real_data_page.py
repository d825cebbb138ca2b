"""Writes the numbers of docs/real-data.md from what fits, protocols and calibrations have kept.

    python tools/real_data.py --fill

In the pages this writes

- a number that is followed by its set and its name: 9.604<!-- cube: gravity [m/s2] -->, from what
  the training cases show (`calibration` of the set) and from the constants of its module, SETTINGS;
- what stands between <!-- generated: KIND SET --> and <!-- end -->; KINDS has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.validation import cassie, cassie_landing, cube, elbow, icub, kept, square
from heelstrike.validation.candidates import MASS
from heelstrike.validation.icub_base import CUTOFF, SLOW
from heelstrike.validation.icub_models import SPIN_UP
from heelstrike.validation.icub_recording import DELAY
from heelstrike.validation.sets import SETS
from heelstrike.validation.tables import markdown

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
PROTOCOL = RESULTS / "icub-protocol.json"
"""Written by tools/icub_protocol.py."""
CUBES = RESULTS / "cube-body.json"
"""Written by tools/cube_body.py."""
FOLDS = RESULTS / "cube-folds.json"
"""Written by tools/cube_folds.py."""
ENGINES = RESULTS / "cube-engines.json"
"""Measured once with other engines."""
RESTARTS = RESULTS / "elbow-restarts.json"
"""Written by tools/elbow_restarts.py."""
UNITS = {
    elbow.RADIUS: " [m]",
    elbow.THICKNESS: " [m]",
    "hinge.damping": " [N m s/rad]",
    "hinge.friction": " [N m]",
}
"""Of what is found of the elbow."""
BLOCK = re.compile(
    r"(?P<head><!-- generated: (?P<kind>\w+) (?P<name>[\w-]+) -->\n).*?(?P<tail><!-- end -->)",
    re.DOTALL,
)
NUMBER = re.compile(r"(?P<number>[-+.\de]+)<!-- (?P<name>[\w-]+): (?P<quantity>[^>]*?) -->")

Kept = Mapping[str, Any]

SETTINGS: Mapping[str, Mapping[str, float]] = {
    "cube": {
        "steps a second": cube.RATE * cube.SUBSTEPS,
        "scale of position [%]": cube.SCALES["position"],
        "scale of rotation [deg]": cube.SCALES["rotation"],
        "half of the width [mm]": 1e3 * cube.HALF,
        "gravity [m/s2]": cube.MEASURED.gravity,
        "lengths short by [%]": 100 * (1 - cube.SHORT),
        "stated inertia [kg m2]": cube.NOMINAL.inertia,
        "inertia [kg m2]": cube.MEASURED.inertia / cube.SHORT**2,
        "offset [mm]": 1e3 * cube.MEASURED.offset / cube.SHORT,
        "inertia of a shell [kg m2]": 5 / 18 * MASS * (2 * cube.HALF) ** 2,
    },
    "square": {
        "loss of speed [1/s]": square.DRAG,
        "gravity [m/s2]": square.GRAVITY,
        "ground [mm]": 1e3 * square.GROUND,
        "slope [mm/m]": 1e3 * square.SLOPE,
        "marker [deg]": float(np.degrees(square.TURN)),
        "compared [s]": square.COMPARED / square.RATE,
    },
    "elbow": {
        "lengths short by [%]": 100 * (1 - elbow.SHORT),
        "compared [s]": elbow.COMPARED / elbow.RATE,
    },
    "icub-walking": {
        "window [s]": icub.Walking.window,
        "spin-up [s]": SPIN_UP,
        "low pass [Hz]": CUTOFF,
        "touch-down [s]": icub.TOUCHING,
        "slow [Hz]": SLOW,
        "delay [ms]": 1e3 * DELAY,
        "encoder [mrad]": 1e3 * icub.ENCODER * 12**0.5,
    },
    "icub-sway": {"window [s]": icub.Swaying.window, "every [s]": icub.Swaying.every},
    "cassie": {
        "before [ms]": 1e3 * cassie_landing.BEFORE / cassie_landing.RATE,
        "predicted [ms]": 1e3 * cassie_landing.AFTER / cassie_landing.RATE,
        "impact [ms]": 1e3 * cassie.IMPACT / cassie_landing.RATE,
        "softer": cassie.SOFTER,
        "largest mu": cassie.ROUGH[1],
    },
}
"""Constants of the sets' modules that the page names."""


def number(name: str, quantity: str) -> str:
    """Return a number of a set as the page writes it."""
    values = kept.read(name)
    trained = values["trained"]
    known = {
        **values["calibration"],
        **SETTINGS.get(name, {}),
        "cases": values["cases"],
        "trained": len(trained),
        "copies": len(trained) - len(set(trained)),
    }
    if name == "elbow":
        known["restarted tosses"] = json.loads(RESTARTS.read_text(encoding="utf-8"))["tosses"]
    if name == "icub-walking":
        known |= json.loads(PROTOCOL.read_text(encoding="utf-8"))["measured"]
    found = known[quantity]
    return str(found) if isinstance(found, str | int) else f"{found:.4g}"


def _verdict(values: Kept) -> str:
    return "\n".join(f"- {sentence}" for sentence in values["verdict"])


def _about(values: Kept) -> str:
    """How it was fitted and judged, in numbers."""
    effort, cpu = values["effort"], sum(m["fit"]["seconds"] for m in values["models"].values())
    measured = "; ".join(f"{name} {_listed(x)}" for name, x in values["calibration"].items())
    return (
        f"{values['title']}. {values['cases']} held-out cases; each model: {effort['sets']} sets "
        f"of parameters on {min(effort['cases'], len(values['trained']))} of "
        f"{len(values['trained'])} training cases, seed {effort['seed']}; all searches together "
        f"{cpu / 60:.0f} CPU minutes. Measured on the training cases: {measured}."
    )


def _listed(value: object) -> str:
    """A number, or several without brackets, which Markdown would take for a link."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _unresolved(values: Kept) -> str:
    """What the data do not determine of each model."""
    lines = [
        f"- {name}: {'; '.join(words)}."
        for name, model in values["models"].items()
        if (
            words := [
                *model["fit"]["unresolved"],
                *(f"{path} lies at an end of its range" for path in model["fit"]["at_end"]),
            ]
        )
    ]
    return "\n".join(lines) or "- Every parameter is determined to a factor of two."


def _phases(values: Kept) -> str:
    """Mean errors by phase, of measures that have an aim, or else of the first."""
    aimed = [name for name, one in values["measures"].items() if one["aim"] is not None]
    shown = aimed or list(values["measures"])[:1]
    models = {name: model["phases"] for name, model in values["models"].items()}
    if "phases" in values["floor"]:
        models["noise of the start"] = values["floor"]["phases"]
    heads = [(name, phase) for name in shown for phase in next(iter(models.values()))[name]]
    lines = ["|  | " + " | ".join(f"{name}, {phase}" for name, phase in heads) + " |"]
    lines.append("| --- |" + " ---: |" * len(heads))
    for model, found in models.items():
        cells = (found[name].get(phase) for name, phase in heads)
        lines.append(
            f"| {model} | " + " | ".join("" if x is None else f"{x:.3g}" for x in cells) + " |"
        )
    return "\n".join(lines)


def _advice() -> str:
    """How often each law is as good as the best, and beside MuJoCo, over all sets and measures."""
    signs: dict[str, dict[str, list[int]]] = {}
    found = [kept.read(name) for name in SETS if (kept.FOLDER / f"{name}.json").exists()]
    for values in found:
        for laws in values["ranks"].values():
            for law, own in laws.items():
                for other, sign in own.items():
                    signs.setdefault(law, {}).setdefault(other, []).append(sign)
    rows = sorted(signs.items(), key=lambda item: sum(item[1]["best"]) / len(item[1]["best"]))
    lines = ["| law | judged by | as good as the best | better than MuJoCo | equal | worse |"]
    lines.append("| --- |" + " ---: |" * 5)
    for law, own in rows:
        best, peer = own["best"], own["mujoco"]
        cells = (len(best), best.count(0), *(peer.count(sign) for sign in (-1, 0, 1)))
        lines.append(f"| {law} | {' | '.join(map(str, cells))} |")
    most = len(rows[0][1]["best"])
    good = [law for law, own in rows if own["best"].count(0) == rows[0][1]["best"].count(0)]
    last, fewest = rows[-1][0], rows[-1][1]["best"].count(0)
    words = (
        f"Over {len(found)} sets and {most} measures, "
        f"{' and '.join(good)} {'is' if len(good) == 1 else 'are'} within two standard errors of "
        f"the best law most often, {rows[0][1]['best'].count(0)} times; {last} least often, "
        f"{fewest} times. Start with {good[0]}; take another law where its row says why, and "
        "measure friction first: it is what tosses and drops determine best."
    )
    return "\n".join([words, "", *lines])


def _body(values: Kept) -> str:
    """What was found of the elbow itself, and the loss of each radius of corners and wall."""
    body = json.loads(elbow.BODY.read_text(encoding="utf-8"))
    lines = ["| found with the law | value | 95 % |", "| --- | ---: | --- |"]
    for path, value in body["values"].items():
        ends = body["intervals"].get(path)
        span = f"{ends[0]:.3g} to {ends[1]:.3g}" if ends else "loss below"
        lines.append(f"| {path}{UNITS[path]} | {value:.3g} | {span} |")
    losses = body["losses"]
    walls = list(next(iter(losses.values())))
    lines += ["", f"| loss: radius of the corners | {' | '.join(f'walls {w}' for w in walls)} |"]
    lines.append("| --- |" + " ---: |" * len(walls))
    for radius, own in losses.items():
        lines.append(f"| {radius} | {' | '.join(f'{own[w]:.3f}' for w in walls)} |")
    return "\n".join([*lines, "", *(f"- {words}." for words in body["unresolved"])])


def _protocol(values: Kept) -> str:
    """The walking iCub, each third of the walk held out."""
    found = json.loads(PROTOCOL.read_text(encoding="utf-8"))
    names = list(found["scores"])

    def row(words: str, own: Kept) -> str:
        cells = (f"{own[name]['mean']:.3g} +- {own[name]['error']:.2g}" for name in names)
        return f"| {words} | {' | '.join(cells)} |"

    lines = [f"| law | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    lines += [row(law, own) for law, own in found["laws"].items()]
    lines.append(row("chosen on training windows", found["scores"]))
    for k, fold in enumerate(found["folds"]):
        cells = " | ".join(f"{fold[name]:.3g}" for name in names)
        lines.append(f"| third {k + 1}, {fold['windows']} windows: {fold['law']} | {cells} |")
    return "\n".join(lines)


def _folds(values: Kept) -> str:
    """Laws on all tosses of the cube, each fold held out in turn."""
    found = json.loads(FOLDS.read_text(encoding="utf-8"))
    units = {name: one["unit"] for name, one in values["measures"].items()}
    which = ", ".join(map(str, found["folds"]))
    heads = [
        f"{name} [{unit}] | folds {which} | corrected | turn known" for name, unit in units.items()
    ]
    lines = ["|  | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (4 * len(heads))]
    for law, own in found["scores"].items():
        cells = (
            f"{own[name]['mean']:.3g} +- {own[name]['error']:.2g} | "
            + ", ".join(f"{x:.3g}" for x in own[name]["folds"])
            + "".join(
                f" | {own[name][kind]['mean']:.3g} +- {own[name][kind]['error']:.2g}"
                for kind in ("corrected", "told")
            )
            for name in units
        )
        lines.append(f"| {law} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cubes(values: Kept) -> str:
    """Cubes that were compared on training tosses."""
    rows = json.loads(CUBES.read_text(encoding="utf-8"))["rows"]
    lines = ["| cube | position, mean [% of width] | rotation, mean [deg] | loss |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for words, own in rows.items():
        cells = f"{own['position']:.1f} | {own['rotation']:.1f} | {own['loss']:.3f}"
        lines.append(f"| {words} | {cells} |")
    return "\n".join(lines)


def _restarts(values: Kept) -> str:
    """Laws on the elbow from the start of a toss, and from a state after its first impact."""
    scores = json.loads(RESTARTS.read_text(encoding="utf-8"))["scores"]
    kinds = "from the start", "after the first impact", "noise"
    heads = [
        f"{name} [{one['unit']}], from the start | after the first impact | noise of that state"
        for name, one in values["measures"].items()
    ]
    lines = ["|  | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(kinds) * len(heads))]
    for law, own in scores.items():
        cells = (
            f"{own[name][kind]['mean']:.3g} +- {own[name][kind]['error']:.2g}"
            for name in values["measures"]
            for kind in kinds
        )
        lines.append(f"| {law} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _engines(values: Kept) -> str:
    """Other engines on the tosses of the cube."""
    rows = json.loads(ENGINES.read_text(encoding="utf-8"))["rows"]
    heads = list(next(iter(rows.values())))
    lines = [f"| engine, parameters | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for engine, own in rows.items():
        cells = " | ".join(f"{own[head][0]:g} / {own[head][1]:g}" for head in heads)
        lines.append(f"| {engine} | {cells} |")
    return "\n".join(lines)


KINDS: dict[str, Callable[[Kept], str]] = {
    "bodies": _cubes,
    "engines": _engines,
    "folds": _folds,
    "restarts": _restarts,
    "body": _body,
    "protocol": _protocol,
    "about": _about,
    "table": markdown,
    "phases": _phases,
    "verdict": _verdict,
    "unresolved": _unresolved,
}


def fill(text: str) -> str:
    """Return a page with its blocks written anew; those of other tools stay as they are."""

    def block(match: re.Match[str]) -> str:
        if (match["kind"], match["name"]) == ("advice", "all"):
            return f"{match['head']}{_advice()}\n{match['tail']}"
        if match["name"] not in SETS:
            return match[0]
        made = KINDS[match["kind"]](kept.read(match["name"]))
        return f"{match['head']}{made}\n{match['tail']}"

    def inline(match: re.Match[str]) -> str:
        if match["name"] not in SETS:
            return match[0]
        made = number(match["name"], match["quantity"])
        return f"{made}<!-- {match['name']}: {match['quantity']} -->"

    return NUMBER.sub(inline, BLOCK.sub(block, text))
