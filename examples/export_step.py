"""The compiled step of a scene as a file, run again without CasADi or Pinocchio, bit for bit."""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.runtime.export import export
from heelstrike.runtime.exported import load_exported

START = [0, 0, 0.15, 0, 0, 0, 1]


def main() -> None:
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()), dt=1e-3)
    path = export(hs.compile_program(sim.program), "ball.hs")
    print(f"wrote {path}, {path.stat().st_size / 1e3:.0f} kB")

    kernel = load_exported(path)
    batch = kernel.batch(1)
    wanted = {port.name for port in kernel.layout.inputs}
    batch.set(**{name: sim.parameters[name] for name in sim.parameters if name in wanted})
    batch.set(q=START)
    batch.run(300)
    here = sim.run(0.3, q0=START).data["q"].values[0, -1]
    same = np.array_equal(batch.get("q")[0], here)
    print("the file and the simulator agree " + ("to the last bit" if same else "not"))


if __name__ == "__main__":
    main()
