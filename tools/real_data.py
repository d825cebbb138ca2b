"""Fits laws on the measured data sets, and writes docs/real-data.md from the numbers.

    HEELSTRIKE_DATA=... python tools/real_data.py [SET ...]   # fit, judge, draw, fill the page
    python tools/real_data.py --fill                          # no fit: the page from what is kept

What a fit found is kept in src/heelstrike/validation/fits/SET.json: parameters, scores, verdict and
checksums of the cases that were trained on, so that `heelstrike validate SET --data FOLDER` judges
other files with it. In docs/real-data.md and README.md this command writes what stands between
<!-- generated: KIND SET --> and <!-- end -->; KINDS has them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heelstrike.validation import kept
from heelstrike.validation.sets import SETS
from heelstrike.validation.tables import markdown
from heelstrike.validation.validate import validate
from heelstrike.view.figures.validation import write_figures

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "docs" / "real-data.md", ROOT / "docs" / "identify.md")
IMAGES = ROOT / "docs" / "images"
BLOCK = re.compile(
    r"(?P<head><!-- generated: (?P<kind>\w+) (?P<name>[\w-]+) -->\n).*?(?P<tail><!-- end -->)",
    re.DOTALL,
)

Kept = Mapping[str, Any]


def fit(name: str) -> None:
    """Fit and judge all models of a set; keep the numbers and draw the pictures."""
    found = validate(name)
    print(found, flush=True)
    values = {**found.as_dict(), "trained": list(found.trained)}
    kept.FOLDER.mkdir(exist_ok=True)
    text = json.dumps(values, indent=1, allow_nan=False)
    text = re.sub(r"\s*\n\s+(?=-?\d+,?\n)|(?<=\d)\n\s+(?=\])", " ", text)  # lists of numbers: a row
    (kept.FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    write_figures(found, IMAGES)


def _verdict(values: Kept) -> str:
    return "\n".join(f"- {sentence}" for sentence in values["verdict"])


def _about(values: Kept) -> str:
    """How it was fitted and judged, in numbers."""
    effort, cpu = values["effort"], sum(m["fit"]["seconds"] for m in values["models"].values())
    measured = "; ".join(f"{name} {value}" for name, value in values["calibration"].items())
    return (
        f"{values['title']}. {values['cases']} held-out cases; each model: {effort['sets']} sets "
        f"of parameters on {min(effort['cases'], len(values['trained']))} of "
        f"{len(values['trained'])} training cases, seed {effort['seed']}; all searches together "
        f"{cpu / 60:.0f} CPU minutes. Measured on the training cases: {measured}."
    )


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


KINDS: dict[str, Callable[[Kept], str]] = {
    "about": _about,
    "table": markdown,
    "verdict": _verdict,
    "unresolved": _unresolved,
}


def fill(text: str) -> str:
    """Return a page with its blocks written anew; those of other tools stay as they are."""

    def block(match: re.Match[str]) -> str:
        if match["name"] not in SETS:
            return match[0]
        made = KINDS[match["kind"]](kept.read(match["name"]))
        return f"{match['head']}{made}\n{match['tail']}"

    return BLOCK.sub(block, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=list(SETS), help="default: all")
    parser.add_argument("--fill", action="store_true", help="write the pages only, no fit")
    chosen = parser.parse_args()
    for name in [] if chosen.fill else chosen.sets:
        fit(name)
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
