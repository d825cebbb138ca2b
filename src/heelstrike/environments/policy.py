"""Policies from ONNX files, run by onnxruntime: observation terms in, actions of the servo out.

A small TOML file beside the ONNX file describes what the policy sees and moves, so that one that
was trained elsewhere can be played here; docs/control.md has its keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike import checks
from heelstrike.checks import number
from heelstrike.environments.actions import SCALE, position_joints, torque_joints
from heelstrike.environments.arrays import Arrays
from heelstrike.environments.observation import Observation, StateLayout
from heelstrike.errors import (
    FileError,
    HeelstrikeError,
    MissingPackageError,
    ParameterError,
    UnknownNameError,
)
from heelstrike.files import check_regular
from heelstrike.record.recording import Recording
from heelstrike.scene.files.document import parse_document
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.target import check_choice

ORDERED = ("joints", "joint_velocities")
"""Terms in the order of the policy's joints."""


@dataclass(frozen=True)
class PolicyDescription:
    """What a policy sees and moves: the keys of its TOML file."""

    observation: Sequence[str | Mapping[str, Any]]
    """Terms, side by side: names, or {term = "twist", scale = 0.5}."""
    period: float = 0.02
    """Time from action to action [s]."""
    action: str = "position"
    """"position": references start + scale * action of the servo; "torque": scale * action."""
    scale: float | Sequence[float] = SCALE
    """Position [rad or m] or torque [N m or N] of the action 1, for all joints or each."""
    clip: float | None = None
    """Largest action; None: actions are not clipped."""
    joints: Sequence[str] = ()
    """Joints in the policy's order; empty: all driven ones in the robot's order."""
    command: Sequence[float] = field(default_factory=tuple)
    """Value of the term "command"."""
    cycle: float | None = None
    """Time of a cycle of the term "phase", sine and cosine of a clock [s]."""

    def __post_init__(self) -> None:
        number("period", self.period, "a time above 0 s", above=0.0)
        check_choice("action", self.action, ("position", "torque"))
        if self.clip is not None:
            number("clip", self.clip, "a number above 0, or None", above=0.0)
        if self.cycle is not None:
            number("cycle", self.cycle, "a time above 0 s, or None", above=0.0)
        joints = checks.names("joints", self.joints)
        if len(set(joints)) < len(joints):
            raise ParameterError("joints", self.joints, "different joints")
        for name in ("scale", "command"):
            array = checks.array_of_numbers(getattr(self, name))
            if array is None or array.ndim > 1 or not np.isfinite(array).all():
                raise ParameterError(name, getattr(self, name), "finite numbers in a list")
        self.terms()

    def terms(self) -> list[tuple[str, float]]:
        """Names and scales of the observation's terms."""
        allowed = "terms: names, or {term = NAME, scale = NUMBER}"
        found = self.observation
        if isinstance(found, str) or not isinstance(found, Sequence) or not found:
            raise ParameterError("observation", found, allowed)
        terms = []
        for one in found:
            entry = {"term": one} if isinstance(one, str) else one
            known = isinstance(entry, Mapping) and entry.keys() <= {"term", "scale"}
            if not known or not isinstance(entry.get("term"), str):
                raise ParameterError("observation", one, allowed)
            terms.append((entry["term"], number("scale", entry.get("scale", 1.0))))
        return terms


