"""Commands killed (signal 9) at random moments: whole results or none.

    python -m benchmarks.killing                          # 100 kills
    python -m benchmarks.killing --verbs run,view --kills 20

Each command runs twice in full, once to compile and once for its duration; then it is killed at
times drawn from that duration. After a kill every file in the folder must be whole, or one of ours
that is unfinished; the command again must succeed, remove those, and leave whole files.
"""

from __future__ import annotations

import subprocess
from random import Random

from benchmarks.verbs import VERBS, duration, faults, folder, keep, options, parts, start

AGAIN = ("sweep",)
"""Commands that run again after each kill, since they resume; the others after a part was left."""


def killed(verb: str, wait: float) -> tuple[list[str], bool, bool]:
    """Kill a command after a time; return faults, whether it was running, and had left a part."""
    with folder() as place:
        process = start(VERBS[verb], place)
        try:
            process.communicate(timeout=wait)
            alive = False
        except subprocess.TimeoutExpired:
            alive = True
        process.kill()
        process.communicate()
        found, left = faults(place), bool(parts(place))
        if left or verb in AGAIN:
            again = start(VERBS[verb], place)
            _, said = again.communicate()
            if again.returncode != 0:
                found.append(f"does not run again: {said[-300:]}")
            found += faults(place)
            if parts(place):
                found.append("parts are left after it ran again")
        return [f"{verb}: {fault}" for fault in found], alive, left


def main() -> None:
    asked = options(__doc__ or "", "kills", 100)
    random, findings, rows = Random(asked.seed), [], {}
    verbs = asked.verbs.split(",")
    for number, verb in enumerate(verbs):
        spent = duration(verb)
        kills = asked.number * (number + 1) // len(verbs) - asked.number * number // len(verbs)
        row = {"seconds": round(spent, 2), "kills": kills, "running": 0, "left a part": 0}
        for _ in range(kills):
            found, alive, left = killed(verb, random.uniform(0.3, spent))
            row["running"] += alive
            row["left a part"] += left
            findings += found
            print(*found, sep="\n", end="\n" * bool(found), flush=True)
        rows[verb] = row
        print(f"{verb:10} {row}", flush=True)
    keep("killing", rows, findings, asked.seed)


if __name__ == "__main__":
    main()
