"""Play an environment in the browser, and watch trained models there: `python -m agents.play ID`.

The page stands at http://127.0.0.1:PORT; nothing leaves this machine.
"""

import errno
import socket
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents.play.game import Setting
from agents.play.human import HumanLog
from agents.play.machines import Machine, published_run
from agents.training.command_line import FOLDER, KEY_VALUE_PAIRS, read_options, run_command
from agents.training.resuming import setting_of
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.evaluation.runs import Run, open_run
from glimpse_envs.evaluation.trust import trust

DEFAULT = "Glimpse/ClutteredGlyphs-v0"
HOST = "127.0.0.1"
WEIGHTS = Path(__file__).parents[2] / "results" / "weights"
"""The published ones, in the checkout."""


@dataclass(frozen=True)
class PlayConfig:
    """Serve the page on which an environment is played, on this machine alone."""

    env_id: Annotated[str | None, tyro.conf.Positional] = None
    """Id of the environment; None: that of the first run, or Glimpse/ClutteredGlyphs-v0."""
    env_kwargs: Annotated[dict[str, Any], KEY_VALUE_PAIRS] = field(default_factory=dict)
    """Arguments of the environment, all after one option, such as budget=12."""
    run: tyro.conf.UseAppendAction[tuple[Annotated[Path, FOLDER], ...]] = ()
    """Folder of a run to watch and to compare yourself with; may be repeated. Without one,
    published weights are used if some were trained with the same arguments of the environment."""
    record: Path | None = None
    """Folder of records, such as results, to keep a record of the played episodes in."""
    split: str = "test"
    """Split whose scenes are dealt: test or validation."""
    seed: int = 0
    """Random seed of clutter, places and first glimpses."""
    port: int = 8000
    """Port of the page."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code a run may import, such as my_tasks."""


def setting_from(config: PlayConfig, runs: list[Run]) -> Setting:
    """What is played: what is asked for, or else what the first run was trained on."""
    env_id, env_kwargs = config.env_id, config.env_kwargs
    if env_id is None and runs:
        env_id = setting_of(runs[0], "env_id", str)
        trained = setting_of(runs[0], "env_kwargs", dict)
        kept = {name: value for name, value in trained.items() if name != "split"}
        env_kwargs = {**kept, **env_kwargs}
    if config.split not in ("test", "validation"):
        raise ValueError(
            f"split={config.split!r} must be test or validation: their scenes are fixed"
        )
    check_integers(0, seed=config.seed)
    return Setting(env_id or DEFAULT, env_kwargs, config.split, config.seed)


def listening_at(port: int) -> socket.socket:
    """A socket that listens at a port of this machine alone.

    Raises:
        ValueError: there is no such port, or it cannot be opened.
    """
    if not 1 <= port <= 65_535:
        raise ValueError(f"port={port} must be from 1 to 65535")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken by another program" if taken else f"cannot be had ({error.strerror})"
        raise ValueError(f"port {port} {reason}: name another by --port") from error


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(PlayConfig, arguments, prog="python -m agents.play")
    run_command(lambda: _serve(config))


def _serve(config: PlayConfig) -> None:
    try:
        import uvicorn

        from agents.play.server import Table, make_app
    except ImportError as error:
        raise ValueError(
            f"the page needs {error.name}: pip install -e . --group play in the checkout"
        ) from error
    trust(*config.trust)
    runs = [open_run(folder) for folder in config.run]
    setting = setting_from(config, runs)
    if not runs:
        published = published_run(setting, WEIGHTS)
        runs = [] if published is None else [open_run(published)]
    machines = [Machine(run, setting) for run in runs]
    log = None if config.record is None else HumanLog(config.record, setting)
    app = make_app(Table(setting, machines, log), config.port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    with closing(listening_at(config.port)) as listening:
        print(f"{setting.env_id}: open http://{HOST}:{config.port} in a browser; Ctrl+C ends it")
        with suppress(KeyboardInterrupt):  # which the server passes on when it has ended
            server.run(sockets=[listening])


if __name__ == "__main__":
    main()