class Policy:
    """A policy from an ONNX file and its description."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        description: str | os.PathLike[str] | PolicyDescription | None = None,
    ) -> None:
        """Load a policy.

        Args:
            path: ONNX file; its first input takes observations, its first output is the action.
            description: TOML file; by default the one beside the ONNX file, of the same name.

        Raises:
            HeelstrikeError: onnxruntime is missing, or a file cannot be used.
        """
        self.path = checks.path("path", path)
        if not isinstance(description, PolicyDescription):
            if description is None:
                check_regular(self.path)
                description = self.path.with_suffix(".toml")
            description = read_description(description)
        self.description = description
        self._session = _session(self.path)
        inputs = self._session.get_inputs()
        if not inputs or not inputs[0].shape:
            raise FileError(
                f"'{path}' takes no rows of numbers",
                path=str(path),
                remedy="export a policy whose only input is the observation, (worlds, n)",
            )
        self._input = inputs[0]
        size = self._input.shape[-1]
        self.size: int | None = size if isinstance(size, int) else None
        """Number of values that it takes; None if the file does not say."""

    @property
    def sensors(self) -> list[str]:
        """Terms that a simulator must have as sensors: quantities of bodies, links and sites."""
        return [name for name, _ in self.description.terms() if "." in name]

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """Return the actions of observations, (worlds, n)."""
        rows = np.ascontiguousarray(observation, np.float32)
        single = self._input.shape[:1] == [1] and len(rows) > 1
        parts = [rows[i : i + 1] for i in range(len(rows))] if single else [rows]
        try:
            found = [self._session.run(None, {self._input.name: x})[0] for x in parts]
        except Exception as error:  # of onnxruntime, which has many
            reason = str(error).splitlines()[0]
            raise HeelstrikeError(
                f"'{self.path}' takes no observations of shape {rows.shape}: {reason}",
                path=str(self.path),
                remedy="export a policy whose only input is the observation, as float32",
            ) from error
        return np.concatenate([np.atleast_2d(x) for x in found])

    def command(self, values: Sequence[float]) -> None:
        """Set the value of the term "command", in place of that of the description."""
        told = self.description.command
        if told and len(values) != len(told):
            raise ParameterError("command", values, f"{len(told)} numbers, as in its TOML file")
        self.description = replace(self.description, command=tuple(values))

    def controller(self, sim: Simulator) -> PolicyController:
        """Return a controller for `sim.run`, which holds the policy's last action."""
        return PolicyController(self, sim)

    def play(self, sim: Simulator, duration: float, **options: Any) -> Recording:
        """Run a simulator under the policy and return the recording.

        Args:
            sim: simulator with the policy's `sensors`, and a servo unless actions are torques.
            duration: simulated time [s].
            options: those of `Simulator.run`.
        """
        every, controller = self.steps(float(sim.dt[0])), self.controller(sim)
        return sim.run(duration, controller=controller, control_every=every, **options)

    def steps(self, dt: float) -> int:
        """Return the number of time steps [s] from action to action."""
        period = self.description.period
        every = round(period / dt)
        if abs(every * dt - period) > 1e-3 * period:
            raise ParameterError("period", period, f"whole steps of {dt:g} s", owner=str(self.path))
        return every


