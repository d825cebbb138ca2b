"""Numbers of a URDF against Python's: whatever is loaded has the numbers of the file.

urdfdom drops the whole <inertial> without a word if one of its numbers has a blank after it, is
1_000 or too small for a double; the robot then loads with another mass.
"""

from __future__ import annotations

import pytest

import heelstrike as hs
from heelstrike.errors import LoadError

ROBOT = """<robot name="r">
<link name="a"><inertial><origin xyz="0 0 {com}"/><mass value="{mass}"/>
<inertia ixx="{ixx}" iyy="1" izz="1"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<origin xyz="0 0 {place}"/><limit lower="{lower}" upper="3" effort="1" velocity="1"/></joint>
</robot>
"""
PLAIN = {"com": "0.5", "mass": "2", "ixx": "1.5", "place": "0.25", "lower": "-1"}
BLANKS = ["{}\t", " {} ", "{}\n", "\t{}", "+{}", "{}e0", "{}&#9;"]
WRONG = ["1_0", "0x2", "\uff12", "2,0", "2f", "nan", "1e400", "", "2 3", "--2", "1e", "inf"]


def loaded(path, **numbers):
    path.write_text(ROBOT.format(**PLAIN | numbers))
    return hs.load(path)


def read(robot):
    body, joint = robot.bodies[0], robot.joints[1]
    parts = (body.com[2], body.mass, body.inertia[0, 0], robot.mass, robot.lower[joint.iv])
    return [float(x) for x in parts]


@pytest.mark.parametrize("name", PLAIN)
def test_blanks_and_forms_of_a_number_change_nothing(name, tmp_path):
    expected = read(loaded(tmp_path / "r.urdf"))
    assert expected[:2] == [0.5, 2.0]
    for form in BLANKS:
        if form.startswith("+") and PLAIN[name].startswith("-"):
            continue
        assert read(loaded(tmp_path / "r.urdf", **{name: form.format(PLAIN[name])})) == expected


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_number_is_refused(name, text, tmp_path):
    if (name, text) == ("lower", "inf"):
        text = "x"  # a limit may be infinite
    with pytest.raises(LoadError):
        loaded(tmp_path / "r.urdf", **{name: text})


def test_numbers_that_no_double_holds_are_zero(tmp_path):
    assert read(loaded(tmp_path / "r.urdf", com="1e-320"))[0] == 0.0
