"""Count the operations of a step exactly, and compare them with the committed counts.

    python tools/operation_counts.py check      # what grew or shrank; exits with 1 if anything did
    python tools/operation_counts.py write      # after a change that is meant

tests/operation_counts.json holds, for each case, the operations of a step that records nothing: by
operation, and by kind of block. Times vary with the machine, these counts do not; they depend on
CasADi's rules of simplification, so its version is kept with them. A loop's body counts once.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import heelstrike as hs
from heelstrike.bench.standing import case, first_pose, missing
from heelstrike.contact.choose import template
from heelstrike.ir.code import Code, flatten
from heelstrike.ir.operations import Counts, count

FILE = Path(__file__).parent.parent / "tests/operation_counts.json"
QUICK = ("hoap1, linear-spring", "biped14, micro-macro", "biped14, rigid")
"""Cases that every run of the tests counts; the others are counted nightly."""
ROBOTS = ("biped14", "hoap1", "g1", "anymal_c")
LAWS = ("linear-spring", "micro-macro", "rigid")
CASES = tuple(f"{robot}, {law}" for robot in ROBOTS for law in LAWS)
SHOWN = 8
"""Kinds of blocks that a sentence names, at most."""


def counted(name: str) -> dict[str, Any]:
    """Return the operations of a robot that stands on feet under its servo, on a plane."""
    robot_name, law = name.split(", ")
    of = case(robot_name)
    scene = hs.Scene(of.robot, hs.Plane(law=template(law)))
    control = hs.Servo(reference=first_pose(of.robot))
    program = hs.Simulator(scene, of.dt, control).program.trace(())
    total, kinds = Counts(), Counter[str]()
    for item in (part for each in (*program.step, *program.record) for part in flatten(each)):
        if isinstance(item, Code):
            own = count(item.graph.operations)
            total += own
            kinds[item.tag.kind] += sum(asdict(own).values())
    return {"operations": asdict(total), "kinds": dict(sorted(kinds.items()))}


def changes(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return sentences on what changed; none if all counts are equal."""
    if before == now:
        return []
    total = [sum(each["operations"].values()) for each in (before, now)]
    by_operation = _differences(before["operations"], now["operations"])
    found = [f"{name}: {_change(*total)} operations ({', '.join(by_operation)})"]
    kinds = _differences(before["kinds"], now["kinds"])
    more = [f"and {len(kinds) - SHOWN} more"] if len(kinds) > SHOWN else []
    return [*found, f"  blocks: {', '.join([*kinds[:SHOWN], *more])}"]


def _differences(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Return what differs, the largest growth first."""
    pairs = {name: (before.get(name, 0), now.get(name, 0)) for name in {*before, *now}}
    changed = [name for name, (old, new) in pairs.items() if old != new]
    changed.sort(key=lambda name: (pairs[name][0] - pairs[name][1], name))
    return [f"{name} {_change(*pairs[name])}" for name in changed]


def _change(old: int, new: int) -> str:
    return f"{old} -> {new} ({new - old:+d})"


def check(names: Iterable[str]) -> list[str]:
    """Return what differs from the committed counts."""
    kept = json.loads(FILE.read_text())["cases"]
    return [line for name in names for line in changes(name, kept[name], counted(name))]


def main(action: str = "check") -> None:
    """Check or write; robots whose files are missing are left as they are."""
    gone = missing(ROBOTS)
    names = [name for name in CASES if name.split(", ")[0] not in gone]
    if action == "write":
        kept = json.loads(FILE.read_text())["cases"] if FILE.exists() else {}
        kept |= {name: counted(name) for name in names}
        text = json.dumps({"casadi": version("casadi"), "cases": kept}, indent=1)
        FILE.write_text(text + "\n")
    elif action == "check":
        found = check(names)
        print("\n".join(found) or "no count has changed")
        sys.exit(1 if found else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
