"""The page to play on in a browser: its server, what a person does there and reads."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import uvicorn

from agents.play.game import Setting
from agents.play.server import Table, make_app

WIDE = {"width": 1100, "height": 900}
NARROW = {"width": 400, "height": 800}


class Served:
    """A server on a port of its own, which can be stopped and started again."""

    def __init__(self, make_table: Callable[[], Table]) -> None:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._make_table = make_table
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        app = make_app(self._make_table(), self.port)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=self.port, log_level="error", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.force_exit = self._server.should_exit = True
        self._thread.join(timeout=20)
        assert not self._thread.is_alive()


@contextmanager
def served(make_table: Callable[[], Table]) -> Iterator[Served]:
    server = Served(make_table)
    try:
        yield server
    finally:
        server.stop()


def pictures(budget: int = 3, **kwargs: Any) -> Callable[[], Table]:
    setting = Setting("Glimpse/ClutteredGlyphs-v0", {"budget": budget, **kwargs})
    return lambda: Table(setting, [])


def click_scene(page: Any, x: float, y: float) -> None:
    box = page.locator("#scene canvas").bounding_box()
    page.locator("#scene canvas").click(position={"x": x * box["width"], "y": y * box["height"]})


def expect(found: Any) -> Any:
    """What is expected of a part of the page, within a minute: kernels may be compiled first."""
    api = pytest.importorskip("playwright.sync_api")
    api.expect.set_options(timeout=60_000)
    return api.expect(found)


def status(page: Any, text: str) -> None:
    expect(page.locator("#status")).to_contain_text(text)


def brightness(page: Any) -> list[int]:
    """The red of each of 20 x 20 places of the scene, as the canvas has it."""
    return page.locator("#scene canvas").evaluate(
        """canvas => {
            const pen = canvas.getContext("2d"), found = [];
            for (let row = 0; row < 20; row++) for (let column = 0; column < 20; column++)
              found.push(pen.getImageData((column + 0.5) / 20 * canvas.width,
                                          (row + 0.5) / 20 * canvas.height, 1, 1).data[0]);
            return found;
        }"""
    )
