"""Each law on a few numbers.

Oracle: the equations of the papers with numbers put in by hand; limit cases in which one law is
another; the closed-form rebounds of a mass from a law (gravity off). Single evaluations agree to
1e-12 relative: a handful of roundings.
"""

from __future__ import annotations

import dataclasses
import doctest
import re
from math import acos, exp, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.special import lambertw

import heelstrike as hs
from heelstrike.contact.catalog import REFERENCES, law_by_name, laws
from heelstrike.contact.law import NormalLaw, where
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.errors import HeelstrikeError
from tests.touch import normal, surface

D, IN, OUT = 0.002, 0.3, -0.3  # [m], [m/s]
NORMAL_LAWS = [
    LinearSpring(),
    LinearSpring(damping="both"),
    LinearSpring(damping="both", adhesive=True),
    HuntCrossley(),
    HuntCrossley(n=1.5, alpha_restitution=0.4),
    PoissonSpring(),
    TimestepDamper(HuntCrossley()),
]


# normal laws


def test_linear_spring():
    """(13) damps on the way in only, (3) on both; the papers' signs are turned."""
    law = LinearSpring(k=1e4, c=50)
    assert normal(law, D, rate=IN) == pytest.approx(20 + 15, rel=1e-12)
    assert normal(law, D, rate=OUT) == pytest.approx(20, rel=1e-12)
    both = LinearSpring(k=1e4, c=50, damping="both")
    assert normal(both, D, rate=IN) == pytest.approx(35, rel=1e-12)
    assert normal(both, D, rate=OUT) == pytest.approx(5, rel=1e-12)


def test_hunt_crossley():
    """(6) with (18): k d^n (1 + 3/2 alpha d')."""
    law = HuntCrossley(k=1e4, alpha=0.4)
    assert normal(law, D, rate=IN) == pytest.approx(20 * 1.18, rel=1e-12)
    assert normal(law, D, rate=OUT) == pytest.approx(20 * 0.82, rel=1e-12)
    sphere = HuntCrossley(k=1e6, alpha=0.4, n=1.5)
    assert normal(sphere, D, rate=IN) == pytest.approx(1e6 * 0.002**1.5 * 1.18, rel=1e-12)
    # sticks beyond v = -2/(3 alpha), (22)
    edge = -2 / (3 * 0.4)
    assert normal(law, D, rate=0.99 * edge) > 0 > normal(law, D, rate=1.01 * edge)


def test_hunt_crossley_with_another_alpha_on_the_way_out():
    """Going in it is the law with alpha, coming out the law with alpha_restitution."""
    law = HuntCrossley(k=1e4, alpha=0.4, alpha_restitution=0.1)
    assert normal(law, D, rate=IN) == normal(HuntCrossley(k=1e4, alpha=0.4), D, rate=IN)
    assert normal(law, D, rate=OUT) == normal(HuntCrossley(k=1e4, alpha=0.1), D, rate=OUT)


def test_poisson_spring():
    """k in, e^2 k out."""
    law = PoissonSpring(k=1e4, e=0.6)
    assert normal(law, D, rate=IN) == pytest.approx(20, rel=1e-12)
    assert normal(law, D, rate=0) == pytest.approx(20, rel=1e-12)
    assert normal(law, D, rate=OUT) == pytest.approx(0.36 * 20, rel=1e-12)


def test_timestep_damper():
    """(15): k d + (c + k dt) d' in, k d + k dt d' out; zero, not tension, in the last step."""
    law = TimestepDamper(LinearSpring(k=1e4, c=50))
    assert normal(law, D, rate=IN, dt=1e-3) == pytest.approx(20 + 60 * 0.3, rel=1e-12)
    assert normal(law, D, rate=OUT, dt=1e-3) == pytest.approx(20 - 10 * 0.3, rel=1e-12)
    assert normal(law, 1e-4, rate=OUT, dt=1e-3) == 0.0
    hertz = HuntCrossley(n=1.5)
    ahead = normal(hertz, D + IN * 1e-3, rate=IN)
    assert normal(TimestepDamper(hertz), D, rate=IN, dt=1e-3) == pytest.approx(ahead, rel=1e-12)


@pytest.mark.parametrize("rate", [IN, 0.0, OUT])
def test_limit_cases_are_the_spring(rate):
    """Without damping, loss or step, every law is k d."""
    spring = pytest.approx(1e4 * D, rel=1e-15)
    assert normal(LinearSpring(k=1e4, c=0), D, rate=rate) == spring
    assert normal(LinearSpring(k=1e4, c=0, damping="both"), D, rate=rate) == spring
    assert normal(HuntCrossley(k=1e4, alpha=0), D, rate=rate) == spring
    assert normal(PoissonSpring(k=1e4, e=1), D, rate=rate) == spring
    for law in NORMAL_LAWS:
        assert normal(TimestepDamper(law), D, rate, dt=0) == normal(law, D, rate, dt=0)


