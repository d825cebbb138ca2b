"""Identify a floor by gradient descent through the simulator, by PyTorch.

A ball is dropped onto a floor whose stiffness and damping are not known; 0.15 s of its height are
measured, with noise of 0.1 mm. L-BFGS follows the gradient of the squared error, which reverse
sweeps carry through all steps (docs/derivatives.md).
"""

import numpy as np
import torch

import heelstrike as hs

STEPS, NOISE = 150, 1e-4  # of 1 ms; m
torch.set_default_dtype(torch.float64)
TRUTH = {"ground.normal.k": 8000.0, "ground.normal.alpha": 0.4}
GUESS = {"ground.normal.k": 20000.0, "ground.normal.alpha": 0.1}


law = hs.Elastic(hs.HuntCrossley(k=1e4, alpha=0.2), hs.Kinetic())
sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law, name="ground")), dt=1e-3)
sim.reset(q0=[0, 0, 0.07, 0, 0, 0, 1])  # 20 mm above the floor
f = hs.adapters.torch_step(sim, list(TRUTH))
start = torch.tensor(f.step.state(sim))


def heights(u):
    """Return the height of the ball after each step [m]."""
    x, found = start, []
    for _ in range(STEPS):
        x = f(x, u)
        found.append(x[0, 3])  # after the clock, x and y
    return torch.stack(found)


exact = heights(torch.tensor([list(TRUTH.values())]))
measured = exact + NOISE * torch.tensor(np.random.default_rng(0).normal(size=STEPS))
logs = torch.log(torch.tensor([list(GUESS.values())])).requires_grad_()
descent = torch.optim.LBFGS([logs], max_iter=20, line_search_fn="strong_wolfe")


def loss():
    """Return the mean squared error in units of the noise, with its gradient in `logs.grad`."""
    descent.zero_grad()
    found = ((heights(torch.exp(logs)) - measured) / NOISE).square().mean()
    found.backward()
    return found.detach()


print(f"at the start: error {1e3 * NOISE * float(loss()) ** 0.5:.3f} mm")
descent.step(loss)
print(f"at the end: error {1e3 * NOISE * float(loss()) ** 0.5:.3f} mm")
for path, value in zip(TRUTH, torch.exp(logs.detach())[0].tolist(), strict=True):
    print(f"{path} = {value:.4g}, true {TRUTH[path]:g}")
