"""Gymnasium environments over a simulator's worlds. Needs the extra heelstrike[gym].

Importing this registers `heelstrike/Stand-v0` with Gymnasium.
"""

from __future__ import annotations

from heelstrike.errors import HeelstrikeError

try:
    import gymnasium
except ImportError as error:
    raise HeelstrikeError(
        "hs.Environments needs the package gymnasium: pip install 'heelstrike[gym]'"
    ) from error

from heelstrike.environments.environments import Environments
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.seen import Seen
from heelstrike.environments.single import Single, stand, stands
from heelstrike.environments.starts import Draw

__all__ = ["Draw", "Environments", "Pushes", "Seen", "Single"]

gymnasium.register(
    id="heelstrike/Stand-v0",
    entry_point=stand,
    vector_entry_point=stands,
)
