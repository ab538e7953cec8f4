"""Picture of one row of the tape machine."""

import numpy as np

from glimpse_envs.core.arrays import Float32s, Ints
from glimpse_envs.rendering.tape_picture import Strip, TapePicture


def picture_tapes(
    cells: Ints,
    memory: Ints,
    heads: tuple[int, int] | None,
    priorities: Float32s | None,
    put_out: Ints,
    expected: Ints,
    least: int,
    caption: str,
) -> TapePicture:
    """Return the picture of one row.

    Args:
        cells: (n,), the input tape, 0 blank.
        memory: (M,), the memory tape, 0 blank; only the part up to the head or to the last written
            cell is shown.
        heads: of both tapes; None if all is seen at once.
        priorities: (n,) of the input cells; None if they have none.
        put_out: (k,), symbols put out so far, in order.
        expected: (m,), the symbols to put out.
        least: the number that symbol 1 stands for.
        caption: one line of text.
    """

    def text(symbol: int) -> str:
        return str(symbol - 1 + least) if symbol else ""

    def texts(symbols: Ints) -> tuple[str, ...]:
        return tuple(text(int(symbol)) for symbol in symbols)

    strips = [Strip("input", texts(cells), None if heads is None else heads[0])]
    if priorities is not None:
        shown = tuple(f"{value:.2f}" if value else "" for value in priorities)
        strips.append(Strip("priority", shown, None, read_with_first=True))
    if len(memory) and heads is not None:
        written = np.flatnonzero(memory)
        end = min(len(memory), max([len(cells), heads[1] + 1, *(written + 1)]))
        marked = frozenset(int(cell) for cell in written)
        strips.append(Strip("memory", texts(memory[:end]), heads[1], marked))
    right = [i < len(expected) and symbol == expected[i] for i, symbol in enumerate(put_out)]
    blanks = ("",) * (len(expected) - len(put_out))
    strips.append(Strip("output", texts(put_out) + blanks, None, good=tuple(map(bool, right))))
    following = len(put_out) if all(right) else right.index(False)
    return TapePicture(
        strips=tuple(strips),
        caption=caption,
        answer=text(int(put_out[-1])) if len(put_out) else None,
        target=text(int(expected[following])) if following < len(expected) else None,
    )
