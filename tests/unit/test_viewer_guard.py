"""The viewer's port against other sites, foreign hosts and hostile clients, by a real websocket.

The oracle is the server itself: after whatever was sent, a page of its own still connects and moves
a slider, and nothing was printed.
"""

from __future__ import annotations

import contextlib
import time
import urllib.error
import urllib.request

import msgspec
import numpy as np
import pytest
import viser
import websockets.exceptions
from websockets.sync.client import connect

from heelstrike.view.browser.guard import MAX_BYTES, MAX_CLIENTS, Guard, is_local
from heelstrike.view.browser.messages import checked
from heelstrike.view.browser.server import address, serving
from tests.fuzz.messages import CAMERA

PROTOCOL = [f"viser-v{viser.__version__}"]
DRAG = {
    "type": "SceneNodeDragMessage",
    "phase": "start",
    "name": "/ball",
    "instance_index": None,
    "start_position": [0.0, 0.0, 1.0],
    "start_screen_pos": [0.5, 0.5],
    "end_position": [0.0, 0.5, 1.0],
    "end_screen_pos": [0.6, 0.5],
    "button": "left",
    "modifier": None,
    "owner": "",
}


@pytest.fixture(scope="module")
def server():
    with serving(port=0) as opened:
        opened.slider = opened.gui.add_slider("k", 0.0, 10.0, 0.1, 5.0)
        opened.count = opened.gui.add_slider("n", 0, 10, 1, 5)
        opened.choice = opened.gui.add_dropdown("law", ("a", "b"))
        opened.switch = opened.gui.add_checkbox("on", True)
        yield opened


def socket(server, origin=None, path="/"):
    place = f"ws://127.0.0.1:{server.get_port()}{path}"
    return connect(place, origin=origin, subprotocols=PROTOCOL, max_size=None)


def encoded(uuid, value, name="value"):
    return msgspec.msgpack.encode(
        {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {name: value}}
    )


def uuid_of(handle):
    return handle._impl.uuid


def wait_for(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def wait_until_dropped(page):
    with contextlib.suppress(websockets.exceptions.ConnectionClosed):
        while True:
            page.recv(timeout=5)


def own(server):
    return f"http://localhost:{server.get_port()}"


def check_alive(server):
    """A page of the server's own connects, and moves the slider."""
    value = 1.0 if server.slider.value != 1.0 else 2.0
    with socket(server, own(server)) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        page.send(encoded(uuid_of(server.slider), value))
        wait_for(lambda: server.slider.value == value)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost.evil.example",
        "https://127.0.0.1.evil.example:8080",
        "null",
        "file://",
        "http://[",
        "",
    ],
)
def test_pages_of_other_sites_are_refused(server, origin):
    with pytest.raises(websockets.exceptions.InvalidStatus, match="403"), socket(server, origin):
        pass
    check_alive(server)


def test_own_pages_and_programs_without_a_page_connect(server):
    port = server.get_port()
    for origin in (f"http://localhost:{port}", f"http://127.0.0.1:{port}", None):
        with socket(server, origin) as page:
            page.send(msgspec.msgpack.encode(CAMERA))
            assert page.recv(timeout=5)


def test_names_that_were_bound_to_this_machine_later_are_refused(server):
    """DNS rebinding: a page of evil.example whose name now means 127.0.0.1."""
    place = f"http://127.0.0.1:{server.get_port()}/"
    asked = urllib.request.Request(place, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked)
    with urllib.request.urlopen(place) as page:
        assert page.status == 200
        assert page.headers["X-Frame-Options"] == "SAMEORIGIN"
    both = {"Host": "evil.example", "Origin": "http://evil.example"}
    guard = Guard("127.0.0.1")
    assert guard.refusal("/", Headers(both)) is not None


class Headers(dict):
    def get_all(self, name):
        return [self[name]] if name in self else []


BAD = [
    b"",
    b"\x00",
    b"\xff" * 100,
    b"\x91" * 50_000,  # lists in lists
    b"\xc1",
    msgspec.msgpack.encode([1, 2]),
    msgspec.msgpack.encode({"type": "x"}),
    msgspec.msgpack.encode({"type": 3}),
    msgspec.msgpack.encode({}),
    msgspec.msgpack.encode({**CAMERA, "fov": float("nan")}),
    msgspec.msgpack.encode({**CAMERA, "position": "text"}),
    msgspec.msgpack.encode({**CAMERA, "position": [1.0] * 2}),
    msgspec.msgpack.encode({**CAMERA, "wxyz": [0.0] * 4}),
    msgspec.msgpack.encode({**CAMERA, "wxyz": [1e-300, 0.0, 0.0, 0.0]}),
    msgspec.msgpack.encode({**CAMERA, "fov": -1.0}),
    msgspec.msgpack.encode({**CAMERA, "image_width": 1e300}),
    msgspec.msgpack.encode({"type": "ViewerCameraMessage"}),
    msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": [], "updates": 1}),
    msgspec.msgpack.encode({"type": "CommandTriggerMessage", "uuid": 3}),
    *(
        msgspec.msgpack.encode({**DRAG, key: value})
        for key, value in {
            "phase": "x",
            "name": 3,
            "end_position": [0.0, float("nan"), 1.0],
            "start_screen_pos": [0.5],
            "button": "right",
            "modifier": "shift",
            "instance_index": -1,
            "owner": "x",
        }.items()
    ),
    "text",
    bytes(MAX_BYTES + 1),
]
VALUES = [-1e308, float("nan"), float("inf"), "text", [], {}, None, 2**63, 10.5, -1, True, b"x"]


