"""Laws that a user writes: what works, and what is refused in which words.

Oracle: the built-in law with the same equation, to the bit; for mistakes, the sentence that names
the mistake and the remedy.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.law import FrictionLaw, NormalLaw, where
from heelstrike.contact.laws.custom import friction_law, normal_law
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.surface_law import PointState
from heelstrike.errors import HeelstrikeError, TraceError
from heelstrike.ir.program import Program
from heelstrike.parameters import parameters, structure, with_values
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.key import digest
from tests.touch import surface


@normal_law
def my_ground(c, k=3e4, alpha=0.3):
    return k * c.depth * (1 + 1.5 * alpha * c.depth_rate)


@friction_law
def my_rubbing(c, mu=0.5):
    return -mu * c.normal_force / c.slip_speed * c.slip


@normal_law(memory=1)
def counting(c, k=1e4):
    return k * c.depth * (1 + c.memory), c.memory + 1


def compiled(law):
    """Elastic.force as machine code, every parameter an input."""
    p = Program("touch")
    sizes = {"d": 1, "rate": 1, "slip": 2, "position": 2, "dt": 1, "memory": law.memory_size}
    given = [p.input(name, size) for name, size in sizes.items()]
    values = {path: p.input(path, value.size) for path, value in parameters(law).items()}
    with p.block("touch"):
        *point, memory = given
        touch = with_values(law, values).force(PointState(*point, ca.SX(9.81), memory))
        p.output("force", ca.vertcat(touch.normal, touch.tangent))
    return compile_program(p, width=1, level=1)


def test_a_users_law_is_as_good_as_ours():
    """The same equation gives the same bits, whoever wrote it."""
    rng = np.random.default_rng(1)
    given = {
        "d": rng.normal(size=(50, 1)) * 1e-3,
        "rate": rng.normal(size=(50, 1)),
        "slip": rng.normal(size=(50, 2)),
        "position": np.zeros(2),
        "dt": [1e-3],
        "memory": np.zeros(0),
    }
    mine = compiled(Elastic(my_ground, my_rubbing))
    ours = compiled(Elastic(HuntCrossley(), Kinetic(epsilon=0)))
    values = {"normal.k": [3e4], "normal.alpha": [0.3], "friction.mu": [0.5]}
    theirs = ours(**given, **values, **{"friction.epsilon": [0.0]})["force"]
    assert np.array_equal(mine(**given, **values)["force"], theirs)
    assert np.any(theirs != 0)


def test_used_as_it_is_or_with_other_values():
    """A law is a law; called, it is a copy with other numbers."""
    assert isinstance(my_ground, NormalLaw)
    assert isinstance(my_rubbing, FrictionLaw)
    assert surface(Elastic(my_ground, None))(1e-3)[1] == pytest.approx(30, rel=1e-12)
    softer = my_ground(k=1e4)
    assert surface(Elastic(softer, None))(1e-3)[1] == pytest.approx(10, rel=1e-12)
    assert repr(softer) == "my_ground(k=10000.0, alpha=0.3)"
    assert repr(my_ground) == "my_ground(k=30000.0, alpha=0.3)"
    assert parameters(TimestepDamper(softer)).keys() == {"law.k", "law.alpha"}


def test_memory():
    """A law with memory counts its steps, and starts again at zero in a new contact."""
    touch = surface(Elastic(TimestepDamper(counting), None))
    forces, memory = [], None
    for d in (1e-3, 1e-3, 1e-3, -1e-3, 1e-3):
        _, f_n, _, memory = touch(d, memory=memory)
        forces.append(float(f_n[0]))
    assert forces == pytest.approx([10, 20, 30, 0, 10], rel=1e-12)


def test_adhesive():
    """A user's law may pull, if it says so."""

    @normal_law(adhesive=True)
    def glue(c, k=1e4, c_=100.0):
        return k * c.depth + c_ * c.depth_rate

    assert surface(Elastic(glue, None))(1e-3, -1.0)[1] == pytest.approx(-90, rel=1e-12)
    assert glue(k=0.0).adhesive


def test_a_vector_is_one_parameter():
    """Two coefficients along the two tangents."""

    @friction_law
    def grooved(c, mu=(0.2, 0.8)):
        return -mu * c.normal_force * c.slip / c.slip_speed

    assert parameters(grooved)["mu"].tolist() == [0.2, 0.8]
    f_t = surface(Elastic(HuntCrossley(k=1e4, alpha=0), grooved))(1e-3, slip=(3, 4))[2]
    assert np.allclose(f_t, [-0.2 * 6, -0.8 * 8], rtol=1e-12)
    with pytest.raises(HeelstrikeError, match=r"mu is 0\.3; allowed: a number like its default"):
        grooved(mu=0.3)


def test_structure_is_the_equation():
    """The cache sees the body of the function, not its name nor its values."""

    def law(power):
        @normal_law
        def ground(c, k=1e4):
            return k * c.depth**power

        return ground

    assert digest(structure(law(1.5))) == digest(structure(law(1.5)))
    assert digest(structure(law(1.5))) == digest(structure(law(1.5)(k=5.0)))
    assert digest(structure(law(1.5))) != digest(structure(law(2.5)))
    assert digest(structure(my_ground)) == digest(structure(HuntCrossley()))


def test_what_a_law_reads_is_fixed_when_it_is_defined():
    """Code and cache key agree, whatever happens to a variable later."""
    settings = {"n": 1}

    @normal_law
    def ground(c, k=1e4):
        return k * c.depth ** settings["n"]

    before = digest(structure(ground))
    settings["n"] = 2
    assert digest(structure(ground)) == before
    assert surface(Elastic(ground, None))(0.1)[1] == pytest.approx(1e3, rel=1e-12)


