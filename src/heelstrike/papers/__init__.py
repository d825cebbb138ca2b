"""The reproduced papers: one package per paper, one function per figure.

A paper's package holds `PAPER`, which names its items without importing what they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from heelstrike.errors import UnknownNameError

if TYPE_CHECKING:
    from heelstrike.papers.errata import Erratum
    from heelstrike.papers.report import Result

__all__ = ["NAMES", "Item", "Paper", "paper", "papers"]

NAMES = ("marhefka1996", "rengifo2009", "sugihara2006", "tsujita2009")
"""Papers, by the names of their packages."""


@dataclass(frozen=True)
class Item:
    """One figure or table: what it shows, and where its function is."""

    summary: str
    home: str
    """module:function, the module within the paper's package."""


@dataclass(frozen=True)
class Paper:
    """A paper and its items, in the paper's order."""

    name: str
    title: str
    authors: str
    source: str
    items: Mapping[str, Item]

    def item(self, name: str) -> Item:
        """Return the item of that name."""
        if name not in self.items:
            raise UnknownNameError("item", name, self.items, owner=self.name)
        return self.items[name]

    @property
    def errata(self) -> tuple[Erratum, ...]:
        """Errata of the paper: what it prints and what is meant."""
        found: tuple[Erratum, ...] = import_module(f"{__name__}.{self.name}.errata").ERRATA
        return found

    def run(self, name: str) -> Result:
        """Reproduce one item."""
        module, function = self.item(name).home.split(":")
        made: Result = getattr(import_module(f"{__name__}.{self.name}.{module}"), function)()
        return made


def paper(name: str) -> Paper:
    """Return the paper of that name."""
    if name not in NAMES:
        raise UnknownNameError("paper", name, NAMES)
    found: Paper = import_module(f"{__name__}.{name}").PAPER
    return found


def papers() -> list[Paper]:
    """All papers."""
    return [paper(name) for name in NAMES]
