"""The surfaces and laws that a scene may name, by the kebab case of their classes."""

from __future__ import annotations

from functools import cache

from heelstrike.contact.catalog import LAWS, kebab
from heelstrike.scene import surfaces as surface


@cache
def surface_kinds() -> dict[str, type[surface.Surface]]:
    """Every public surface of Heelstrike."""
    return {kebab(shape.__name__): shape for shape in surface.SURFACES}


def kinds_of(base: type) -> dict[str, type]:
    """Laws and surfaces that are of a class, by name; none for what is neither."""
    if base is object:
        return {}
    every = {kebab(law.__name__): law for law in LAWS} | surface_kinds()
    return {name: kind for name, kind in every.items() if issubclass(kind, base)}
