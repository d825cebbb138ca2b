"""`heelstrike cite [NAME]`: sources of laws, and citations of papers and of Heelstrike."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from heelstrike.cli.console import print_json
from heelstrike.cli.options import Json
from heelstrike.errors import UnknownNameError

OURS = "Heelstrike"


def cite(
    name: Annotated[
        str | None, typer.Argument(help="Law, paper or citation key; default: all.")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print plain lines in place of BibTeX.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the sources of a law or a paper as BibTeX."""
    references = _references()
    found = {key: references[key] for key in _keys(name, references)}
    if as_json:
        entries = [{"key": k, "text": t, "bibtex": bibtex(k, t)} for k, t in found.items()]
        print_json(entries)
        return
    lines = [f"[{key}] {text}." if plain else bibtex(key, text) for key, text in found.items()]
    print(("\n" if plain else "\n\n").join(lines))


def bibtex(key: str, text: str) -> str:
    """Return a BibTeX entry from a line "authors: title, where, year"."""
    authors, _, rest = text.partition(": ")
    title, _, where = rest.partition(", ")
    year = re.findall(r"\b(?:19|20)\d\d\b", where)
    fields = {
        "author": " and ".join(authors.split(", ")),
        "title": f"{{{title}}}",
        "howpublished": re.sub(r",? ?\b(?:19|20)\d\d$", "", where),
        "year": year[-1] if year else "",
    }
    inside = ",\n".join(f"  {word} = {{{value}}}" for word, value in fields.items() if value)
    return f"@misc{{{key},\n{inside}\n}}"


def _references() -> dict[str, str]:
    from heelstrike import __version__
    from heelstrike.contact.catalog import REFERENCES

    own = (
        "{The Heelstrike developers}: Heelstrike: a contact laboratory and simulator for legged "
        f"and humanoid robots, version {__version__}, 2026"
    )
    return {OURS: own, **REFERENCES}


def _keys(name: str | None, references: dict[str, str]) -> list[str]:
    """Return the citation keys of a law, a paper or a key."""
    from heelstrike.contact.catalog import laws

    if name is None:
        return list(references)
    by_name: dict[str, tuple[str, ...]] = {key.lower(): (key,) for key in references}
    by_name |= {law.name: law.sources for law in laws()}
    if name.lower() not in by_name:
        raise UnknownNameError("law or paper", name, by_name, "names")
    return list(by_name[name.lower()])
