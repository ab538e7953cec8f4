"""Generate the environments' pages, those of speeds and costs and that of gradient variance.

python -m report.generate, from the root.

Pages of `docs/environments` are written anew, those of environments that are gone are deleted. A
picture is drawn where there is none yet, and data for it; `--redraw` draws all of them.
"""

import argparse
import sys
from pathlib import Path

from glimpse_envs.core.files import write_atomically
from glimpse_envs.suite import SUITE
from report.figures.environments import draw_picture
from report.pages import gradient_variance, memory_cost
from report.pages.environments import make_pages, page_name
from report.pages.speed import PAGE, make_speed_page
from report.places import DOCS

FOLDER = DOCS / "environments"


def stale_pages(folder: Path = FOLDER) -> list[str]:
    """Return the names of pages that are missing, out of date, or of no environment, sorted."""
    wanted = make_pages()
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(
        name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name)
    )


def write_pages(folder: Path = FOLDER) -> list[str]:
    """Bring the pages up to date and return the names of those written or deleted, sorted."""
    wanted, stale = make_pages(), stale_pages(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        path = folder / name
        if name not in wanted:
            path.unlink()
            path.with_suffix(".png").unlink(missing_ok=True)
            continue
        write_atomically(path, wanted[name].encode())
    return stale


def speed_is_stale() -> bool:
    """Whether the page of speeds is not what the records say."""
    return not PAGE.exists() or PAGE.read_text(encoding="utf-8") != make_speed_page()


def draw_pictures(folder: Path = FOLDER, *, redraw: bool = False) -> list[str]:
    """Draw the pictures that are missing, or all, and return the names of those drawn."""
    drawn = []
    for row in SUITE.values():
        path = folder / f"{page_name(row)}.png"
        if path.exists() and not redraw:
            continue
        draw_picture(row, path)
        drawn.append(path.name)
    return drawn


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 1 where `--check` finds stale pages, else 0."""
    parser = argparse.ArgumentParser(prog="python -m report.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail on stale pages")
    parser.add_argument("--redraw", action="store_true", help="draw the pictures there are anew")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        stale = stale_pages() + [PAGE.name] * speed_is_stale()
        stale += [memory_cost.PAGE.name] * memory_cost.is_stale()
        stale += [gradient_variance.PAGE.name] * gradient_variance.is_stale()
        if stale:
            print(f"stale: {', '.join(stale)}. Run python -m report.generate", file=sys.stderr)
        return 1 if stale else 0
    if speed_is_stale():
        write_atomically(PAGE, make_speed_page().encode())
    if memory_cost.is_stale() or chosen.redraw:
        memory_cost.main()
    if gradient_variance.is_stale() or chosen.redraw:
        gradient_variance.main()
    changed = write_pages() + draw_pictures(redraw=chosen.redraw)
    print(f"{FOLDER}: {', '.join(changed) if changed else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
