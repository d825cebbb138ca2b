"""A scene run by MuJoCo, as a recording: judged by the same yardsticks as our own.

A record holds the state at the start of a step and the contact forces of that step, as ours does.
Depths, rates, slips, energies and the centre of mass are worked out from MuJoCo's q and v by our
own program; only forces and motion are MuJoCo's. Works are force times the mean velocity of a step;
what constraints do beside contacts, at joint ends and by dry friction, is booked as that of stops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.contact.choose import friction_of
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.measure.peer.trace import Reference, Trace, traced
from heelstrike.record.provenance import decode_attributes, encode_attributes
from heelstrike.record.recording import Recording
from heelstrike.step.inputs import WORKS

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.simulate.scene_file import SceneFile

OBSERVED = ("depth", "depth_rate", "slip", "com", "kinetic", "potential", "contact_position")
"""Variables that our own program computes of a state."""
CHUNK = 4096
"""Number of states that are evaluated together."""


def run_mujoco(
    made: SceneFile, like: Recording, reference: Reference | None = None
) -> tuple[Recording, float]:
    """Run the scene under MuJoCo's contact; return the recording, and the CPU time of its step [s].

    `like` is a run of the same scene, start and step; `reference` sets the servo's reference.
    """
    steps, dt = int(like.info["steps"]), float(like.info["dt"])
    trace = traced(made, steps, dt, reference=reference)
    made_of = Recording(_labelled(made, trace, like.data, dt), made.robot)
    return made_of, trace.seconds / (steps + 1)


def _labelled(made: SceneFile, trace: Trace, like: xr.Dataset, dt: float) -> xr.Dataset:
    series = {
        "q": trace.q,
        "v": trace.v,
        "torque": trace.torque,
        "force": trace.force,
        "normal_force": trace.normal,
        "touching": trace.normal > 0,
        **_observed(made, trace),
    }
    series |= _works(made, trace, series, dt)
    found = {name: like[name].copy(data=x[None]) for name, x in series.items() if name in like}
    bodies = made.scene.bodies
    impulse = np.zeros((len(bodies), 3))
    for k, pair in enumerate(made.scene.pairs):
        if pair.point.body in bodies:
            impulse[bodies.index(pair.point.body)] += trace.force[:-1, k].sum(axis=0) * dt
    ends: dict[str, Any] = {
        "failed": [trace.failed],
        "steps": like["steps"].values,
        "q0": trace.q[:1],
        "v0": trace.v[:1],
        "peak_force": trace.normal.max(axis=0)[None],
        "peak_depth": series["depth"].max(axis=0)[None],
        "impulse": impulse[None],
    }
    found |= {name: like[name].copy(data=np.asarray(x)) for name, x in ends.items()}
    return (
        like.drop_vars(list(like.data_vars)).assign(found).assign_attrs(_attrs(made, like, trace))
    )


def _observed(made: SceneFile, trace: Trace) -> dict[str, np.ndarray]:
    """Evaluate our own program on MuJoCo's states, one world each.

    None of OBSERVED depends on the law, so the scene has springs: coupled laws compile slower.
    """
    count, springs = len(trace.q), Elastic(LinearSpring(), friction=None)
    surfaces = tuple(replace(surface, law=springs) for surface in made.content.surface)
    plain = made.changed(surface=surfaces, materials={})
    sim = plain.simulator(worlds=min(count, CHUNK), bare=True)
    parts: list[dict[str, np.ndarray]] = []
    for first in range(0, count, sim.worlds):
        at = np.minimum(np.arange(first, first + sim.worlds), count - 1)
        sim.reset(q0=trace.q[at], v0=trace.v[at])
        parts.append(sim.observe(*OBSERVED))
    return {name: np.concatenate([part[name] for part in parts])[:count] for name in OBSERVED}


def _works(
    made: SceneFile, trace: Trace, seen: dict[str, np.ndarray], dt: float
) -> dict[str, np.ndarray]:
    """Return the works up to each record [J]."""
    mean = (trace.u[1:] + trace.u[:-1]) / 2
    rate = (seen["depth_rate"][1:] + seen["depth_rate"][:-1]) / 2
    slip = (seen["slip"][1:] + seen["slip"][:-1]) / 2
    normal = -(trace.normal[:-1] * rate).sum(axis=1)
    rubbing = np.einsum("kpx,kpx->k", trace.force[:-1], slip)
    powers = {
        "work_contact": normal,
        "work_friction": rubbing,
        "work_control": (trace.torque[:-1] * mean).sum(axis=1),
        "work_stops": (trace.constraint[:-1] * mean).sum(axis=1) - normal - rubbing,
        "work_joints": -(made.robot.damping * trace.u[1:] * mean).sum(axis=1),
        "work_push": (trace.push[:-1] * mean).sum(axis=1),
    }
    return {name: np.concatenate([[0.0], np.cumsum(powers[name]) * dt]) for name in WORKS}


def _attrs(made: SceneFile, like: xr.Dataset, trace: Trace) -> dict[str, Any]:
    """Return the attributes of the run that it is compared with, except law and time."""
    info = decode_attributes(like)
    laws = made.scene.laws
    friction = {name: friction_of(law).mu_k for name, law in laws.items()}
    info["laws"] = {
        name: {"kind": "MuJoCo", "friction": {"kind": "Cone", "mu": mu}}
        for name, mu in friction.items()
    }
    info["parameters"] = {f"{name}.friction.mu": [mu] for name, mu in friction.items()}
    info["integrator"], info["wall_time"] = "MuJoCo's Euler", trace.seconds
    return encode_attributes(info)
