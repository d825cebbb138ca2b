"""What README and docs tell a reader to run: blocks of Python, and commands, in order.

A command is a line of four spaces, or one after `$ ` in a block, or a piece of text in code style,
that begins with the name of a program. Two spaces or ` #` end it: what follows is prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
PROGRAM = r"(?:heelstrike|python|pytest|pip|make)"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TYPED = re.compile(rf"^(?:    |\$ )({PROGRAM} .*)$", re.MULTILINE)
SHOWN = re.compile(rf"`({PROGRAM} [^`\n]*)`")
PLACEHOLDER = re.compile(
    r"\b(?:SCENE|FILE|DIR|NAME|ITEM|ROBOT|LINK|LAW|FOLDER)\b|\.\.\.|\[|^heelstrike \w+( --set)?$"
)

ELSEWHERE = {
    r"pip install ": "installs from a network",
    r"make (demo|test|test-oldest|lint|docs)$": "what CI does, or an example",
    r"(python -m )?pytest ": "is a test itself, mostly a nightly one",
    r"heelstrike view (?!.*--export)": "serves until Ctrl-C: tests/unit/test_viewer.py",
    r"python examples/": "tests/unit/test_examples.py",
    r"python (docs|tools)/": "draw what is committed; minutes",
    r"python -m benchmarks\.": "minutes, and figures of the machine",
    r"heelstrike play ": "needs onnxruntime: tests/unit/test_walk.py",
    r"heelstrike validate": "needs third-party data: tests/unit/test_validate.py",
    r"heelstrike bench (?!--quick)": "ten minutes: tests/unit/test_bench.py",
}
"""Commands that no test of the pages runs, and why. What they name must be there."""
LONG = {
    r"heelstrike paper \w+": "seconds to minutes: every item is tested in tests/papers",
    r"heelstrike sweep push": "676 worlds: tests/unit/test_sweep.py has smaller ones",
    r"heelstrike (compare|stability) ": "minutes of compiling: tests/unit/test_compare_laws.py",
    r"heelstrike impact hrp2": "half a minute of compiling",
    r"heelstrike bench --quick": "half a minute: tests/unit/test_bench.py",
}
"""Commands that run in the nightly test."""
QUICK = ("heelstrike paper marhefka1996 operations",)


@dataclass(frozen=True)
class Step:
    """One thing to run: its kind is python, toml or command."""

    kind: str
    text: str

    @property
    def elsewhere(self) -> bool:
        return any(re.match(pattern, self.text) for pattern in ELSEWHERE)

    @property
    def syntax(self) -> bool:
        return bool(PLACEHOLDER.search(self.text))

    @property
    def long(self) -> bool:
        return self.text not in QUICK and any(re.match(each, self.text) for each in LONG)

    @property
    def now(self) -> bool:
        return self.kind != "command" or not (self.elsewhere or self.syntax or self.long)


def steps(page: str) -> list[Step]:
    """Of a page, in order."""
    text = (ROOT / page).read_text()
    found: list[tuple[int, Step]] = []
    for block in FENCED.finditer(text):
        if block[1] in ("python", "toml"):
            found.append((block.start(), Step(block[1], block[2])))
        found += [(block.start() + 1, typed(line[1])) for line in TYPED.finditer(block[2])]
    outside = FENCED.sub(lambda block: " " * len(block[0]), text)  # places stay
    for pattern in (TYPED, SHOWN):
        found += [(line.start(), typed(line[1])) for line in pattern.finditer(outside)]
    return [step for _, step in sorted(found, key=lambda each: each[0])]


def typed(line: str) -> Step:
    return Step("command", re.split(r"\s{2,}| #", line.replace("\\|", "|"))[0].strip())


def named(command: str) -> list[Path]:
    """Files of the repository that a command names."""
    module = re.match(r"python -m (benchmarks\.\w+)", command)
    if module:
        return [ROOT / (module[1].replace(".", "/") + ".py")]
    return [
        ROOT / word for word in command.split() if re.match(r"(docs|examples|tests|tools)/", word)
    ]
