"""Shares of a batch on a GPU: every tile and every step exactly once."""

from __future__ import annotations

import pytest

from heelstrike.runtime.cuda.shares import MAX_SHARES, shares, steps_of_launches


@pytest.mark.parametrize("tiles", [1, 2, 7, 528, 529, 2048, 31_250])
@pytest.mark.parametrize("per_block", [1, 2])
@pytest.mark.parametrize("resident", [1, 132, 528])
def test_shares_hold_every_tile_once(tiles, per_block, resident):
    """They are as even as whole blocks allow, and one where all blocks run at once."""
    found = shares(tiles, per_block, resident)
    assert [k for own in found for k in range(own.first, own.first + own.tiles)] == [*range(tiles)]
    assert all(own.first % per_block == 0 for own in found)
    blocks = -(-tiles // per_block)
    if blocks <= resident:
        assert len(found) == 1
    if blocks > max(resident, MAX_SHARES**2):
        assert len(found) == MAX_SHARES
        assert max(own.tiles for own in found) < tiles / 3


@pytest.mark.parametrize("steps", [1, 2, 10, 100, 101, 12_345])
@pytest.mark.parametrize("waves", [1.01, 3.9, 7.8, 500.0])
def test_launches_make_every_step_once(steps, waves):
    """The steps of a launch are where what it begins with and what it leaves idle are least."""
    found = steps_of_launches(steps, waves)
    assert sum(found) == steps
    assert min(found) > 0

    def lost(c):
        return 1 / (4 * c) + c / (2 * steps * waves)

    best = min(range(1, steps + 1), key=lost)
    assert lost(found[0]) < 1.3 * lost(best)
