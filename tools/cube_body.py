"""Which cube was thrown: sizes, inertias and centres of mass, compared on training tosses alone.

    HEELSTRIKE_DATA=... python tools/cube_body.py    # benchmarks/results/cube-body.json

Each is fitted on two of the three training folds and judged on the third, in turn; the fold that
docs/real-data.md judges is never read. tools/real_data.py writes the table.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from heelstrike.identification.space import Space
from heelstrike.machine import machine
from heelstrike.validation.candidates import candidates
from heelstrike.validation.cube import MEASURED, NOMINAL, SHORT, Block, Cube
from heelstrike.validation.files import training_file
from heelstrike.validation.fit import FULL, fit, predict_fitted
from heelstrike.validation.models import Candidate, LawModel

RESULT = Path(__file__).parent.parent / "benchmarks" / "results" / "cube-body.json"
JUDGED, TRAINING = 1, (2, 3, 4)
"""The fold that docs/real-data.md judges, and the others."""
LINEAR = candidates()["linear-both"]


def measured(inertia: float, offset: float) -> Block:
    """Return the cube in the data's lengths; inertia [kg m^2] and offset [mm] in true ones."""
    return replace(MEASURED, inertia=SHORT**2 * inertia, offset=SHORT * 1e-3 * offset)


VARIANTS = {
    "nominal: 104.8 mm, 8.1e-4 kg m^2, 9.81 m/s^2": (NOMINAL, LINEAR),
    "lengths as measured, 8.1e-4": (measured(8.1e-4, 0), LINEAR),
    "lengths as measured, 1.1e-3": (measured(1.1e-3, 0), LINEAR),
    "9.5e-4, centre of mass 5 mm off": (measured(9.5e-4, 5), LINEAR),
    "1.1e-3, 3.5 mm off": (measured(1.1e-3, 3.5), LINEAR),
    "**1.1e-3, 5 mm off**": (measured(1.1e-3, 5), LINEAR),
    "1.1e-3, 6.5 mm off": (measured(1.1e-3, 6.5), LINEAR),
}


def judged(block: Block, chosen: Candidate) -> dict[str, float]:
    """Return mean errors and loss over all training tosses, each fold left out in turn."""
    cube = Cube(block)
    found: dict[str, list[np.ndarray]] = {"position": [], "rotation": [], "loss": []}
    for fold in TRAINING:
        others = [other for other in TRAINING if other != fold]
        cube.held = (JUDGED, fold)
        cases = cube.read(training_file(cube.stem))
        part = cases.ids % cube.parts
        model = LawModel(Space.of(chosen.ranges), cube.simulator(chosen.law))
        values = fit(cube, model, cases.chosen(np.isin(part, others)), FULL).values
        held = cases.chosen(part == fold)
        errors = cube.errors(held, predict_fitted(model, held, values))
        for name, own in errors.items():
            found[name].append(np.nanmean(own, axis=-1))
        found["loss"].append(cube.loss(held, errors))
    return {name: float(np.concatenate(own).mean()) for name, own in found.items()}


def main() -> None:
    rows = {}
    for words, (block, chosen) in VARIANTS.items():
        rows[words] = judged(block, chosen)
        print(words, rows[words], flush=True)
    made = {"rows": rows, "machine": machine()}
    RESULT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
