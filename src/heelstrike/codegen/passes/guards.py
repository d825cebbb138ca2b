"""Removal of guards: their bodies are always executed, and the bits stay the same."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.ir.code import Guard, Item, Repeat


def without_guards(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items with the bodies of guards in their places."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, Guard):
            result += without_guards(item.body)
        elif isinstance(item, Repeat):
            result.append(Repeat(item.name, without_guards(item.body), item.limit, item.until))
        else:
            result.append(item)
    return tuple(result)
