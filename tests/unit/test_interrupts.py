"""Ctrl-C and SIGTERM at any moment: a command ends within two seconds, with 130 or 143.

The wait inside a call that never returns to Python, like a compiler's, is one of the C library's.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from benchmarks.processes import time_to_end
from heelstrike.impact.nlp import ipopt
from heelstrike.interrupts import partial_results

SCENE = '[[object]]\nmodel = "ball"\ndrop = 0.1\n[[surface]]\ntype = "plane"\n'
STUCK = """
import ctypes, sys
from heelstrike.files import whole_file
from heelstrike.interrupts import ends_promptly
libc = ctypes.CDLL(None)
with ends_promptly(), whole_file("result.nc") as part:
    part.write_text("half")
    print("ready", flush=True)
    for _ in range(20):
        libc.usleep(900_000)  # which a signal ends early; Python is not asked meanwhile
"""
BUSY = """
import ctypes
from heelstrike.files import whole_file
from heelstrike.interrupts import ends_promptly
with ends_promptly(), whole_file("result.nc") as part:
    part.write_text("half")
    print("ready", flush=True)
    lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
    lock(mutex)
    lock(mutex)  # waits for ever, through any signal
"""
RUN = """
import sys
from heelstrike.cli import main
from heelstrike.simulate import rollout
usual = rollout._allocate
def allocate(*arguments):
    print("ready", flush=True)
    return usual(*arguments)
rollout._allocate = allocate
main(sys.argv[1:])
"""


def ended(process, number, limit):
    """Send a signal; return the exit status, after less than `limit` seconds of its own: those in
    which other processes had the cores are left out.
    """
    process.send_signal(number)
    assert time_to_end(process)[1] < limit
    return process.wait()


@pytest.mark.parametrize("code", [STUCK, BUSY], ids=["stuck", "busy"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("background", [False, True])
def test_a_call_into_c_is_ended(code, number, background, tmp_path):
    """Also where the shell that started it had Ctrl-C ignored."""
    ignore = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if background else None
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        preexec_fn=ignore,
    )
    assert process.stdout.readline() == b"ready\n"
    status = ended(process, number, limit=2.0)
    expected = 128 + number
    if number == signal.SIGINT and status != expected:  # KeyboardInterrupt itself
        assert b"KeyboardInterrupt" in process.stderr.read()
    else:
        assert status == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_ends_with_its_signal(number, tmp_path):
    """Ctrl-C keeps what was simulated; SIGTERM leaves nothing half-written."""
    (tmp_path / "ball.toml").write_text(SCENE)
    words = "run ball.toml --duration 1e5 --no-picture --set recording.every=1000000 -o b.nc"
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    status = ended(process, number, limit=4.0)  # the rest of a run is saved
    assert status == 128 + number
    assert [path.name for path in tmp_path.glob(".heelstrike*")] == []
    assert (tmp_path / "b.nc").exists() == (number == signal.SIGINT)
    assert b"Traceback" not in process.stderr.read()


FINALIZER = """
import signal, time, weakref
from heelstrike.interrupts import ends_promptly
class Kept:
    pass
with ends_promptly():
    kept = Kept()
    end = weakref.finalize(kept, lambda: None)
    reference = weakref.ref(kept, lambda _: signal.raise_signal(signal.{name}))
    del kept  # the handler is called inside the callback, where exceptions are lost
    for _ in range(100):
        time.sleep(0.05)
"""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", -signal.SIGINT), ("SIGTERM", 143)])
def test_a_signal_inside_a_finalizer_is_not_lost(name, status):
    words = [sys.executable, "-c", FINALIZER.format(name=name)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == status
    assert "Exception ignored" not in done.stderr


FOREIGN = """
import signal, sys
from heelstrike import cli
def run(arguments):
    try:
        signal.raise_signal(signal.SIGTERM)
    except SystemExit as error:
        raise ImportError("initialization failed") from error
cli._run = run
cli.main([])
"""


def test_an_exception_that_a_package_makes_of_a_signal_is_no_traceback():
    """As pybind11 does while a module is imported."""
    done = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (143, b"")


class Interrupted(ca.Callback):
    """The function x, during which Ctrl-C is pressed."""

    def __init__(self):
        ca.Callback.__init__(self)
        self.construct("interrupted", {"enable_fd": True})

    def eval(self, x):
        signal.raise_signal(signal.SIGINT)
        return x


def test_a_signal_that_an_optimiser_swallows_is_raised_again():
    """CasADi ends Ipopt and returns what it had: a plan must not be made of that."""
    x, function = ca.MX.sym("x"), Interrupted()
    problem = {"x": x, "f": function(x), "g": x}
    with pytest.raises(KeyboardInterrupt):
        ipopt(problem, np.ones(1), *(end * np.ones(1) for end in (-2, 2, -1, 1)), 10)


SWALLOWED = """
import time
from heelstrike.interrupts import ends_promptly
with ends_promptly():
    print("ready", flush=True)
    until = time.monotonic() + 15
    while time.monotonic() < until:
        try:
            time.sleep(0.01)
        except BaseException:
            pass
"""


def test_a_package_that_swallows_sigterm_is_ended():
    process = subprocess.Popen([sys.executable, "-c", SWALLOWED], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    assert ended(process, signal.SIGTERM, limit=4.0) == 128 + signal.SIGTERM


def test_only_commands_that_keep_partial_results_return_from_a_run():
    """Others end at Ctrl-C: bench went on with what a run had made."""
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()))
    start = [0, 0, 0.5, 0, 0, 0, 1]

    def press(s):
        if s.time[0] > 0.005:
            signal.raise_signal(signal.SIGINT)

    options = {"q0": start, "controller": press, "control_every": 1}
    assert 0 < sim.run(1.0, **options).info["steps"] < 1000
    with partial_results(kept=False), pytest.raises(KeyboardInterrupt):
        sim.run(1.0, **options)
