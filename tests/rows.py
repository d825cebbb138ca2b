"""What a paper's item comes to, judged row by row."""

from __future__ import annotations

import json
from collections.abc import Set

from heelstrike.papers import paper
from heelstrike.papers.report import Result


def item_holds(name: str, item: str, not_as_stated: Set[str], stated: bool = True) -> Result:
    """The item, if exactly these rows do not hold, and JSON has all its numbers. `stated`:
    the paper says something of each row that differs.
    """
    result = paper(name).run(item)
    assert {row.quantity for row in result.rows if not row.holds} == not_as_stated
    for row in result.rows:
        if stated and row.holds is False:
            assert row.theirs is not None
    json.dumps(result.as_dict(), allow_nan=False)
    return result
