"""Full disks and read-only homes under every command that writes: whole results or a sentence.

    python -m benchmarks.disks                            # as root: also folders mounted read-only
    python -m benchmarks.disks --verbs run --limits 2

A full disk is a limit of the size of files (RLIMIT_FSIZE) drawn between nothing and the largest
result, which refuses a write in the middle of a file. A read-only home has no cache, and a
read-only folder takes no results. No command may leave anything half-written, or a traceback.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.verbs import VERBS, faults, folder, keep, options, parts, prepare, start


@contextmanager
def read_only(content: bool) -> Iterator[Path | None]:
    """Yield a folder that nobody can write to; None where it cannot be mounted."""
    with TemporaryDirectory() as name:
        place = Path(name)
        if content:
            prepare(place)
        mount = ["mount", "--bind", "-o", "ro", name, name]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
            yield None
            return
        try:
            yield place
        finally:
            subprocess.run(["umount", name], check=True)


def said(verb: str, place: Path, may_succeed: bool, **options: object) -> tuple[list[str], int]:
    """Run a command; return what is wrong, and its status."""
    process = start(VERBS[verb], place, **options)  # type: ignore[arg-type]
    _, words = process.communicate()
    wrong = faults(place) + [part.name for part in parts(place)]
    python = "\n" in VERBS[verb]  # a script of a user, who sees the exception
    last = words.strip().splitlines()[-1] if words.strip() else ""
    if process.returncode == 0 and not may_succeed:
        wrong.append("succeeded")
    elif process.returncode == 0:
        pass
    elif python and "heelstrike.errors." not in last:
        wrong.append(f"raised {last}")
    elif not python and (process.returncode != 1 or "Traceback" in words or not words):
        wrong.append(f"ended with {process.returncode}: {words[-300:]}")
    return [f"{verb}: {fault}" for fault in wrong], process.returncode


def largest(verb: str) -> int:
    """Return the size of the largest file that a command writes [bytes]."""
    with folder() as place:
        found, status = said(verb, place, may_succeed=True)
        assert status == 0, found
        return max(path.stat().st_size for path in (place / "out").rglob("*") if path.is_file())


def limited(verb: str, limit: int) -> tuple[list[str], int]:
    """Run a command whose files may not become larger than a limit [bytes]."""

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with folder() as place:
        found, status = said(verb, place, True, preexec_fn=limit_files)
        return [f"{fault} (limit {limit})" for fault in found], status


def main() -> None:
    asked = options(__doc__ or "", "limits", 3)
    random, findings, rows = Random(asked.seed), [], {}
    for verb in asked.verbs.split(","):
        size = largest(verb)
        limits = [0, *(random.randrange(size) for _ in range(asked.number - 1))]
        ends = [limited(verb, limit) for limit in limits]
        row = {"largest file": size, "full disks": len(ends), "refused": sum(s for _, s in ends)}
        with read_only(content=False) as home, folder() as place:
            if home is not None:
                env = {"HOME": str(home), "XDG_CACHE_HOME": "", "HEELSTRIKE_CACHE": ""}
                ends.append(said(verb, place, True, env=env))
                row["read-only home"] = "whole results" if ends[-1][1] == 0 else "failed"
                ends[-1][0].extend([f"{verb}: fails with a read-only home"] * (ends[-1][1] != 0))
        with read_only(content=True) as closed:
            if closed is not None:
                ends.append(said(verb, closed, False))
                row["read-only folder"] = "refused" if ends[-1][1] else "succeeded"
        found = [fault for some, _ in ends for fault in some]
        findings += found
        rows[verb] = row
        print(*found, f"{verb:10} {row}", sep="\n", flush=True)
    keep("disks", rows, findings, asked.seed)


if __name__ == "__main__":
    main()
