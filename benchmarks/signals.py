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
import resource
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from benchmarks.verbs import VERBS, duration, faults, folder, keep, options, parts, start

LIMIT = 2.0
"""CPU time from a signal to the end of the command [s]; by the clock, too, where the machine has
a core for it, and longer in proportion where it is busier (load over cores).
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
    """Send a signal after a time; return what is wrong, and time and CPU time to the end [s]."""
    words, before = (VERBS | SERVE)[verb], _children()

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
        begun, worked = time.monotonic(), _worked(process)
        process.send_signal(number)
        _, said = process.communicate()
        spent = time.monotonic() - begun
        worked = _children() - before - worked
        found = faults(place) + [part.name for part in parts(place)]
        # a command that was done; Ctrl-C is the usual end of a server
        done = process.returncode == 0 and (verb not in SERVE or number == signal.SIGINT)
        if not done and process.returncode % 256 not in (128 + number, 256 - number):
            found.append(f"ended with {process.returncode} instead of {128 + number}")
        if "Traceback" in said and "\n" not in words:  # a script shows its own
            found.append(f"a traceback: {said[-400:]}")
        if worked > LIMIT or spent > LIMIT * max(1.0, busy()):
            found.append(f"took {spent:.1f} s, {worked:.1f} s of a processor")
    return [f"{verb}, {number.name}, {wait:.2f} s: {fault}" for fault in found], (spent, worked)


def busy() -> float:
    """Return how many processes want each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _children() -> float:
    """Return the CPU time of all processes that this one has waited for [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _worked(process: subprocess.Popen[str]) -> float:
    """Return the CPU time of a process so far [s]."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
        longest, worked = (max(each) for each in zip(*times, strict=True)) if times else (0, 0)
        rows[verb] = {"sent": len(times), "longest [s]": round(longest, 2)}
        rows[verb]["longest CPU time [s]"] = round(worked, 2)
        rows[verb]["load over cores"] = round(busy(), 1)
        print(f"{verb:10} {rows[verb]}", flush=True)
    keep("signals", rows, findings, asked.seed)


if __name__ == "__main__":
    main()
