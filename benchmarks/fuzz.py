"""Hostile inputs with seeds that nobody has seen: refused, right, or a finding.

    python -m benchmarks.fuzz                     # 10,000 cases, seeds from the clock
    python -m benchmarks.fuzz --first 7 --cases 600

tests/fuzz has the kinds of cases and their oracles. Cases run in child processes, so that a crash
or a case that takes longer than LIMIT is a finding like any other.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

LIMIT = 30
"""CPU time of a case [s]; a case that waits for something may take ten times as long by the clock.
"""
SHARES = {
    "robot": 20, "scene": 15, "file": 15, "message": 10, "call": 15, "command": 10, "option": 15
}  # fmt: skip
"""Cases of each kind in a hundred."""
BATCH = 250
"""Cases of one child process."""
KEPT = Path(__file__).parent / "results" / "fuzz.json"


def batch(kind: str, seeds: range, out: int) -> None:
    """Judge cases in this process, and write a line for each before and after it."""
    from tests.fuzz import KINDS

    def late(*_: object) -> None:
        raise TimeoutError(f"longer than {LIMIT} s")

    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGPROF, late)
    for number in seeds:
        os.write(out, f"{json.dumps([number, 'begun'])}\n".encode())
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        signal.alarm(10 * LIMIT)
        try:
            found = KINDS[kind](Random(number))
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            found = f"{type(error).__name__} at {place}: {str(error)[:150]}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        os.write(out, f"{json.dumps([number, found])}\n".encode())


def judged(kind: str, seeds: range) -> dict[int, str]:
    """Return the result of each seed, from child processes that may crash."""
    results: dict[int, str] = {}
    left = seeds
    while left:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(read)
                quiet = os.open(os.devnull, os.O_WRONLY)
                os.dup2(quiet, 2)
                batch(kind, left[:BATCH], write)
            finally:
                os._exit(0)
        os.close(write)
        with open(read, closefd=True) as lines:
            for line in lines:
                number, found = json.loads(line)
                results[number] = found
        _, status = os.waitpid(child, 0)
        dead = next((n for n, found in results.items() if found == "begun"), None)
        if dead is not None:
            results[dead] = f"the process ended with status {status}"
        left = range(max(results) + 1, seeds.stop)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--first", type=int, default=time.time_ns() % 2**40)
    parser.add_argument("--cases", type=int, default=10_000)
    options = parser.parse_args()
    import heelstrike  # noqa: F401  once, for all children

    begun, rows, findings = time.process_time(), {}, []
    for kind, share in SHARES.items():
        count = options.cases * share // 100
        results = judged(kind, range(options.first, options.first + count))
        tally = Counter(x if x in ("taken", "refused") else "finding" for x in results.values())
        rows[kind] = {name: tally[name] for name in ("taken", "refused", "finding")}
        findings += [
            [kind, number, found]
            for number, found in results.items()
            if found not in ("taken", "refused")
        ]
        print(f"{kind:10} {rows[kind]}", flush=True)
    for finding in findings:
        print(*finding)
    made = {"first": options.first, "cases": options.cases, "kinds": rows, "findings": findings}
    if options.cases >= 10_000:
        KEPT.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{sum(sum(row.values()) for row in rows.values())} cases, {len(findings)} findings")
    print(f"{time.process_time() - begun:.0f} s in this process")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