def test_the_laws_in_the_docs_work():
    """Every example of docs/laws/index.md, as printed."""
    page = (Path(__file__).parents[2] / "docs" / "laws" / "index.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(example, {})


# mistakes


def branches(c, k=1e4):
    if c.depth_rate > 0:
        return k * c.depth
    return 0


def test_branching_shows_where():
    """The error names the line and shows the form that works, which does."""
    with pytest.raises(TraceError) as error:
        normal_law(branches)
    assert "law 'branches' branches on a symbol in line" in str(error.value)
    assert "if c.depth_rate > 0:" in str(error.value)
    assert "hs.where(c.depth_rate > 0, k * c.depth, 0)" in str(error.value)
    law = normal_law(lambda c, k=1e4: where(c.depth_rate > 0, k * c.depth, 0))
    assert surface(Elastic(law, None))(1e-3, 1.0)[1] == pytest.approx(10, rel=1e-12)
    assert surface(Elastic(law, None))(1e-3, -1.0)[1] == 0


STRAY = ca.SX.sym("stray")


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda c, k=1e4: max(k * c.depth, 0), r"branches on a symbol(.|\n)*ca\.fmax"),
        (lambda c, k=1e4: k * c.depth and 0, r"branches on a symbol(.|\n)*ca\.logic_and"),
        (lambda c: math.sin(c.depth), r"converts a symbol to a number.*ca\.sin\(x\) in place of"),
        (lambda c: float(c.depth) * 1e4, r"converts a symbol to a number.*never float\(x\)"),
        (lambda c: ca.erf(c.depth), "law '<lambda>': the operation erf cannot be compiled; use"),
        (lambda c: ca.sinh(c.depth), "the operation sinh cannot be compiled"),
        (lambda c: STRAY * c.depth, "uses the symbol stray, which is not one of its arguments"),
        (lambda c: c.velocity, "has no 'velocity'; it has depth, depth_rate, dt"),
        (lambda c: c.depth.squared, r"cannot be traced(.|\n)*no attribute 'squared'"),
        (lambda c: c.normal_force, r"uses c\.normal_force, which a normal law computes"),
        (lambda c: c.slip, "must return a force of 1 component, not 2"),
        (lambda c: None, "must return a force of 1 component, not None"),
        (lambda c: (c.depth, c.depth), "returns a tuple but declares no memory"),
    ],
)
def test_what_cannot_be_traced(law, sentence):
    with pytest.raises(TraceError, match=sentence):
        normal_law(law)


def test_wrong_sizes_are_sentences():
    with pytest.raises(TraceError, match=r"force of 2 components, not 1; use ca\.vertcat"):
        friction_law(lambda c, mu=0.5: mu * c.normal_force)
    with pytest.raises(TraceError, match=r"returns a tuple .* return ca\.vertcat"):
        friction_law(lambda c: (c.slip[0], c.slip[1]))
    with pytest.raises(TraceError, match="force of 2 components, not \\["):
        friction_law(lambda c: [c.slip[0], c.slip[1]])
    with pytest.raises(TraceError, match="memory of 2 components, not 1"):
        normal_law(memory=2)(lambda c: (c.depth, c.depth))
    with pytest.raises(TraceError, match=r"declares memory=2, so it must return \(force, next"):
        normal_law(memory=2)(lambda c: c.depth)


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda c, k: k * c.depth, "parameter 'k' needs a number as its default, e.g. k=1.0"),
        (lambda c, k="stiff": c.depth, "needs a number as its default, not 'stiff'"),
        (lambda c, k=True: c.depth, "needs a number as its default, not True"),
        (lambda c, k=math.inf: c.depth, "needs a number as its default, not inf"),
        (lambda c, **k: c.depth, r"takes '\*\*k'; its parameters must be named one by one"),
        (lambda: 1.0, "takes the contact first"),
        (lambda *c: 1.0, "takes the contact first"),
        (3.0, "is put before a function"),
    ],
)
def test_wrong_signatures_are_sentences(law, sentence):
    with pytest.raises(HeelstrikeError, match=sentence):
        normal_law(law)
    with pytest.raises(HeelstrikeError, match=sentence):
        friction_law(law)


def test_no_finite_number_is_refused_with_its_place():
    """At the surface, at rest, in the second step, and with other values."""
    with pytest.raises(HeelstrikeError, match="no finite number at depth 0 m, depth_rate 0 m/s"):
        normal_law(lambda c: c.depth_rate / c.depth)
    with pytest.raises(HeelstrikeError, match=r"slip 0 m/s(.|\n)*c\.slip_speed"):
        friction_law(lambda c: -c.normal_force * c.slip / ca.norm_2(c.slip))
    with pytest.raises(HeelstrikeError, match="in the second step of a contact"):
        normal_law(memory=1)(lambda c: (c.depth / (1 - c.memory), 1))
    law = normal_law(lambda c, size=1.0: c.depth / size)
    with pytest.raises(HeelstrikeError, match="no finite number at depth 0 m"):
        law(size=0.0)


def test_other_mistakes_are_sentences():
    with pytest.raises(
        HeelstrikeError, match="no parameter 'stiffness'; parameters of law 'my_ground': k, alpha"
    ):
        my_ground(stiffness=3)
    with pytest.raises(HeelstrikeError, match="k is 'stiff'; allowed: a number like its default"):
        my_ground(k="stiff")
    with pytest.raises(HeelstrikeError, match="memory is -1; allowed: a whole number"):
        normal_law(memory=-1)(lambda c: c.depth)
