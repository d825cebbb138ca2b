"""How to choose a law: every law in six scenes, beside MuJoCo; the tables of docs/choosing.md.

    python -m benchmarks.choosing --json FILE [SCENE ...]      measures; scenes of FILE that are not
                                                               named stay
    python -m benchmarks.choosing --from FILE --page docs/choosing.md    writes its tables

Named laws have numbers from hs.suggest: 1 mm deep at rest, e = 0.3, of the ball 0.7.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.pages import markdown, placed
from heelstrike.measure.laws import compare_laws
from heelstrike.measure.table import GROUPS, Entry, cell, failure

SCENES = {
    "bouncing-ball": "Bouncing ball",
    "brick-on-a-ramp": "Ramp",
    "stand": "Standing humanoid",
    "humanoid-drop": "Dropped humanoid",
    "push": "Pushed humanoid",
    "box-stack": "Box stack",
}
RESTITUTION = {"bouncing-ball": 0.7}
ENTRIES = {entry.key: entry for group in GROUPS.values() for entry in group}
COLUMNS = (
    "deepest",
    "creep_normal",
    "creep_tangential",
    "chatter",
    "spread",
    "approach",
    "energy_residual",
    "peak_force",
    "stable_dt",
    "step_time",
)
"""Of a scene's table."""
SUMMARY = (
    ("bouncing-ball", "peak_force", "ball: peak"),
    ("brick-on-a-ramp", "creep_tangential", "ramp: creeps"),
    ("stand", "mean_depth", "standing: depth"),
    ("stand", "creep_tangential", "creeps"),
    ("humanoid-drop", "peak_force", "dropped: peak"),
    ("push", "deepest", "pushed: deepest"),
    ("box-stack", "stable_dt", "stack: stable dt"),
    ("stand", "stable_dt", "standing: stable dt"),
    ("stand", "step_time", "a step"),
)
"""Scene, number and head of the first table."""
MARK = "{} of benchmarks/results/choosing.json"


def measured(scenes: list[str]) -> dict[str, Any]:
    """Comparisons by scene, ready for JSON."""
    found = {}
    for name in scenes:
        values = compare_laws(
            name,
            "all",
            mujoco=True,
            restitution=RESTITUTION.get(name, 0.3),
            report=lambda law, name=name: print(name, law, flush=True),
        ).as_dict()
        for column in values["columns"]:
            for detail in ("by_point", "by_body"):
                column["yardsticks"].pop(detail)
        found[name] = values
    return found


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Markdown by name: summary, and one of each scene."""
    scenes = results["scenes"]
    return {"summary": _summary(scenes)} | {name: _table(scenes[name]) for name in SCENES}


def _summary(scenes: Mapping[str, Any]) -> str:
    heads = [f"{head} [{ENTRIES[key].unit}]" for _, key, head in SUMMARY]
    names = [column["name"] for column in scenes["stand"]["columns"]]
    rows = []
    for name in names:
        cells = [_cell(_column(scenes[scene], name), ENTRIES[key]) for scene, key, _ in SUMMARY]
        rows.append([name, *cells])
    return markdown(["law", *heads], rows)


def _table(scene: Mapping[str, Any]) -> str:
    entries = [ENTRIES[key] for key in COLUMNS]
    heads = [f"{entry.label} [{entry.unit}]" for entry in entries]
    rows = [[c["name"], *(_cell(c, entry) for entry in entries)] for c in scene["columns"]]
    return markdown(["law", *heads], rows)


def _column(scene: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return next(column for column in scene["columns"] if column["name"] == name)


def _cell(column: Mapping[str, Any], entry: Entry) -> str:
    return failure(column) or cell(column, entry)


def marked(made: Mapping[str, str]) -> dict[str, str]:
    """Return the tables by the marks of the page."""
    return {MARK.format(name): text for name, text in made.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []], help="all, if none is named")
    parser.add_argument("--json", metavar="FILE", help="measure, and write FILE")
    parser.add_argument("--from", dest="source", metavar="FILE", help="take what was measured")
    parser.add_argument("--page", metavar="FILE", help="write the tables into this page")
    options = parser.parse_args()
    if options.json:
        path = Path(options.json)
        kept = json.loads(path.read_text())["scenes"] if path.exists() else {}
        for name in options.scenes or SCENES:
            kept |= measured([name])
            result = {"scenes": kept}
            path.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        page = Path(options.page)
        results = json.loads(Path(options.source or options.json).read_text())
        page.write_text(placed(page.read_text(), marked(tables(results))))


if __name__ == "__main__":
    main()
