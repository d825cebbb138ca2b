"""Every command that writes, in a small case, and whether what it left on the disk is whole.

`killing.py`, `signals.py` and `disks.py` disturb these commands.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np

from heelstrike.files import left_behind
from heelstrike.motion.motion import Motion
from heelstrike.npz import read_arrays
from heelstrike.record.recording import Recording
from heelstrike.runtime.exported import load_exported

SCENE = '[[object]]\nmodel = "ball"\ndrop = 0.1\n[[surface]]\ntype = "plane"\nname = "ground"\n'
IDENTIFY = """
import heelstrike as hs
from heelstrike.interrupts import ends_promptly
with ends_promptly():
    sim = hs.load_scene("ball.toml").simulator()
    run = sim.run(0.3, q0=[0, 0, 0.2, 0, 0, 0, 1], every=10)
    run.save("out/measured.nc")
    law = hs.Elastic(hs.HuntCrossley(), hs.Kinetic())
    fit = hs.identify(run, law, {"normal.k": (1e3, 1e6)}, sets=8, rounds=4)
    fit.model.run(0.3, q0=[0, 0, 0.2, 0, 0, 0, 1]).save("out/found.nc")
"""
WRITE = """
import numpy as np
import heelstrike as hs
from heelstrike.interrupts import ends_promptly
from heelstrike.motion.motion import Motion
with ends_promptly():
    robot = hs.load("hoap1")
    robot.to_mjcf("out/hoap1.xml")
    Motion(np.arange(4000.0), np.ones((4000, 3)), robot="r").save("out/motion.nc")
    sim = hs.Simulator(hs.Scene(robot, hs.Plane()), worlds=50)
    sim.state.save("out/state.npz")
"""
SWEEP = "sweep ball.toml --random ground.normal.k=1e4:1e5 --worlds 600 --chunk 50 --duration 0.2"
VERBS = {
    "run": "run ball.toml --duration 5 -o out/b.nc --picture out/b.png",
    "sweep": f"{SWEEP} -o out/sweep --resume",
    "compare": "compare ball.toml --laws scene --set simulation.duration=0.3 --html out/c.html",
    "identify": IDENTIFY,
    "view": "view ball.toml --export out/v.html",
    "stability": "stability ball.toml --picture out/s.png",
    "paper": "paper marhefka1996 fig3 --jobs 1 --out out --report out",
    "impact": "impact hrp2 --link r_hand --out out/i.png",
    "export": "export ball.toml -o out/b.hs",
    "export C": "export ball.toml --c out",
    "inspect": "inspect biped14 --picture out/p.png",
    "save": WRITE,
    "bench": "bench --quick --laws linear-spring --html out/b.html -o out/b.json",
    "validate": "validate square --quick --laws linear-both --no-mujoco --report out",
    "play": "play stand --duration 0.02 --policy policy.onnx -o out/p.nc --film out/p.gif",
}
"""Arguments of each command, or lines of Python."""
NEEDS = {
    "validate": "data of docs/real-data.md" * ("HEELSTRIKE_DATA" not in os.environ),
    "play": " and ".join(name for name in ("onnx", "onnxruntime") if find_spec(name) is None),
}
"""What a command needs that is not here; "" if nothing."""
JOINTS = 20
"""Joints of hoap1, which the policy moves by nothing."""


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder with a scene and an empty place for results."""
    with TemporaryDirectory() as name:
        prepare(Path(name))
        yield Path(name)


def prepare(place: Path) -> None:
    """Put a scene and an empty place for results into a folder."""
    (place / "ball.toml").write_text(SCENE)
    (place / "policy.toml").write_text('observation = ["gravity"]\n')
    if not NEEDS["play"]:
        from tests.onnx_files import write_linear

        write_linear(place / "policy.onnx", np.zeros((3, JOINTS)))
    (place / "out").mkdir()


Started = subprocess.Popen[str]


