"""Hostile inputs by seed against one rule: a sentence, or a result that is right.

tests/fuzz holds the kinds of cases and their oracles. Hypothesis chooses the seeds, the same ones
each time; the nightly run takes more of them, and `python -m benchmarks.fuzz` fresh ones.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import KINDS

CASES = {
    "robot": 150, "scene": 110, "file": 120, "message": 200, "call": 220, "command": 100,
    "option": 100,
}  # fmt: skip
"""Number of cases of each kind: 1,000 together."""
MORE = 20
"""How many times as many cases the nightly run takes."""


def run(kind: str, number: int, first: int) -> None:
    @seed(first)
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**48).map(Random))
    def judged(random: Random) -> None:
        assert KINDS[kind](random) in ("taken", "refused")

    judged()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_or_a_right_result(kind):
    run(kind, CASES[kind], 1)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_many_more(kind):
    run(kind, MORE * CASES[kind], 2)
