"""Commands killed (signal 9) at random moments: whole results or none.

    python -m benchmarks.killing --kills 100

Each command runs twice in full, once to compile and once for its duration; then it is killed at
times drawn from that duration. After a kill every file in the folder must be whole, or one of ours
that is unfinished, which the next command removes; a sweep must resume.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from heelstrike.files import left_behind
from heelstrike.record.recording import Recording

SCENE = '[[object]]\nmodel = "ball"\ndrop = 0.1\n[[surface]]\ntype = "plane"\nname = "ground"\n'
SWEEP = "sweep ball.toml --random ground.normal.k=1e4:1e5 --worlds 600 --chunk 50 --duration 0.2"
COMMANDS = {
    "run": "run ball.toml --duration 20 -o out/b.nc",
    "sweep": f"{SWEEP} -o out/sweep --resume",
    "compare": "compare ball.toml --duration 0.3 --html out/c.html",
    "view": "view ball.toml --export out/v.html",
}
SHARES = {"run": 40, "sweep": 25, "compare": 15, "view": 20}
"""Kills of each command in a hundred."""


def start(words: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "heelstrike", *words.split()]
    paths = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(":")]
    env = os.environ | {"PYTHONPATH": ":".join(paths)}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env=env, stdout=quiet, stderr=quiet)


def faults(folder: Path) -> list[str]:
    """Return what is neither whole nor ours and unfinished."""
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        if path in left_behind(path.parent) or path.name in ("ball.toml", "sweep.lock"):
            continue
        data = path.read_bytes()
        if path.suffix == ".nc":
            try:
                Recording.load(path).summary()
            except Exception as error:
                found.append(f"{path.name}: {error}")
        elif path.suffix == ".html" and not data.rstrip().endswith(b"</html>"):
            found.append(f"{path.name}: a page without an end")
        elif path.suffix == ".png" and not data.endswith(b"IEND\xaeB`\x82"):
            found.append(f"{path.name}: a picture without an end")
    return found


def killed(words: str, wait: float) -> tuple[list[str], bool]:
    """Kill a command after a time; return the faults, and whether it was still running."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ball.toml").write_text(SCENE)
        (folder / "out").mkdir()
        process = start(words, folder)
        try:
            process.wait(wait)
            alive = False
        except subprocess.TimeoutExpired:
            alive = True
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = faults(folder)
        if words.startswith("sweep"):
            if start(words, folder).wait() != 0:
                found.append("the sweep does not resume")
            found += faults(folder)
            if any(left_behind(path) for path in folder.rglob("*") if path.is_dir()):
                found.append("parts are left after the sweep was resumed")
        return found, alive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    options = parser.parse_args()
    random, bad = Random(options.seed), 0
    for verb, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as name:
            Path(name, "ball.toml").write_text(SCENE)
            Path(name, "out").mkdir()
            start(words, Path(name)).wait()  # which compiles
        with tempfile.TemporaryDirectory() as name:
            Path(name, "ball.toml").write_text(SCENE)
            Path(name, "out").mkdir()
            begun = time.monotonic()
            status = start(words, Path(name)).wait()
            spent = time.monotonic() - begun
            assert status == 0, f"{verb} ended with {status}"
        running = 0
        for _ in range(options.kills * SHARES[verb] // 100):
            found, alive = killed(words, random.uniform(0.3, spent))
            running += alive
            bad += bool(found)
            for fault in found:
                print(f"{verb}: {fault}", flush=True)
        print(f"{verb}: {spent:.1f} s in full, {running} killed while running", flush=True)
    print(f"{bad} kills left something half-written (seed {options.seed})")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
