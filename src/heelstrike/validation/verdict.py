"""The verdict in words: which differences between models exceed their standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heelstrike.validation.floor import Floor
from heelstrike.validation.judge import CLEAR, Judged, clearly, difference
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Measure


def verdict(
    models: Mapping[str, Judged], measures: Sequence[Measure], floor: Floor | None
) -> list[str]:
    """Return sentences that follow from the numbers of the models, a few for each measure."""
    found = []
    for measure in measures:
        found += _measure(models, measure)
        found += _limits(models, measure, floor)
    return found


def ranks(
    models: Mapping[str, Judged], measures: Sequence[Measure]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return by measure and law whether it is clearly worse (1) or better (-1), or neither (0).

    Each law is compared with the law of the least error, "best", and with "mujoco" if it is there.
    """
    ours = laws(models)
    found: dict[str, dict[str, dict[str, int]]] = {}
    for measure in measures if ours else ():
        others = {"best": best(models, measure.name, ours), MUJOCO: MUJOCO}
        found[measure.name] = {
            law: {
                word: clearly(difference(models[law], models[other], measure.name))
                for word, other in others.items()
                if other in models
            }
            for law in ours
        }
    return found


def laws(models: Mapping[str, Judged]) -> list[str]:
    """Return the names of contact laws among the models."""
    return [name for name in models if not name.startswith(MUJOCO) and name != BASELINE]


def best(models: Mapping[str, Judged], measure: str, names: Sequence[str]) -> str:
    """Return the model with the least mean error; one that diverges nowhere is preferred."""
    return min(names, key=lambda name: (models[name].diverged, models[name].score(measure).mean))


def _measure(models: Mapping[str, Judged], measure: Measure) -> list[str]:
    """Compare the laws with the best of them, with MuJoCo and with no contact."""
    ours = laws(models)
    if not ours:
        return []
    first = best(models, measure.name, ours)
    alike: list[str] = []
    worse: list[str] = []
    for name in ours:
        if name != first:
            apart = difference(models[name], models[first], measure.name)
            (worse if clearly(apart) > 0 else alike).append(name)
    lead = models[first].score(measure.name)
    said = [f"{measure.name}: {first} has the least error, {_written(lead.mean, lead.error)} "
            f"{measure.unit}."]  # fmt: skip
    if alike:
        said.append(f"Within {CLEAR:g} standard errors of it: {', '.join(alike)}.")
    if worse:
        said.append(f"Worse by more than that: {', '.join(worse)}.")
    for name in models:
        if name.startswith(MUJOCO):
            said.append(_beside(models, measure, ours, name))
    if BASELINE in models:
        none = models[BASELINE].score(measure.name)
        said.append(f"Without contact it is {none.mean:.3g} {measure.unit}.")
    return [" ".join(said)]


def _beside(models: Mapping[str, Judged], measure: Measure, ours: Sequence[str], name: str) -> str:
    """Compare all laws with a peer."""
    signs = {law: clearly(difference(models[law], models[name], measure.name)) for law in ours}
    parts = [
        f"{word}: {', '.join(found)}"
        for sign, word in ((-1, "better"), (0, "equal within the errors"), (1, "worse"))
        if (found := [law for law, own in signs.items() if own == sign])
    ]
    score = models[name].score(measure.name)
    return f"{name} has {_written(score.mean, score.error)}; beside it {'; '.join(parts)}."


def _limits(models: Mapping[str, Judged], measure: Measure, floor: Floor | None) -> list[str]:
    """Compare the best law with the aim and with the noise floor."""
    ours, said = laws(models), []
    if not ours:
        return []
    lead = models[best(models, measure.name, ours)].score(measure.name)
    if measure.aim is not None:
        met = [name for name in ours if models[name].score(measure.name).mean < measure.aim]
        say = f"met by {len(met)} of {len(ours)} laws" if met else "met by no law"
        said.append(f"The aim, {measure.aim:g} {measure.unit}, is {say}.")
    if floor is not None:
        noise = floor.start_noise[measure.name]
        said.append(
            f"Noise of the start alone makes {_written(noise.mean, noise.error)} {measure.unit}, "
            f"{100 * noise.mean / lead.mean:.0f} % of the least error."
        )
        near = floor.repeatability.get(measure.name)
        if near is not None:
            drawn = floor.random_pairs[measure.name]
            said.append(
                f"What nearly equal cases do not repeat is {_written(near.mean, near.error)} "
                f"(random pairs: {drawn.mean:.3g})."
            )
    return [f"{measure.name}: {' '.join(said)}"] if said else []


def _written(mean: float, error: float) -> str:
    """Return a mean with its standard error."""
    return f"{mean:.3g} +- {error:.2g}"