class PolicyController:
    """Computes observations, asks the policy, and returns parameters of the control."""

    def __init__(self, policy: Policy, sim: Simulator) -> None:
        told = policy.description
        self.policy, self.arrays = policy, Arrays(sim)
        start = np.atleast_2d(sim.start["q"])[0]
        self._layout = StateLayout(self.arrays, start, told.period)
        which = position_joints if told.action == "position" else torque_joints
        self.path, driven = which(sim)
        names = {j.iv + k: j.name for j in sim.robot.joints for k in range(j.nv)}
        own = [names[i] for i in driven]
        wanted = list(checks.names("joints", told.joints)) or own
        if np.size(told.scale) not in (1, len(wanted)):
            raise ParameterError("scale", told.scale, f"one number, or {len(wanted)}, one a joint")
        for name in wanted:
            if name not in own:
                raise UnknownNameError("joint", name, own, path="joints", owner=sim.robot.name)
        self._columns = [driven[own.index(name)] for name in wanted]
        seen = list(self._layout.names)
        self._order = [seen.index(name) for name in wanted if name in seen]
        self._base = np.atleast_2d(sim.parameters[self.path]).repeat(sim.worlds, 0)[: sim.worlds]
        self._action = np.zeros((sim.worlds, len(wanted)))
        self._impulse = 1 * self._layout.impulse
        self._check(self.observation())

    def observation(self) -> np.ndarray:
        """Return the terms side by side, (worlds, n)."""
        seen = Observation(self._layout, self._action, self._impulse)
        self._impulse = 1 * self._layout.impulse
        terms = self.policy.description.terms()
        return np.concatenate([scale * self._term(seen, n) for n, scale in terms], 1)

    def __call__(self, s: object) -> Mapping[str, np.ndarray]:
        told = self.policy.description
        action = self.policy(self.observation())
        if action.shape != self._action.shape:
            raise HeelstrikeError(
                f"the policy returned actions of shape {action.shape}",
                path=str(self.policy.path),
                allowed=f"{self._action.shape}, one for each joint",
                remedy="name those that it moves, in its order, as `joints` of its TOML file",
            )
        if action.dtype.kind not in "fiub" or not np.isfinite(action).all():
            raise HeelstrikeError(
                "the policy returned an action that is not finite",
                path=str(self.policy.path),
                remedy="check the scales and the order of its observation",
            )
        self._action = action if told.clip is None else action.clip(-told.clip, told.clip)
        values = self._base.copy() if told.action == "position" else 0 * self._base
        values[:, self._columns] += np.asarray(told.scale) * self._action
        return {self.path: values}

    def reference(self, q: np.ndarray, v: np.ndarray, step: int) -> np.ndarray | None:
        """Return the servo's reference for a state of another simulator, every period.

        The state is written into the first world; quantities that need forces are 0 there.
        """
        if step % self.policy.steps(self._layout.dt):
            return None
        state = self.arrays.sim.state
        state["q"], state["v"], state["clock"] = q, v, step
        return np.atleast_2d(self(None)[self.path])[0]

    def _term(self, seen: Observation, name: str) -> np.ndarray:
        if name == "action":
            return self._action
        if name == "command":
            return np.tile(np.asarray(self.policy.description.command, float), (len(seen.q), 1))
        if name == "phase":
            return np.asarray(seen.phase(self._cycle))
        found: np.ndarray = seen.joined(name)
        return found[:, self._order] if name in ORDERED else found

    @property
    def _cycle(self) -> float:
        if self.policy.description.cycle is None:
            raise HeelstrikeError(
                "the policy sees a clock, but its description has no cycle",
                path=str(self.policy.path),
                remedy="add cycle = 0.6 (in s) to its TOML file",
            )
        return self.policy.description.cycle

    def _check(self, observation: np.ndarray) -> None:
        """Raise if the policy takes another number of values than its terms have."""
        wanted = self.policy.size
        if wanted is not None and wanted != observation.shape[1]:
            seen = Observation(self._layout, self._action, self._impulse)
            terms = self.policy.description.terms()
            sizes = [f"{n} {self._term(seen, n).shape[1]}" for n, _ in terms]
            raise HeelstrikeError(
                f"the policy takes {wanted} numbers, but its terms have {observation.shape[1]}: "
                + ", ".join(sizes),
                path=str(self.policy.path),
                remedy="correct `observation` in its TOML file",
            )


def read_description(path: str | os.PathLike[str]) -> PolicyDescription:
    """Read the description of a policy from a TOML file."""
    file = checks.path("description", path)
    try:
        check_regular(file)
        found = parse_document(file.read_text(encoding="utf-8"), file.name, file.parent).data
    except (HeelstrikeError, OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or error
        raise FileError(
            f"cannot read '{path}', the description of a policy: {problem}",
            path=os.fspath(path),
            remedy="write one: docs/control.md",
        ) from error
    known = [f.name for f in fields(PolicyDescription)]
    for key in found:
        if key not in known:
            raise UnknownNameError("key", key, known, path=key, owner=f"'{path}'")
    if "observation" not in found:
        raise FileError(f"'{path}' does not say what the policy sees", remedy="add observation")
    return PolicyDescription(**found)


def _session(path: Path) -> Any:
    try:
        runtime = import_module("onnxruntime")
    except ImportError as error:
        raise MissingPackageError(
            "hs.Policy needs onnxruntime, which is not installed; run pip install "
            "'heelstrike[onnx]'"
        ) from error
    check_regular(path)
    try:
        return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime, which has many
        reason = str(error).splitlines()[0]
        raise FileError(f"'{path}' is no ONNX model: {reason}", path=str(path)) from error
