"""Errors that carry data: what is wrong, what was expected and what to do next.

Every sentence is made here, from the data, by `sentence`. Callers read the attributes and never
search the text.
"""

from __future__ import annotations

import difflib
import math
import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

FEW = 3
"""Largest number of choices that are all listed beside the nearest one."""
MANY = 8
"""Largest number of entries of an array that a sentence shows."""


def sentence(problem: str, allowed: str | None = None, remedy: str | None = None) -> str:
    """Return the text of an error: the problem, what is allowed, and what to do.

    The parts are separated by semicolons: "friction.mu is -1; allowed: at least 0; ...".
    """
    parts = [problem, f"allowed: {allowed}" if allowed else "", remedy or ""]
    return "; ".join(part for part in parts if part)


class HeelstrikeError(Exception):
    """Base of every error that Heelstrike raises on purpose.

    Attributes:
        path: parameter, key, element or file that is at fault, if one is.
        value: the value that was given for it.
        allowed: what is allowed instead, in words.
        remedy: what to do, in words.
        line: line of the file, counted from 1.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | None = None,
        value: object = None,
        allowed: str | None = None,
        remedy: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(sentence(problem, allowed, remedy))
        self.problem = problem
        self.path = path
        self.value = value
        self.allowed = allowed
        self.remedy = remedy
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, by which errors of workers reach their caller with all data.

        A value that cannot be pickled, such as a function, is replaced by its text.
        """
        data = dict(self.__dict__)
        try:
            pickle.dumps(data["value"])
        except Exception:  # whatever an object of the user's raises
            data["value"] = repr(data["value"])
        return _restored, (type(self), self.args, data)


class MissingPackageError(HeelstrikeError, AttributeError):
    """A package that an optional part needs and that is not installed.

    It is an AttributeError too, which hasattr() expects.
    """


class ParameterError(HeelstrikeError):
    """A parameter outside its range, or of the wrong kind."""

    def __init__(
        self, path: str, value: object, allowed: str, remedy: str = "", owner: str = ""
    ) -> None:
        """Report that `path`, a parameter of `owner` (a law, a surface, ...), cannot be `value`."""
        where = f"{owner}: {path}" if owner else path
        super().__init__(
            f"{where} is {_shown(value)}", path=path, value=value, allowed=allowed, remedy=remedy
        )
        self.owner = owner


class UnknownNameError(HeelstrikeError):
    """A name that nothing here has."""

    def __init__(
        self,
        kind: str,
        name: object,
        choices: Iterable[str],
        plural: str = "",
        path: str = "",
        owner: str = "",
    ) -> None:
        """Report that there is no `kind` called `name`; the nearest of the choices is suggested.

        Args:
            kind: what the name stands for, such as "joint".
            name: the unknown name.
            choices: the known names; all of them are listed where none is near.
            plural: the word before that list, if it is not `kind` with an s.
            path: parameter or key that holds the name.
            owner: what should have it: "hoap1" makes "hoap1 has no joint 'x'".
        """
        self.kind = kind
        self.choices = tuple(choices)
        self.nearest = nearest(str(name), self.choices)
        listed = f"{plural or kind + 's'}: {', '.join(self.choices) or 'none'}"
        hint = f"did you mean '{self.nearest}'?" if self.nearest else listed
        if self.nearest and len(self.choices) <= FEW:
            hint = f"{hint} {listed}"
        missing = f"{owner} has no {kind} '{name}'" if owner else f"no {kind} '{name}'"
        super().__init__(missing, path=path or None, value=name, remedy=hint)


class LoadError(HeelstrikeError):
    """A robot file that cannot be used; `path` is the file or the element."""


class SceneError(HeelstrikeError):
    """A scene file that cannot be used; `path` is the key, `line` its line."""


class FileError(HeelstrikeError):
    """A file that cannot be used: absent, unreadable, damaged or of another kind; `path` is it."""


class TraceError(HeelstrikeError):
    """An expression that cannot become machine code."""


class ProgramError(HeelstrikeError):
    """A program that was built or called in a way that has no meaning."""


class HeelstrikeWarning(UserWarning):
    """Something that was understood, but ignored or changed; names it and says what was done."""


@contextmanager
def at_path(path: str) -> Iterator[None]:
    """Give errors raised inside the path of the parameter or key that is at fault."""
    try:
        yield
    except HeelstrikeError as error:
        error.path = path
        raise


def _shown(value: object) -> str:
    """Return a value for a sentence: of an array with many numbers what it is, not the numbers."""
    array: Any = value
    shape = getattr(array, "shape", ())
    if not isinstance(shape, tuple) or math.prod(shape) <= MANY:
        return f"{array!r:.80}"
    dtype = getattr(array, "dtype", None)
    real = getattr(dtype, "kind", "") == "f"
    wrong = int((~(abs(array) < math.inf)).sum()) if real else 0
    few = f" with {wrong} that are not finite" if wrong else ""
    return f"an array of {str(dtype).removeprefix('torch.')} of shape {tuple(shape)}{few}"


def _restored(
    kind: type[HeelstrikeError], args: tuple[object, ...], data: dict[str, object]
) -> HeelstrikeError:
    """Return an error from its text and data, whatever arguments its class takes."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(data)
    return error


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that is spelled most like a word, if any is close; case is ignored."""
    small = {name.lower(): name for name in choices}
    close = difflib.get_close_matches(word.lower(), small, n=1)
    return small[close[0]] if close else None
