"""Limbs of a program and their warp groups, for trees of blocks drawn by hand."""

from __future__ import annotations

import casadi as ca
import pytest

import heelstrike as hs
from heelstrike.codegen.cuda.limbs import ROOT, limbs, warp_groups
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.ir.program import Program
from tests.models import data_file

SX = ca.SX


def tree(parents, sizes, past=()):
    """Return blocks that read from their parents; those of `past` also from grandparents."""
    p = Program("tree")
    x = p.input("x", 1)
    made = {}
    for part, parent in parents.items():
        with p.block("outward", limb=part):
            value = made.get(parent, x)
            if part in past:
                value = value * made[parents[parent]]
            for _ in range(sizes.get(part, 1)):
                value = ca.sin(value)
            made[part] = p.let("made", value)
    with p.block("all"):
        p.output("y", sum(made.values(), SX(0)))
    return p.trace().record


def found(codes):
    """Return the parts of the root block, and the limbs as sets of parts."""
    limb_of = limbs(codes, {}, set())
    by_limb = {}
    for code in codes:
        if code.limb:
            by_limb.setdefault(limb_of[id(code)], set()).add(code.limb)
    return by_limb.pop(ROOT, set()), sorted(by_limb.values(), key=sorted)


BODY = {"trunk": None, "left leg": "trunk", "right leg": "trunk", "waist": "trunk"}
ARMS = {"left arm": "waist", "right arm": "waist"}
LARGE = {"left leg": 6, "right leg": 6, "left arm": 7, "right arm": 7}


def test_what_lies_between_is_the_root_block():
    root, ends = found(tree(BODY | ARMS, LARGE))
    assert root == {"trunk", "waist"}
    assert ends == [{"left arm"}, {"left leg"}, {"right arm"}, {"right leg"}]


def test_a_limb_may_read_past_the_part_that_carries_it():
    """A waist that turns about z keeps the trunk's z axis: arms read it from the trunk."""
    root, ends = found(tree(BODY | ARMS, LARGE, past=tuple(ARMS)))
    assert root == {"trunk", "waist"}
    assert len(ends) == 4


def test_names_of_limbs_are_not_parsed():
    """Colons, digits and words that other blocks use change nothing."""
    names = dict(zip(BODY | ARMS, ("a: b", "start", "001", "x: 7", "root", "b"), strict=True))
    parents = {names[part]: names.get(parent) for part, parent in (BODY | ARMS).items()}
    root, ends = found(tree(parents, {names[part]: size for part, size in LARGE.items()}))
    assert root == {"a: b", "x: 7"}
    assert ends == [{"001"}, {"b"}, {"root"}, {"start"}]


def test_a_hand_with_its_fingers_is_one_limb():
    fingers = {f"{side} finger {k}": f"{side} arm" for side in ("left", "right") for k in range(3)}
    codes = tree(BODY | ARMS | fingers, LARGE | dict.fromkeys(fingers, 2))
    root, ends = found(codes)
    assert root == {"trunk", "waist"}
    assert {"left arm", *(f"left finger {k}" for k in range(3))} in ends
    assert len(ends) == 4
    limb_of = limbs(codes, {}, set())
    blocks = {k: [c for c in codes if limb_of[id(c)] == k] for k in limb_of.values()}
    assert (
        sorted(unit.width for group in warp_groups(blocks) for unit in group) == [1] * 3 + [2] * 5
    )


def test_a_part_that_is_smaller_than_what_hangs_on_it_stays_between():
    """Otherwise a waist would take both arms."""
    root, _ = found(tree(BODY | ARMS, LARGE | {"waist": 6}))
    assert root == {"trunk", "waist"}
    root, ends = found(tree(BODY | ARMS, LARGE | {"waist": 20}))
    assert root == {"trunk"}
    assert {"waist", *ARMS} in ends


def test_something_is_left_between_the_ends_of_a_chain():
    chain = {"a": None, "b": "a", "c": "b", "d": "c"}
    root, ends = found(tree(chain, {"a": 1, "b": 5, "c": 4, "d": 1}))
    assert root
    assert len(ends) == 2


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
@pytest.mark.parametrize(
    "name", ["talos", *(pytest.param(n, marks=pytest.mark.nightly) for n in ("jvrc1", "hrp4c"))]
)
def test_robots_with_hands_and_faces(name):
    """Two legs, two arms with their hands, a head."""
    scene = hs.Scene(hs.load(data_file(f"robots/{name}.xml"), collide="feet"), hs.Plane())
    plan = schedule(hs.Simulator(scene, control=hs.Servo(kp=50, kd=1)).program.trace([]))
    assert plan is not None
    assert [size for size in plan.sizes if size > 1] == [2, 2]
