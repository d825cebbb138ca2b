"""What of a robot file is simulated otherwise than the file says.

Every warning of `load` is one `Difference`, and `Robot.fidelity` holds them all: an empty tuple
means that the robot is simulated as its file says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Concern = Literal["motion", "contact", "hull", "file"]
"""motion: forces, inertia or constraints of the robot in the air; contact: what touches what, and
where; hull: a mesh collides as a convex hull that is larger, or has fewer corners; file: a remark
about the file, which changes nothing."""


@dataclass(frozen=True)
class Difference:
    """Something of a file that is simulated otherwise, or that the user should know."""

    what: str
    """A sentence that says what is simulated, or left out."""
    element: str = ""
    """Name of the element of the file, or names separated by ", "."""
    concerns: Concern = "motion"
    why: str = ""
    """Reason, where `what` has none."""

    def __str__(self) -> str:
        return f"{self.what} ({self.why})" if self.why else self.what


def lost(fidelity: Iterable[Difference], *concerns: Concern) -> list[Difference]:
    """Return the differences of some concerns; by default all that are no mere remarks."""
    wanted = concerns or ("motion", "contact", "hull")
    return [difference for difference in fidelity if difference.concerns in wanted]
