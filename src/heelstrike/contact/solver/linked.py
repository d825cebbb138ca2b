"""Links in the rounds of the swept problem (swept.py): forces on the bodies that they join.

The stiffness of a link is in no inertia of the tree. A direction is found by the tree alone first;
what the stiffness of links takes off it then acts on their bodies as a force (links.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heelstrike.contact.law import SX
from heelstrike.contact.solver.conjugate import taken_by_links
from heelstrike.contact.solver.links import (
    Elimination,
    Link,
    Moving,
    Pull,
    any_of,
    motion_of,
    moving,
    pull_sum,
    pulls_by_body,
)
from heelstrike.contact.solver.state import Body, Tree, full
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call


class LinkedBodies:
    """Links of a problem, and how their stiffness is eliminated."""

    def __init__(
        self, p: Program, dt: SX, tolerance: SX, tree: Tree, bodies: Sequence[Body]
    ) -> None:
        """`bodies` are those that touch the ground, and links."""
        self.p, self.dt, self.tolerance, self.tree = p, dt, tolerance, tree
        self.bodies = [(body, body.link) for body in bodies if body.link is not None]
        self.grounded = [body for body in bodies if body.link is None]
        self.elimination: Elimination | None = None
        """Elimination of links, where all of them are known before the step."""
        if not self.bodies:
            return
        links = [link for _, link in self.bodies]
        fixed = [link for link in links if isinstance(link, Link)]
        if len(fixed) == len(links):
            self.elimination = Elimination(p, tree, fixed, tolerance)
        with p.block("links"):
            self.touching = p.let("touching", any_of(body.active for body, _ in self.bodies))

    @property
    def joined(self) -> list[int]:
        """Bodies that a link may act on."""
        return sorted({number for _, link in self.bodies for number in link.bodies})

    def eliminate(self, changes: list[SX]) -> None:
        """Take off the bodies what the stiffness of links does."""
        p = self.p
        stiffnesses = [full(body.stiffness) for body, _ in self.bodies]
        twists = [body.direction for body, _ in self.bodies]
        if self.elimination is None:
            taken = taken_by_links(p, stiffnesses, twists, self._respond, self.tolerance)
        else:
            with p.block("links changed"):
                changed = p.let("changed", any_of([*changes, *(x.changed for x, _ in self.bodies)]))
            self.elimination.factor(changed, stiffnesses)
        with p.block("links taken"):
            if self.elimination is not None:
                taken = self.elimination.taken(twists)
            left = []
            for (body, _), own in zip(self.bodies, taken, strict=True):
                assert body.taken is not None
                own = p.let("taken", own)
                p.assign(body.taken, own)
                left.append(p.let("left", body.lack - own))
        self.pull(left)

    def _respond(self, wrenches: Sequence[SX]) -> list[SX]:
        """Return the twists of links by wrenches of links alone."""
        p, links = self.p, [link for _, link in self.bodies]
        pulls = pulls_by_body(p, links, wrenches)
        for number in self.tree.loads:
            self._set_force(number, pulls.get(number, []), None)
        _, moved = self.tree.solve({})
        return [
            call(p, "moved link", self._moved, moving(link, moved), member=n)
            for n, link in enumerate(links)
        ]

    def _moved(self, moved: Moving) -> SX:
        """Return the twist of a link by its acceleration; inside a block."""
        return self.p.let("twist", self.dt * motion_of(moved))

    def _set_force(self, number: int, pulls: Sequence[Pull], ground: SX | None) -> None:
        """Set the force of a body to those of links, and of the ground if there is one."""
        arguments = self.tree.loads[number], SX(number), pulls, ground
        call(self.p, "pull of links", self._pull, *arguments, member=number)

    def _pull(self, load: Any, number: SX, pulls: Sequence[Pull], ground: SX | None) -> None:
        self.tree.set_force(load, pull_sum(number, pulls, ground) / self.dt)

    def pull(self, wrenches: Sequence[SX]) -> None:
        """Set the forces of bodies that links act on: those of the ground, and the links'."""
        ground = {body.number: body.lack for body in self.grounded}
        links = [link for _, link in self.bodies]
        pulls = pulls_by_body(self.p, links, wrenches)
        # `_respond` changes the forces of all bodies
        numbers = {**(ground if self.elimination is None else {}), **pulls}
        for number in numbers:
            self._set_force(number, pulls.get(number, []), ground.get(number))
