"""Sliders of the laws' parameters: physical ones in words and units, numerical ones apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from heelstrike.parameters import parameters
from heelstrike.scene.files.schema import field_notes
from heelstrike.scene.scene import Scene
from heelstrike.simulate.parameters import Parameters

WORDS = {
    "restitution": "restitution",
    "e": "restitution",
    "mu": "friction coefficient",
    "mu_s": "static friction",
    "mu_k": "sliding friction",
    "k": "stiffness",
    "c": "damping",
    "k_t": "bristle stiffness",
    "c_t": "bristle damping",
    "alpha": "restitution loss",
    "alpha_restitution": "the same on the way out",
    "kp": "acceleration per depth",
    "kv": "deceleration per speed",
    "thickness": "membrane thickness",
    "rolling": "rolling resistance",
    "spinning": "spinning resistance",
    "smoothing": "pass compliance",
    "correction": "push-out rate",
    "allowance": "depth left at rest",
    "lam": "weight of impulses",
    "epsilon": "threshold",
}
"""Words for parameters of the bundled laws, by name."""
PARTS = {"membrane": "membrane", "rigid": "floor", "patch": "patch"}
"""Words for parts of a law that have parameters of the same names."""
SOLVER = ("smoothing", "correction", "allowance", "lam", "epsilon")
"""Parameters that regularise a law or serve its solver."""


@dataclass(frozen=True)
class LawSlider:
    """The slider of a law's parameter."""

    path: str
    value: float
    low: float
    high: float
    meaning: str
    """Meaning of the parameter, with its unit in brackets if it has one."""
    unit: str = ""

    @property
    def numerical(self) -> bool:
        """Whether the parameter belongs to the solver rather than to the material."""
        return self.path.rpartition(".")[2] in SOLVER

    @property
    def label(self) -> str:
        """What the parameter is in words, and its unit."""
        _, *parts, name = self.path.split(".")
        words = WORDS.get(name) or self.meaning.partition(" [")[0].partition(";")[0] or name
        part = next((PARTS[part] for part in parts if part in PARTS), "")
        words = words if words.startswith(part) else f"{part} {words}"
        return f"{words} [{self.unit}]" if self.unit else words

    @property
    def hint(self) -> str:
        """The meaning, and the path by which files and the command line name the parameter."""
        return f"{self.meaning or 'parameter of the law'}: {self.path}"


def law_sliders(scene: Scene, values: Parameters) -> dict[str, list[LawSlider]]:
    """Return the sliders of every law's run-time parameters, by the surface or body it is on."""
    found: dict[str, list[LawSlider]] = {}
    for owner, law in scene.laws.items():
        for inner in parameters(law):
            path = f"{owner}.{inner}"
            if path in values and values.size(path) == 1:
                slider = _law_slider(path, float(values[path][0]), law)
                found.setdefault(owner, []).append(slider)
    return found


def law_words(law: object) -> str:
    """Return the name of a law; of an elastic one, the names of its parts."""
    parts = [getattr(law, part, None) for part in ("normal", "friction")]
    own = [type(law).__name__] if parts[0] is None else []
    shown = [*own, *(type(part).__name__ for part in parts if part is not None)]
    return ", ".join(shown)


def _law_slider(path: str, value: float, law: object) -> LawSlider:
    """Return a slider: around the value if it has a unit, else from 0 to at least 1."""
    _, *nodes, name = path.split(".")
    node: Any = reduce(getattr, nodes, law)
    kind: type = type(node)
    meaning = field_notes(kind).get(name, "")
    unit = meaning.rpartition("[")[2].rstrip("]") if meaning.endswith("]") else ""
    exponent = getattr(node, "n", None)
    if exponent is not None:  # N/m^n
        unit = unit.replace("m^n", "m" if exponent == 1 else f"m^{exponent:g}")
    if value > 0 and unit:
        return LawSlider(path, value, value / 10, 4 * value, meaning, unit)
    low, high = min(0.0, 2 * value), max(1.0, 2 * value)
    return LawSlider(path, value, low, high, meaning, unit)
