"""Films by what a person would check on them, and frames at impacts.

Oracles: pixels (a falling ball and arrows change them), the times that the film's speed and rate
give, and the time at which a ball lands, sqrt(2 h / g).
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

import heelstrike as hs
from heelstrike.view.render.camera import Camera
from heelstrike.view.render.snapshots import impact_times, world_over_time

HEIGHT = 0.2
"""Height of fall [m]."""


@pytest.fixture(scope="module")
def ball():
    """A ball that falls, lands and rests."""
    floor = hs.Plane(law=hs.Elastic(hs.LinearSpring(k=2e4, c=300.0), hs.Kinetic(mu=0.5)))
    sim = hs.Simulator(hs.Scene(hs.load("ball"), floor), dt=1e-3)
    return sim.run(0.6, q0=sim.place(drop=HEIGHT))


def frames_of(path):
    with Image.open(path) as film:
        assert film.info["duration"] == 200  # [ms]
        found = []
        for k in range(film.n_frames):
            film.seek(k)
            found.append(np.asarray(film.convert("RGB")).astype(int))
    return found


def test_gif_shows_the_fall_and_the_force(ball, tmp_path):
    """Frames at 0, 0.2, 0.4 and 0.6 s: the ball lands at 0.2 s, and rests."""
    frames = frames_of(ball.film(tmp_path / "fall.gif", fps=5, width=64))
    plain = frames_of(ball.film(tmp_path / "plain.gif", fps=5, width=64, forces=False))
    assert len(frames) == len(plain) == 4
    assert len({frame.shape for frame in frames}) == 1
    assert np.abs(frames[0] - frames[1]).max() > 60
    differ = [bool(np.abs(a - b).max() > 60) for a, b in zip(frames, plain, strict=True)]
    assert differ == [False, False, True, True]


def test_slow_films_have_more_frames_and_cameras_may_follow(ball, tmp_path):
    path = ball.film(tmp_path / "slow.gif", speed=0.5, fps=5, width=32, camera=Camera(follow=True))
    assert len(frames_of(path)) == 7


def test_a_terminal_sees_how_far_a_film_is(ball, tmp_path, monkeypatch):
    """A bar of all four frames."""
    made = []

    @contextmanager
    def bar(*work):
        made.append([work, 0])

        def advance(amount):
            made[-1][1] += amount

        yield advance

    monkeypatch.setattr("heelstrike.view.render.film.progress_bar", bar)
    ball.film(tmp_path / "fall.gif", fps=5, width=32)
    assert made == [[("drawing", 4, "frames"), 4]]


def test_mp4_has_the_frames_and_the_rate(ball, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    path = ball.film(tmp_path / "fall.mp4", fps=5, width=64)
    reader = ffmpeg.read_frames(str(path))
    meta = next(reader)
    size = meta["size"][0] * meta["size"][1] * 3
    frames = [np.frombuffer(frame, np.uint8).astype(int) for frame in reader]
    assert meta["fps"] == 5
    assert [len(frame) for frame in frames] == [size] * 4
    assert np.abs(frames[0] - frames[1]).max() > 60


def test_frames_at_impacts_are_at_the_peaks_of_force(ball):
    """The largest peak is the landing; of a ball at rest there is no other."""
    shown = world_over_time(ball, 0)
    first, landing, *_, last = impact_times(shown, 6)
    assert (first, last) == (0.0, pytest.approx(0.6))
    assert landing == pytest.approx(np.sqrt(2 * HEIGHT / 9.81), abs=0.02)  # contact lasts 20 ms
    with pytest.raises(hs.ParameterError, match="times is 'hits'; allowed: times"):
        impact_times(shown, 6, "hits")


def test_films_that_cannot_be(ball, tmp_path):
    with pytest.raises(hs.ParameterError, match=r"allowed: a file \.mp4 or \.gif"):
        ball.film(tmp_path / "fall.avi")
    with pytest.raises(hs.ParameterError, match="speed is 0; allowed: a number above 0"):
        ball.film(tmp_path / "fall.gif", speed=0)
    with pytest.raises(hs.ParameterError, match="at most 20000 frames"):
        ball.film(tmp_path / "fall.gif", speed=1e-6)
    assert not list(tmp_path.iterdir())
