"""Three materials under one foot: rubber, steel and a floor with a membrane, each with its law."""

from __future__ import annotations

import heelstrike as hs


def main() -> None:
    scene = hs.load_scene("three-materials")
    run = scene.run()
    last = run.data["normal_force"].isel(world=0, time=-1)
    for surface, force in last.groupby("surface"):
        deepest = run.data["peak_depth"].isel(world=0).where(last.surface == surface).max()
        print(
            f"{surface:<9} carries {float(force.sum()):5.2f} N, {1e3 * float(deepest):.3f} mm deep"
        )
    print(f"together {float(last.sum()):.2f} N; the robot weighs {9.81 * scene.robot.mass:.2f} N")


if __name__ == "__main__":
    main()
