"""Fits laws on the measured data sets, and writes docs/real-data.md from the numbers.

    HEELSTRIKE_DATA=... python tools/real_data.py [SET ...]   # fit, judge, draw, fill the page
    HEELSTRIKE_DATA=... python tools/real_data.py SET --laws rigid,implicit    # fit only these
    HEELSTRIKE_DATA=... python tools/real_data.py --judge     # no fit: judge what is kept, draw
    python tools/real_data.py --fill                          # neither: the page from what is kept

What a fit found is kept in src/heelstrike/validation/fits/SET.json: parameters, scores, verdict and
checksums of the cases that were trained on, so that `heelstrike validate SET --data FOLDER` judges
other files with it. In docs/real-data.md and README.md this command writes what stands between
<!-- generated: KIND SET --> and <!-- end -->; KINDS has them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heelstrike.validation import elbow, kept
from heelstrike.validation.elbow import Elbow
from heelstrike.validation.files import training_file
from heelstrike.validation.sets import SETS, measured_set
from heelstrike.validation.tables import markdown
from heelstrike.validation.validate import FOLD, validate
from heelstrike.view.figures.validation import write_figures

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "docs" / "real-data.md", ROOT / "docs" / "identify.md")
PROTOCOL = ROOT / "benchmarks" / "results" / "icub-protocol.json"
"""Written by tools/icub_protocol.py."""
CUBES = ROOT / "benchmarks" / "results" / "cube-body.json"
"""Written by tools/cube_body.py."""
FOLDS = ROOT / "benchmarks" / "results" / "cube-folds.json"
"""Written by tools/cube_folds.py."""
UNITS = {elbow.RADIUS: " [m]", "hinge.damping": " [N m s/rad]", "hinge.friction": " [N m]"}
"""Of what is found of the elbow; inertias are factors."""
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(
    r"(?P<head><!-- generated: (?P<kind>\w+) (?P<name>[\w-]+) -->\n).*?(?P<tail><!-- end -->)",
    re.DOTALL,
)

Kept = Mapping[str, Any]


def fit(name: str) -> None:
    """Fit and judge all models of a set; keep the numbers and draw the pictures."""
    if name == "elbow":
        cases = Elbow({}).read(training_file(Elbow.stem))
        found_body = elbow.calibrate(cases.chosen(cases.ids % Elbow.parts != FOLD))
        elbow.BODY.write_text(json.dumps(found_body, indent=1) + "\n", encoding="utf-8")
    found = validate(name)
    print(found, flush=True)
    keep(name, {**found.as_dict(), "trained": list(found.trained)})
    write_figures(found, IMAGES)


def fit_laws(name: str, laws: Sequence[str]) -> None:
    """Fit some laws of a set, and judge them beside the kept fits of the others."""
    old = kept.read(name)
    for law, found in validate(name, laws, mujoco=False).models.items():
        old["models"][law]["fit"] = found.fit.as_dict()
    keep(name, old)
    judge(name)


def judge(name: str) -> None:
    """Judge the kept parameters of a set on the held-out fold of its training file."""
    old = kept.read(name)
    found = validate(name, data=training_file(measured_set(name).stem))
    keep(
        name, {**found.as_dict(), **{key: old[key] for key in ("effort", "calibration", "trained")}}
    )
    write_figures(found, IMAGES)


def keep(name: str, values: Kept) -> None:
    """Write what is kept of a set, rows of numbers in a line each."""
    kept.FOLDER.mkdir(exist_ok=True)
    text = json.dumps(values, indent=1, allow_nan=False)
    text = re.sub(r"\s*\n\s+(?=-?\d+,?\n)|(?<=\d)\n\s+(?=\])", " ", text)  # lists of numbers: a row
    (kept.FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


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
    """What was found of the elbow itself, and the loss of each radius of its corners."""
    body = json.loads(elbow.BODY.read_text(encoding="utf-8"))
    losses = ", ".join(f"{radius} {loss:.3f}" for radius, loss in body["losses"].items())
    lines = ["| found with the law | value | 95 % |", "| --- | ---: | --- |"]
    for path, value in body["values"].items():
        ends = body["intervals"].get(path)
        if ends or path == elbow.RADIUS:
            span = f"{ends[0]:.3g} to {ends[1]:.3g}" if ends else f"loss at {losses}"
            unit = {
                elbow.RADIUS: " [m]",
                "hinge.damping": " [N m s/rad]",
                "hinge.friction": " [N m]",
            }
            lines.append(f"| {path}{unit.get(path, '')} | {value:.3g} | {span} |")
    return "\n".join([*lines, "", *(f"- {words}." for words in body["unresolved"])])


def _protocol(values: Kept) -> str:
    """The walking iCub, its set-up chosen on training windows alone."""
    found = json.loads(PROTOCOL.read_text(encoding="utf-8"))
    names = list(found["scores"])
    heads = "held out | law | what is searched with it"
    lines = [f"| {heads} | {' | '.join(names)} |", "| --- | --- | --- |" + " ---: |" * len(names)]
    for k, fold in enumerate(found["folds"]):
        words = ", ".join(f"{'' if on else 'no '}{word}" for word, on in fold["setup"].items())
        cells = " | ".join(f"{fold[name]:.3g}" for name in names)
        place = f"third {k + 1}, {fold['windows']} windows"
        lines.append(f"| {place} | {fold['law']} | {words} | {cells} |")
    means = " | ".join(
        f"{one['mean']:.3g} +- {one['error']:.2g}" for one in found["scores"].values()
    )
    lines.append(f"| all |  |  | {means} |")
    return "\n".join(lines)


def _folds(values: Kept) -> str:
    """Laws on all tosses of the cube, each fold held out in turn."""
    found = json.loads(FOLDS.read_text(encoding="utf-8"))
    units = {name: one["unit"] for name, one in values["measures"].items()}
    which = ", ".join(map(str, found["folds"]))
    heads = [f"{name} [{unit}] | folds {which}" for name, unit in units.items()]
    lines = ["|  | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (2 * len(heads))]
    for law, own in found["scores"].items():
        cells = (
            f"{own[name]['mean']:.3g} +- {own[name]['error']:.2g} | "
            + ", ".join(f"{x:.3g}" for x in own[name]["folds"])
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


KINDS: dict[str, Callable[[Kept], str]] = {
    "bodies": _cubes,
    "folds": _folds,
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

    return BLOCK.sub(block, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=list(SETS), help="default: all")
    parser.add_argument("--fill", action="store_true", help="write the pages only, no fit")
    parser.add_argument("--judge", action="store_true", help="judge kept parameters, no fit")
    parser.add_argument("--laws", help="fit only these laws, separated by commas")
    chosen = parser.parse_args()
    for name in [] if chosen.fill else chosen.sets:
        if chosen.laws:
            fit_laws(name, chosen.laws.split(","))
        else:
            (judge if chosen.judge else fit)(name)
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
