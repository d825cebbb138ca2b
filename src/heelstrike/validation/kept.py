"""Kept fits: parameters that were found on the training files, one JSON file per set.

`python tools/real_data.py` writes them. They hold parameters, scores and a checksum of each case
that was trained on, so that no case is judged that a law was fitted on; no measurement is in them.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.validation.fit import Fit
from heelstrike.validation.measured_set import Cases, MeasuredSet

FOLDER = Path(__file__).parent / "fits"


def checksums(about: MeasuredSet, cases: Cases) -> list[int]:
    """Return a checksum of what was measured in each case, the same for copies of a case."""
    rounded = np.nan_to_num(np.round(about.identity(cases), 5))
    return [zlib.crc32(np.ascontiguousarray(one).tobytes()) for one in rounded]


def read(name: str) -> dict[str, Any]:
    """Return what is kept of a set: fits, scores, checksums."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise HeelstrikeError(
            f"no parameters of the set '{name}' are kept", remedy="fit them: --refit"
        )
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def fits(name: str) -> dict[str, Fit]:
    """Return the kept parameters of a set, by model."""
    return {model: Fit.of_dict(one["fit"]) for model, one in read(name)["models"].items()}


def not_trained_on(about: MeasuredSet, cases: Cases) -> np.ndarray:
    """Return a mask of the cases that no kept fit was trained on."""
    return ~np.isin(checksums(about, cases), read(about.name)["trained"])
