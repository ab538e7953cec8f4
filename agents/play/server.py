"""The page's server: games as JSON, on this machine alone."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import gymnasium as gym
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agents.play.game import Game, GameError, Setting
from agents.play.guard import Guard, Refused, read_message
from agents.play.human import HumanLog
from agents.play.machines import Machine
from glimpse_envs.wrappers.errors import WrappedEnvError

PAGE = Path(__file__).parent / "page"
MOST_GAMES = 64
"""Maximum number of games kept; beyond it, the game idle for longest is dropped."""
MOST_EPISODES = 16
"""Number of the models' episodes that are cached."""


@dataclass
class _Seat:
    """A game and the lock under which it is used."""

    game: Game
    lock: Lock


class Table:
    """All games of a server.

    Args:
        setting: what is played.
        machines: trained models to watch, and to be compared with.
        log: where episodes of people are kept; None where they are not.
        most_games: kept at once.
    """

    def __init__(
        self,
        setting: Setting,
        machines: list[Machine],
        log: HumanLog | None = None,
        most_games: int = MOST_GAMES,
    ) -> None:
        self.setting, self.machines, self.log = setting, machines, log
        self._most = most_games
        self._seats: OrderedDict[str, _Seat] = OrderedDict()
        self._episodes: OrderedDict[int, list[Any]] = OrderedDict()
        self._lock, self._machine_lock = Lock(), Lock()
        board = setting.make()
        self._scenes = board.scenes
        self.about = {
            "env_id": setting.env_id,
            "question": board.question,
            "how_to_play": board.how_to_play,
            "scenes": self._scenes,
            "machines": [machine.name for machine in machines],
            "recording": log is not None,
        }
        board.close()

    def open_game(self) -> tuple[str, Game]:
        """Begin a game, and drop the one idle for longest where there are too many."""
        numbers = count()
        dealt = self.log.next_scene if self.log else lambda: next(numbers) % self._scenes
        game, name = Game(self.setting, dealt), secrets.token_urlsafe(12)
        given_up: list[_Seat] = []
        with self._lock:
            while len(self._seats) >= self._most:
                given_up.append(self._seats.popitem(last=False)[1])
            self._seats[name] = _Seat(game, Lock())
        for seat in given_up:
            with seat.lock:
                self._leave(seat.game)
        return name, game

    def with_game(self, name: str, use: Callable[[Game], None]) -> dict[str, Any]:
        """Use a game, by one caller at a time; return its view.

        Raises:
            Refused: there is no such game.
        """
        with self._lock:
            seat = self._seats.get(name)
            if seat is None:
                raise Refused(404, "this game is no longer there: start a new one")
            self._seats.move_to_end(name)
        with seat.lock:
            use(seat.game)
            return seat.game.view() | {"id": name}

    def step(self, game: Game, message: dict[str, Any]) -> None:
        """Act in a game, and keep its episode where it has ended."""
        played = game.step(message)
        if played is not None and self.log is not None:
            self.log.add(played)

    def deal(self, game: Game) -> None:
        """Go on to the next scene of a game.

        Raises:
            GameError: people are recorded, and the episode has not ended.
        """
        if self.log is not None and not game.ended:
            raise GameError("while episodes are recorded, each must be played to its end")
        game.deal()

    def episodes(self, scene: int) -> list[Any]:
        """Return the episode of each model on a scene.

        Raises:
            Refused: there is no such scene, or people have yet to be scored on it.
        """
        if not 0 <= scene < self._scenes:
            raise Refused(400, f"scene must lie from 0 to {self._scenes - 1}; it is {scene}")
        if self.log is not None and scene not in self.log.played:
            raise Refused(403, "while people are recorded, a scene is shown once it was played")
        with self._machine_lock:
            if scene not in self._episodes:
                self._episodes[scene] = [machine.play(scene) for machine in self.machines]
                while len(self._episodes) > MOST_EPISODES:
                    self._episodes.popitem(last=False)
            return self._episodes[scene]

    def _leave(self, game: Game) -> None:
        if self.log is not None and not game.ended:
            self.log.give_back(game.scene)
        game.board.close()


def make_app(table: Table, port: int) -> Guard:
    """Return the application, which answers this machine's browsers alone."""

    async def about(request: Request) -> Response:
        return JSONResponse(table.about)

    async def open_game(request: Request) -> Response:
        await read_message(request)
        name, game = await run_in_threadpool(table.open_game)
        return JSONResponse(game.view() | {"id": name})

    async def look_at_game(request: Request) -> Response:
        return await _answer(table.with_game, request.path_params["name"], lambda game: None)

    async def step(request: Request) -> Response:
        message = await read_message(request)
        return await _answer(
            table.with_game, request.path_params["name"], lambda game: table.step(game, message)
        )

    async def deal(request: Request) -> Response:
        await read_message(request)
        return await _answer(table.with_game, request.path_params["name"], table.deal)

    async def compare(request: Request) -> Response:
        def ended(game: Game) -> None:
            if not game.ended:
                raise GameError("the models' episodes are shown once yours has ended")

        view = await run_in_threadpool(table.with_game, request.path_params["name"], ended)
        return JSONResponse(await run_in_threadpool(table.episodes, view["scene"]))

    async def watch(request: Request) -> Response:
        try:
            scene = int(request.query_params.get("scene", ""))
        except ValueError:
            raise Refused(400, "watch needs a scene, such as ?scene=0") from None
        return await _answer(table.episodes, scene)

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, Refused) else 400
        text = (
            "the message is nested too deeply" if isinstance(error, RecursionError) else str(error)
        )
        return JSONResponse({"error": text}, status_code=status)

    routes = [
        Route("/api/about", about),
        Route("/api/games", open_game, methods=["POST"]),
        Route("/api/games/{name}", look_at_game),
        Route("/api/games/{name}/step", step, methods=["POST"]),
        Route("/api/games/{name}/deal", deal, methods=["POST"]),
        Route("/api/games/{name}/models", compare),
        Route("/api/watch", watch),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    handlers: dict[Any, Any] = dict.fromkeys(
        (Refused, ValueError, RecursionError, WrappedEnvError, gym.error.Error), refused
    )
    return Guard(Starlette(routes=routes, exception_handlers=handlers), port)


async def _answer(work: Callable[..., Any], *arguments: Any) -> Response:
    return JSONResponse(await run_in_threadpool(work, *arguments))
