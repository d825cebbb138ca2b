"""What goes wrong in a user's hands, said in a sentence that names the next step."""


class HeelstrikeError(Exception):
    """Base of every error that Heelstrike raises on purpose."""


class LoadError(HeelstrikeError):
    """A robot file that cannot be used: names the file, the element and the remedy."""


class SceneError(HeelstrikeError):
    """A scene file that cannot be used: names the file, the line, the key and the remedy."""


class TraceError(HeelstrikeError):
    """An expression that cannot become machine code."""


class ProgramError(HeelstrikeError):
    """A program that was built or called in a way that has no meaning."""


class HeelstrikeWarning(UserWarning):
    """Something that was understood, but left out or changed: names it and says what was done."""