def rebound(law, v, m=1.0, dt=1e-5):
    """Speed out over speed in of a mass, without gravity; symplectic Euler."""
    touch = surface(Elastic(law, None))
    d, rate = 0.0, v
    while True:
        d += rate * dt
        if d <= 0:
            return -rate / v
        rate -= float(touch(d, rate, dt=dt)[1][0]) / m * dt


def linear_restitution(zeta):
    """exp(-z B), (4), exp(-2 z B): compression only, tension kept, tension zeroed."""
    b = acos(zeta) / sqrt(1 - zeta**2)
    return exp(-zeta * b), exp(-pi * zeta / sqrt(1 - zeta**2)), exp(-2 * zeta * b)


def test_rebound_of_the_linear_springs_three_choices():
    """Marhefka (4) and its two variants, at k = 1e4, c = 100, m = 1."""
    compression, kept, zeroed = linear_restitution(100 / (2 * sqrt(1e4)))
    choices = {
        compression: LinearSpring(k=1e4, c=100),
        kept: LinearSpring(k=1e4, c=100, damping="both", adhesive=True),
        zeroed: LinearSpring(k=1e4, c=100, damping="both"),
    }
    for expected, law in choices.items():
        # first order in dt, since the force jumps at impact: 4e-4 measured
        assert rebound(law, 1.0) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("alpha", "back"), [(0.4, None), (0.4, 0.1)])
def test_rebound_of_hunt_crossley(alpha, back):
    """(19) at x = 0 by Lambert's function, with one alpha and with two."""
    v, a = 1.0, 1.5 * alpha
    out = alpha if back is None else back
    ratio = (out / alpha) ** 2 * (a * v - np.log1p(a * v))
    expected = (1 + lambertw(-np.exp(-(1 + ratio))).real) / (1.5 * out * v)
    law = HuntCrossley(k=1e4, alpha=alpha, alpha_restitution=back)
    # 1e-7 measured, and 6e-5 where the damping changes at the deepest point
    assert rebound(law, v) == pytest.approx(expected, rel=1e-6 if back is None else 1e-4)


def test_rebound_of_poisson_spring_is_e():
    """e^2 k gives e; the e k that the paper prints would give sqrt(e)."""
    # the turning point is noticed a step late: kappa (1 - e^2) / (2 e^2) = 1.5e-6
    assert rebound(PoissonSpring(k=1e4, e=0.5), 1.0) == pytest.approx(0.5, rel=3e-6)
    printed = PoissonSpring(k=1e4, e=sqrt(0.5))  # k_receding = 0.5 k
    assert rebound(printed, 1.0) == pytest.approx(sqrt(0.5), rel=3e-6)


# Elastic: select, clamp, memory


@pytest.mark.parametrize("law", NORMAL_LAWS)
def test_nothing_without_contact(law):
    """No force, no memory at d <= 0, however fast."""
    touch = surface(Elastic(law, Bristle()))
    for d in (0.0, -1e-9, -1.0):
        touching, f_n, f_t, memory = touch(d, IN, slip=(1, 0), memory=[1, 2, 2])
        assert touching == 0
        assert f_n == 0
        assert np.all(f_t == 0)
        assert np.all(memory == 0)


def test_clamped_unless_adhesive():
    """Tension is kept where it is asked for, and only there."""
    for law in NORMAL_LAWS:
        f_n = surface(Elastic(law, None))(1e-6, -5.0)[1]
        assert f_n == (normal(law, 1e-6, -5.0) if law.adhesive else max(normal(law, 1e-6, -5.0), 0))
    pulls = LinearSpring(damping="both", adhesive=True)
    assert TimestepDamper(pulls).adhesive
    assert surface(Elastic(TimestepDamper(pulls), None))(1e-6, -5.0)[1] < 0


def test_a_surface_that_pulls_does_not_rub():
    """Friction takes its limit from max(f_n, 0)."""
    law = Elastic(LinearSpring(damping="both", adhesive=True), Kinetic())
    _, f_n, f_t, _ = surface(law)(1e-6, -5.0, slip=(1, 0))
    assert f_n < 0
    assert np.all(f_t == 0)


@dataclasses.dataclass(frozen=True)
class Undefined(NormalLaw):
    """NaN out of contact, a spring in it; adhesive, so that no maximum hides the NaN."""

    adhesive: bool = True

    def force(self, c):
        return 1e4 * c.depth / where(c.depth > 0, 1, 0)