def test_a_window_that_is_folded_up_has_a_pixel():
    """viser divides by the height of a client's picture; a ZeroDivisionError was printed."""
    folded = checked(msgspec.msgpack.encode({**CAMERA, "image_height": 0}), {})
    assert msgspec.msgpack.decode(folded)["image_height"] == 1


@pytest.mark.parametrize("case", range(len(BAD)))
def test_a_bad_client_is_dropped_and_nobody_else(server, case, capfd):
    with socket(server, own(server)) as other, socket(server, own(server)) as page:
        page.send(BAD[case])
        wait_until_dropped(page)
        other.send(msgspec.msgpack.encode(CAMERA))
        assert other.recv(timeout=5)
    check_alive(server)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["slider", "count", "choice", "switch"])
@pytest.mark.parametrize("value", VALUES)
def test_controls_take_no_other_values(server, name, value, capfd):
    handle = getattr(server, name)
    if name == "switch" and value is True:
        pytest.skip("a value of a switch")
    before = handle.value
    with socket(server, own(server)) as page:
        page.send(encoded(uuid_of(handle), value))
        wait_until_dropped(page)
    assert handle.value == before
    assert capfd.readouterr() == ("", "")


def test_a_drag_of_a_node_arrives_and_of_others_is_ignored(server, capfd):
    ball, seen = server.scene.add_icosphere("/ball", 0.1), []

    async def dragged(event):
        seen.append((event.phase, event.end_position))

    ball.on_drag("left")(dragged)
    with socket(server, own(server)) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        page.send(msgspec.msgpack.encode({**DRAG, "name": "/nothing"}))
        for phase in ("start", "update", "end"):
            page.send(msgspec.msgpack.encode({**DRAG, "phase": phase}))
        wait_for(lambda: len(seen) == 3)
    assert [(phase, list(place)) for phase, place in seen] == [
        (phase, DRAG["end_position"]) for phase in ("start", "update", "end")
    ]
    ball.remove()
    assert capfd.readouterr() == ("", "")


def test_other_properties_of_controls_are_not_a_clients(server):
    with socket(server, own(server)) as page:
        page.send(encoded(uuid_of(server.slider), 1e9, name="max"))
        wait_until_dropped(page)
    assert server.slider.max == 10.0


def test_known_messages_that_no_page_of_ours_needs_are_ignored(server, capfd):
    """Such as an upload of a file, or a share of the scene with viser's own servers."""
    with socket(server, own(server)) as page:
        for kind in ("FileTransferStartUpload", "ShareUrlRequest", "GetRenderResponseMessage"):
            page.send(msgspec.msgpack.encode({"type": kind, "uuid": "x"}))
        page.send(encoded(uuid_of(server.slider), 7.0))
        page.send(encoded("no such control", 7.0))
        wait_for(lambda: server.slider.value == 7.0)
    assert capfd.readouterr() == ("", "")


def test_random_bytes_and_flipped_bits_never_end_the_server(server, capfd):
    whole = msgspec.msgpack.encode(CAMERA)
    for seed in range(60):
        random = np.random.default_rng(seed)
        made = bytearray(whole if seed % 2 else encoded(uuid_of(server.slider), 3.0))
        for k in random.integers(len(made), size=random.integers(1, 5)):
            made[k] = random.integers(256)
        with contextlib.suppress(websockets.exceptions.ConnectionClosed), socket(server) as page:
            page.send(bytes(made))
    check_alive(server)
    assert capfd.readouterr() == ("", "")


def test_a_flood_is_slowed_down_and_the_number_of_clients_limited(server):
    with contextlib.ExitStack() as pages:
        flood = pages.enter_context(socket(server, own(server)))
        frame = msgspec.msgpack.encode(CAMERA)
        for _ in range(1500):
            flood.send(frame)
        begun = time.monotonic()
        check_alive(server)
        assert time.monotonic() - begun < 5.0
        wait_for(lambda: len(server.get_clients()) == 1)
        for _ in range(MAX_CLIENTS - 1):
            pages.enter_context(socket(server))
        with pytest.raises(websockets.exceptions.InvalidStatus, match="503"), socket(server):
            pass
    wait_for(lambda: not server.get_clients())
    check_alive(server)


def test_a_server_beyond_this_machine_has_a_token():
    assert is_local("127.0.0.1")
    assert is_local("::1")
    assert is_local("localhost")
    assert not is_local("0.0.0.0")
    assert not is_local("192.168.0.7")
    with serving("0.0.0.0", 0) as opened:
        opened.slider = opened.gui.add_slider("k", 0.0, 10.0, 0.1, 5.0)
        place = address(opened)
        token = place.rstrip("/").rpartition("/")[2]
        assert len(token) >= 20
        with urllib.request.urlopen(place) as page:
            assert b"<html" in page.read().lower()
        host = f"127.0.0.1:{opened.get_port()}"
        for path in ("/", "/x", f"/{token[:-1]}", f"/?{token}"):
            with (
                pytest.raises(websockets.exceptions.InvalidStatus, match="403"),
                socket(opened, f"http://{host}", path),
            ):
                pass
        with (
            pytest.raises(websockets.exceptions.InvalidStatus, match="403"),
            socket(opened, "http://evil.example", f"/{token}"),
        ):
            pass
        with socket(opened, f"http://{host}", f"/{token}") as page:
            page.send(encoded(uuid_of(opened.slider), 1.0))
            wait_for(lambda: opened.slider.value == 1.0)
