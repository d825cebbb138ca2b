"""Ctrl-C and SIGTERM at random moments of every command: an end within LIMIT, with 130 or 143.

    python -m benchmarks.signals                          # 12 signals to each command
    python -m benchmarks.signals --verbs view --signals 4

Half of the commands are started as a shell starts them in the background, with Ctrl-C ignored. The
moments are counted from when the command handles signals (before, Python itself is starting). After
a signal every file must be whole, and none of ours unfinished. A process that Python ends by the
signal itself has the status 130 in a shell.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from benchmarks.processes import time_to_end
from benchmarks.verbs import VERBS, duration, faults, folder, keep, options, parts, start

LIMIT = 2.0
"""Time from a signal to the end of the command [s], without the time in which its main thread was
ready and other processes had the cores. Sleeping and waiting for anything else count.
"""
SERVE = {"serve": "view ball.toml --port 0 --no-open"}
"""Commands that never end by themselves."""
PATIENCE = 5.0
"""Longest wait before a signal to those [s]."""


def handles_signals(process: subprocess.Popen[str]) -> bool:
    """Return whether a process has begun to handle SIGTERM."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def interrupted(
    verb: str, number: signal.Signals, background: bool, wait: float
) -> tuple[list[str], tuple[float, float] | None]:
    """Send a signal after a time; return what is wrong, and the time to the end [s]: by the clock,
    and without waiting for a core.
    """
    words = (VERBS | SERVE)[verb]

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with folder() as place:
        process = start(words, place, preexec_fn=ignore if background else None)
        while not handles_signals(process) and process.poll() is None:
            time.sleep(0.01)
        try:
            process.communicate(timeout=wait)
            return [f"{verb}: {fault}" for fault in faults(place)], None
        except subprocess.TimeoutExpired:
            pass
        process.send_signal(number)
        spent, own = time_to_end(process)
        _, said = process.communicate()
        found = faults(place) + [part.name for part in parts(place)]
        # a command that was done; Ctrl-C is the usual end of a server
        done = process.returncode == 0 and (verb not in SERVE or number == signal.SIGINT)
        if not done and process.returncode % 256 not in (128 + number, 256 - number):
            found.append(f"ended with {process.returncode} instead of {128 + number}")
        if "Traceback" in said and "\n" not in words:  # a script shows its own
            found.append(f"a traceback: {said[-400:]}")
        if own > LIMIT:
            found.append(f"took {own:.1f} s, {spent:.1f} s with waiting for a core")
    return [f"{verb}, {number.name}, {wait:.2f} s: {fault}" for fault in found], (spent, own)


def busy() -> float:
    """Return how many processes want each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def main() -> None:
    asked = options(__doc__ or "", "signals", 12)
    random, findings, rows = Random(asked.seed), [], {}
    for verb in [*asked.verbs.split(","), *SERVE]:
        whole = PATIENCE if verb in SERVE else duration(verb)
        times = []
        for k in range(asked.number):
            number = (signal.SIGINT, signal.SIGTERM)[k % 2]
            wait = random.uniform(0.0, whole)
            found, spent = interrupted(verb, number, k % 4 >= 2, wait)
            times += [] if spent is None else [spent]
            findings += found
            print(*found, sep="\n", end="\n" * bool(found), flush=True)
        longest, own = (max(each) for each in zip(*times, strict=True)) if times else (0, 0)
        rows[verb] = {"sent": len(times), "longest [s]": round(longest, 2)}
        rows[verb]["longest without waiting for a core [s]"] = round(own, 2)
        rows[verb]["load over cores"] = round(busy(), 1)
        print(f"{verb:10} {rows[verb]}", flush=True)
    keep("signals", rows, findings, asked.seed)


if __name__ == "__main__":
    main()