def test_nan_out_of_contact_is_selected_away():
    """Masks are selects: what a law computes out of contact does not matter."""
    touch = surface(Elastic(Undefined(), None))
    assert np.isnan(normal(Undefined(), 0.0))
    assert touch(0.0)[1] == 0
    assert touch(D)[1] == pytest.approx(20, rel=1e-12)


# refusals and the catalogue


@pytest.mark.parametrize(
    ("law", "values", "sentence"),
    [
        (LinearSpring, {"k": -1}, "LinearSpring: k is -1; allowed: 0 to 1e\\+12"),
        (LinearSpring, {"k": "stiff"}, "k is 'stiff'; allowed: a number"),
        (LinearSpring, {"k": None}, "k is None; allowed: a number"),
        (LinearSpring, {"c": float("nan")}, "c is nan; allowed: 0 to 1e\\+12"),
        (LinearSpring, {"damping": "out"}, "damping is 'out'; allowed: 'compression' or 'both'"),
        (LinearSpring, {"adhesive": "yes"}, "adhesive is 'yes'; allowed: False or True"),
        (HuntCrossley, {"n": 0.5}, "n is 0.5; allowed: 1 to 10"),
        (HuntCrossley, {"alpha_restitution": -1}, "alpha_restitution is -1; allowed: 0 to 1e\\+06"),
        (PoissonSpring, {"e": 1.1}, "e is 1.1; allowed: 0 to 1"),
        (
            TimestepDamper,
            {"law": Kinetic()},
            "TimestepDamper: law is Kinetic.*allowed: a normal law",
        ),
        (Bristle, {"mu_s": 0.5, "mu_k": 0.6}, "mu_k is 0.6; allowed: at most mu_s, which is 0.5"),
        (Elastic, {"normal": Kinetic()}, "Elastic: normal is Kinetic.*allowed: a normal law"),
        (Elastic, {"friction": LinearSpring()}, r"friction is LinearSpring.*allowed: hs\.Kinetic"),
    ],
)
def test_wrong_values_are_sentences(law, values, sentence):
    with pytest.raises(HeelstrikeError, match=sentence):
        law(**values)


def test_catalogue_says_everything():
    """Each law has a line, a full reference, and units for all its numbers, as its docstring."""
    found = laws()
    assert {info.law for info in found} >= {LinearSpring, HuntCrossley, PoissonSpring, Bristle}
    for info in found:
        assert info.what.endswith(".")
        assert info.sources
        assert set(info.sources) <= set(REFERENCES)
        assert [p.name for p in info.parameters] == [f.name for f in dataclasses.fields(info.law)]
        for p in info.parameters:
            assert p.meaning, p
            line = re.search(rf"^ +{p.name}: .*", info.law.__doc__, re.MULTILINE)
            assert line, f"the docstring of {info.law.__name__} leaves out {p.name}"
            assert p.unit in ("", "1") or f"[{p.unit}]" in line[0], line[0]
            number = type(p.default) is float or (p.default is None and p.name != "patch")
            assert bool(p.unit) == number, p


def test_every_law_has_a_page():
    """docs/laws holds a page for each law, with its references and a row for each parameter."""
    for info in laws():
        page = (Path(__file__).parents[2] / "docs" / "laws" / f"{info.name}.md").read_text()
        for key in info.sources:
            assert f"[{key}] {REFERENCES[key]}." in page
        for p in info.parameters:
            default = f"{p.default:g}" if type(p.default) is float else p.default
            assert f"| `{p.name}` | {default} | {p.unit} | {p.meaning} |" in page


def test_catalogue_by_name():
    """Kebab case or the name of the class; else a sentence with the nearest."""
    assert law_by_name("hunt-crossley") is not None
    assert law_by_name("HuntCrossley").law is HuntCrossley
    with pytest.raises(HeelstrikeError, match="no law 'hunt-crosley'; did you mean 'hunt-cr"):
        law_by_name("hunt-crosley")
    with pytest.raises(HeelstrikeError, match="laws: linear-spring, hunt-crossley"):
        law_by_name("jelly")


@pytest.mark.parametrize("law", [info.law for info in laws()], ids=lambda law: law.__name__)
def test_the_examples_of_docstrings_work(law):
    """Every law has an example of two lines, and it runs."""
    names = {"hs": hs}
    examples = doctest.DocTestFinder(recurse=False).find(law, law.__name__, globs=names)
    assert [len(example.examples) for example in examples] == [2]
    assert doctest.DocTestRunner().run(examples[0]).failed == 0