def start(words: str, place: Path, env: Mapping[str, str] = {}, **options: Any) -> Started:
    """Start a command in a folder, with its messages in a pipe."""
    program = ["-c", words] if "\n" in words else ["-m", "heelstrike", *words.split()]
    paths = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(":")]
    return subprocess.Popen(
        [sys.executable, *program],
        cwd=place,
        env=os.environ | {"PYTHONPATH": ":".join(paths)} | dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def duration(verb: str) -> float:
    """Return how long a command takes [s], once it is compiled."""
    for _ in range(2):
        with folder() as place:
            begun = time.monotonic()
            process = start(VERBS[verb], place)
            _, said = process.communicate()
            spent = time.monotonic() - begun
            assert process.returncode == 0, f"{verb} ended with {process.returncode}: {said}"
            wrong = faults(place)
            assert not wrong, f"{verb}: {wrong}"
    return spent


INPUTS = ("ball.toml", "policy.toml", "policy.onnx", "sweep.lock")
"""Files that are no results."""


def faults(place: Path) -> list[str]:
    """Return what is neither whole nor ours and unfinished."""
    found = []
    for path in (path for path in place.rglob("*") if path.is_file()):
        if path in left_behind(path.parent) or path.name in INPUTS:
            continue
        try:
            _check(path)
        except Exception as error:
            found.append(f"{path.name}: {error}")
    return found


def parts(place: Path) -> list[Path]:
    """Return the unfinished files of ours in a folder and those below it."""
    folders = [path for path in (place, *place.rglob("*")) if path.is_dir()]
    return [part for path in folders for part in left_behind(path)]


def _check(path: Path) -> None:
    """Raise if a file is not whole."""
    data = path.read_bytes()
    if path.name == "motion.nc":
        Motion.load(path)
    elif path.name == "sweep.nc":
        import xarray as xr

        xr.load_dataset(path, engine="h5netcdf")
    elif path.suffix == ".nc":
        Recording.load(path).summary()
    elif path.suffix == ".npz":
        read_arrays(path)
    elif path.suffix == ".json":
        json.loads(data)
    elif path.suffix == ".hs":
        load_exported(path)
    elif path.suffix == ".xml":
        ElementTree.fromstring(data)
    elif path.suffix in (".o", ".so"):
        table = int.from_bytes(data[40:48], "little")  # where ELF's last table begins
        rows, size = (int.from_bytes(data[at : at + 2], "little") for at in (60, 58))
        assert data[:4] == b"\x7fELF", "no ELF file"
        assert len(data) >= table + rows * size, "without its end"
    else:
        ends = {".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".h": b"#endif", ".gif": b";"}
        assert data, "empty"
        assert data.rstrip().endswith(ends.get(path.suffix, b"")), "without its end"


def options(description: str, name: str, number: int) -> argparse.Namespace:
    """Return the options of a benchmark that disturbs commands a number of times."""
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    here = [verb for verb in VERBS if not NEEDS.get(verb)]
    parser.add_argument("--verbs", default=",".join(here), help="separated by commas")
    parser.add_argument(f"--{name}", dest="number", type=int, default=number)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    for verb in NEEDS:
        if NEEDS[verb]:
            print(f"without {verb}: it needs {NEEDS[verb]}")
    return parser.parse_args()


def keep(name: str, rows: dict[str, Any], findings: list[str], seed: int) -> None:
    """Print what was found, put the rows of these commands into the results, and exit."""
    path = Path(__file__).parent / "results" / f"{name}.json"
    kept = json.loads(path.read_text())["verbs"] if path.exists() else {}
    for verb, row in rows.items():
        own = [text for text in findings if text.startswith((f"{verb}:", f"{verb},"))]
        kept[verb] = row | {"date": time.strftime("%Y-%m-%d"), "seed": seed, "findings": own}
    path.write_text(json.dumps({"verbs": kept}, indent=1) + "\n")
    print(f"{len(findings)} findings (seed {seed})")
    sys.exit(bool(findings))
