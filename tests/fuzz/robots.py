"""Mutated robot files: refused, or loaded with the mass that the file has."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import numpy as np

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from tests.fuzz.values import mutated_text, word

URDF = """<robot name="r">
<link name="a">
<inertial><origin xyz="0 0 0.1" rpy="0 0 0.2"/><mass value="2.5"/>
<inertia ixx="0.5" iyy="0.6" izz="0.7" ixy="0" ixz="0.01" iyz="0"/></inertial>
<collision><origin xyz="0 0 0"/><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
</link>
<link name="b"><inertial><mass value="1.25"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<link name="c"><inertial><mass value="0.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.4"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1.5" effort="10" velocity="3"/>
<dynamics damping="0.1" friction="0.2"/></joint>
<joint name="k" type="fixed"><parent link="b"/><child link="c"/><origin xyz="0 0 0.4"/></joint>
</robot>"""


@cache
def bases() -> list[str]:
    """Return texts of small robots: a URDF, and bundled MJCFs."""
    folder = resources.files("heelstrike.robot") / "models"
    names = ("ball.xml", "box.xml", "foot.xml", "cube.xml", "biped14.xml")
    return [URDF, URDF, URDF, *((folder / name).read_text() for name in names)]


def robot(random: Random) -> str:
    """Load a mutated robot."""
    text = random.choice(bases())
    made = _element(text, random) if random.random() < 0.6 else mutated_text(text, random)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "robot.urdf" if "<robot" in made else "robot.xml")
        path.write_text(made, errors="surrogatepass")
        try:
            found = hs.load(path)
        except HeelstrikeError:
            return "refused"
    numbers = [found.mass, *found.lower, *found.upper, *(x.mass for x in found.bodies)]
    assert not np.isnan(numbers).any(), "a robot with NaN"
    if "<robot" in made:
        masses = ElementTree.fromstring(made).findall("link/inertial/mass")
        expected = sum(float(mass.get("value", "nan")) for mass in masses)
        # the loader takes masses below 1e-300 kg as none
        assert abs(found.mass - expected) <= 1e-9 * abs(expected) + 1e-300, (found.mass, expected)
    return "taken"


def _element(text: str, random: Random) -> str:
    """Return a text with one attribute or element of its tree changed."""
    root = ElementTree.fromstring(text)
    for _ in range(random.randint(1, 2)):
        elements = list(root.iter())
        element = random.choice(elements)
        kind = random.randrange(5)
        if kind < 3 and element.attrib:
            key = random.choice(list(element.attrib))
            old = element.get(key, "")
            new = word(random) if kind else f"{old}{random.choice([' ', chr(9), '_0', 'e', '-'])}"
            element.set(
                key, "".join(letter for letter in new if letter.isprintable() or letter == "\t")
            )
        elif kind == 3 and len(element):
            child = random.choice(list(element))
            element.remove(child)
            if random.random() < 0.4:
                random.choice(elements).append(child)
        elif element.attrib:
            del element.attrib[random.choice(list(element.attrib))]
    return ElementTree.tostring(root, encoding="unicode")
