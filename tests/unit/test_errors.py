"""Errors carry their data, make their sentence from it, and survive a process's boundary.

The oracle is the data that an error was made with.
"""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import numpy as np
import pytest

import heelstrike as hs

LEARNERS = tuple(
    f"adapters.{name}" for name in ("rsl", "stable_baselines", "torch_gradient", "jax_gradient")
)
"""Modules that import packages of extras which may be absent; they define no error."""
ERRORS = {
    "parameter": hs.ParameterError("mu", -1.0, "at least 0", "use 0 for no friction", "Kinetic"),
    "name": hs.UnknownNameError("law", "hertz", ["rigid", "elastic"], path="surface.law"),
    "scene": hs.SceneError("no key 'kk'", path="ground.kk", line=3, remedy="did you mean 'k'?"),
    "plain": hs.HeelstrikeError("nothing touches"),
}


def test_the_sentence_says_problem_allowed_and_remedy():
    assert str(ERRORS["parameter"]) == (
        "Kinetic: mu is -1.0; allowed: at least 0; use 0 for no friction"
    )
    assert str(ERRORS["scene"]) == "no key 'kk'; did you mean 'k'?"
    assert str(ERRORS["plain"]) == "nothing touches"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.zeros(3), r"x is array\(\[0\., 0\., 0\.\]\);"),
        (np.zeros((3, 4), np.float32), r"x is an array of float32 of shape \(3, 4\);"),
        (np.full((2, 5), np.inf), r"of float64 of shape \(2, 5\) with 10 that are not finite;"),
        (np.array(["a"] * 9), r"x is an array of <U1 of shape \(9,\);"),
    ],
)
def test_arrays_of_many_numbers_are_described(value, said):
    assert re.search(said, str(hs.ParameterError("x", value, "numbers")))


def test_the_nearest_name_is_suggested_and_else_all_are_listed():
    assert hs.UnknownNameError("law", "ridgid", ["rigid", "elastic"]).nearest == "rigid"
    assert str(ERRORS["name"]) == "no law 'hertz'; laws: rigid, elastic"


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_keeps_its_data_when_it_is_pickled(name):
    """Workers of sweeps and papers send theirs so."""
    error = ERRORS[name]
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_a_value_that_cannot_be_pickled_becomes_its_text():
    copy = pickle.loads(pickle.dumps(hs.ParameterError("law", lambda c: 0, "a surface law")))
    assert "lambda" in copy.value
    assert copy.path == "law"


def test_every_error_of_the_package_can_be_pickled():
    """Also those that other modules define."""
    for module in pkgutil.walk_packages(hs.__path__, "heelstrike."):
        if not module.name.endswith(("__main__", *LEARNERS)):
            importlib.import_module(module.name)
    kinds, new = set(), [hs.HeelstrikeError]
    while new:
        kind = new.pop()
        kinds.add(kind)
        new += kind.__subclasses__()
    assert len(kinds) > 6
    for kind in kinds:
        error = kind.__new__(kind)
        error.args = ("a sentence",)
        error.path, error.line, error.value = "ground.k", 7, None
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.path, copy.line, str(copy)) == (kind, "ground.k", 7, "a sentence")
