"""Fits laws on the measured data sets, and writes docs/real-data.md from the numbers.

    HEELSTRIKE_DATA=... python tools/real_data.py [SET ...]   # fit, judge, draw, fill the page
    HEELSTRIKE_DATA=... python tools/real_data.py SET --laws rigid,implicit    # fit only these
    HEELSTRIKE_DATA=... python tools/real_data.py --judge     # no fit: judge what is kept, draw
    python tools/real_data.py --fill                          # neither: the page from what is kept

What a fit found is kept in src/heelstrike/validation/fits/SET.json: parameters, scores, verdict and
checksums of the cases that were trained on, so that `heelstrike validate SET --data FOLDER` judges
other files with it. tools/real_data_page.py has what is written into the pages.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from real_data_page import fill

from heelstrike.validation import elbow, kept
from heelstrike.validation.elbow import Elbow
from heelstrike.validation.files import training_file
from heelstrike.validation.sets import SETS, measured_set
from heelstrike.validation.validate import FOLD, validate
from heelstrike.view.figures.validation import write_figures

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "docs" / "real-data.md", ROOT / "docs" / "identify.md")
IMAGES = ROOT / "docs" / "images"

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
    old, about = kept.read(name), measured_set(name)
    path = training_file(about.stem)
    cases = about.read(path)
    training = cases.chosen(cases.ids % about.parts != FOLD)
    own = {
        "effort": old["effort"],
        "trained": kept.checksums(about, training),
        "calibration": about.calibration(training),
    }
    keep(name, {**old, **own})
    found = validate(name, data=path)
    keep(name, {**found.as_dict(), **own})
    write_figures(found, IMAGES)


def keep(name: str, values: Kept) -> None:
    """Write what is kept of a set, rows of numbers in a line each."""
    kept.FOLDER.mkdir(exist_ok=True)
    text = json.dumps(values, indent=1, allow_nan=False)
    text = re.sub(r"\s*\n\s+(?=-?\d+,?\n)|(?<=\d)\n\s+(?=\])", " ", text)  # lists of numbers: a row
    (kept.FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


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
