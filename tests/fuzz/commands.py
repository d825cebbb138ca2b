"""Odd command lines: a sentence and an exit status, whatever the words."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import warnings
from random import Random
from unittest import mock

from heelstrike.cli import main
from tests.fuzz.values import word

SETS = (
    "simulation.dt",
    "simulation.duration",
    "ground.normal.k",
    "gravity",
    "ball.drop",
    "x.y.z",
    "",
)
SCENES = ("bouncing-ball", "box-drop", "foot", "nothing", "", "\0", ".", "/dev/null", "x" * 300)
VERBS = (
    ("run", "--print"), ("list", "laws"), ("list",), ("cite",), ("compare", "--settle"), ("view",),
    ("sweep", "--worlds"), ("impact", "--link"), ("export",), ("paper",), ("stability",),
)  # fmt: skip


NEWER = (
    ("play", "stand", "--policy"), ("play", "stand", "--out"), ("play", "stand", "--film"),
    ("play", "--robot"), ("validate",), ("validate", "--laws"), ("validate", "--data"),
    ("validate", "cube", "--kept", "--data"), ("validate", "cube", "--report"),
    ("bench", "--quick", "--robots"), ("bench", "--quick", "--robots", "none", "--laws"),
)  # fmt: skip
"""Commands that end for want of a policy, of data, or of a robot of that name."""


def command(random: Random) -> str:
    """Run a command line that ends before anything is compiled."""
    words = _words(random)
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
        mock.patch.dict(os.environ, {"HEELSTRIKE_DATA": folder}),
    ):
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(words)
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
        finally:
            os.chdir(before)
    assert code in (0, 1, 2), (words, code)
    assert "Traceback" not in err.getvalue(), words
    return "taken" if code == 0 else "refused"


def _words(random: Random) -> list[str]:
    if random.random() < 0.6:
        sets = [f"{random.choice(SETS)}={word(random)}" for _ in range(random.randint(1, 2))]
        made = ["run", random.choice(SCENES), "--print"]
        for text in sets:
            made += ["--set", text]
        if random.random() < 0.3:
            made += [random.choice(["--law", "--dt", "--duration", "--drop"]), word(random)]
        return made
    if random.random() < 0.4:
        return [*random.choice(NEWER), word(random)]
    verb = list(random.choice(VERBS))
    wrong = [word(random) for _ in range(random.randint(1, 2))]
    return (
        [*verb, *wrong, "--no-such-option"]
        if verb[0] not in ("run", "list", "cite")
        else [*verb, *wrong]
    )
