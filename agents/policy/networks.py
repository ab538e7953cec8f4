"""The configuration of a recurrent attention model (RAM, Mnih et al. 2014)."""

from dataclasses import dataclass
from typing import Any, Literal

from agents.training.checks import check_choices, check_counts, check_positive, check_unused
from agents.training.command_line import without_options


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes and kinds of the controller's networks, for hard and soft attention alike."""

    glimpse_network: Literal["dense", "conv", "atari"] | str = "dense"
    """Kind of glimpse encoder: one dense layer, as in RAM; two small convolutions; atari, the three
    convolutions of Mnih et al. (2015), for glimpses of 36 pixels a side and more; or a class,
    module:Class."""
    contrast: bool = False
    """Add input channels that show each glimpse less its mean, divided by its standard deviation,
    which makes faint shapes visible."""
    leave_out: tuple[str, ...] = ()
    """Parts of observations that are not encoded, such as query, so that nothing is learned from
    them; a head that needs one still sees it."""
    count_glimpses: bool = False
    """Also tell the core, as numbers, how many glimpses are taken and how many are left. What is
    learned from them can hold for longer episodes; `remaining` is a share of the budget. In
    bfloat16 counts above 256 are rounded."""
    core: Literal["rnn", "gru", "lstm", "dram", "feedforward"] | str = "lstm"
    """Kind of core: rectifier RNN (RAM's), GRU, LSTM, or DRAM's two LSTMs (the lower for answers,
    the upper for looks; codes of what and where are multiplied); feedforward, a layer without
    memory; or a class, module:Class."""
    what_units: int = 256
    """Number of units that encode the glimpse; the two small convolutions have a quarter as many
    channels. RAM: 128."""
    where_units: int = 128
    """Number of units that encode the location and the rest of the observation. DRAM's core
    multiplies them by the code of the glimpse: there they are as many as --network.glimpse-units,
    whatever this is."""
    word_units: int | None = None
    """Number of entries of a word's embedding, where words are observed; None: 32."""
    glimpse_units: int = 512
    """Number of units that join the codes of glimpse and location. RAM: 256."""
    normalise: bool = True
    """Normalise the joined code of each glimpse (layer normalisation, Ba et al. 2016); RAM does
    not."""
    core_units: int = 256
    """Number of units of the core."""
    recall_glimpses: int = 0
    """Number of the latest glimpses whose codes are kept beside the core and read by soft attention
    at each step; looks stay hard choices. 0: the core alone remembers. DRAM's core has none."""
    recall_units: int = 32
    """Number of units of the key and of the value that are kept for each glimpse; without effect
    unless --network.recall-glimpses is set."""
    head_units: int = 128
    """Number of hidden units of the heads of looks, stops and values."""
    look_coordinates: Literal["scene", "log_move", "cells"] = "scene"
    """Coordinates in which a place to look at is chosen. scene: the scene's, as in RAM; log_move:
    the move from the present place on a symmetric-log scale, on which near looks are exact and far
    ones coarse; cells: one of the cells that the glimpse, or a context, shows. Looks at tiles,
    relative looks, glimpses without square windows and those of one scale, which shows nothing far
    away, have no cells, and so have looks into worlds of other packages; there, cells means
    scene."""
    look_std: float = 0.15
    """Standard deviation of a continuous look at the start of the training, in its coordinates from
    -1 to 1; and of continuous acts, in halves of their range."""
    look_block: int = 2
    """Side, in cells, of the blocks of cells to whose middles looks at cells go (see
    --network.look-coordinates)."""
    refine_looks: bool = False
    """Refine the likeliest look at cells: take the mean place of the likeliest block and its
    neighbours, weighted by their probabilities. Sampled looks, as in training, are not changed."""
    learn_look_std: bool = False
    """Learn the standard deviation of continuous looks and acts instead of fixing or scheduling
    it."""
    detach_heads: bool = False
    """Stop the gradient of the look, the stop and the baseline at the core, as RAM does, so that
    only answers and acts train it."""
    skip: bool = False
    """Also feed the encoded glimpse directly to the heads, past the core."""
    answer_in_view: bool = False
    """Choose the symbol to answer from the encoded glimpse alone; memory decides only whether to
    answer. It has no effect where an answer must be given. Needs --network.skip."""
    class_scales: int = 2
    """Where the answer is the next word of a sentence: the number of finest scales of a picture,
    from which alone a class is read; 0: classes are chosen from memory, like all words."""
    class_network: str | None = None
    """Kind of encoder that reads a class from these scales, as --network.glimpse-network: dense,
    which has two layers here, conv, atari, or a class, module:Class; None: that of the glimpse."""
    class_units: int | None = None
    """Number of units that encode them, as --network.what-units; None: as many as those."""
    blind_memory: bool = False
    """Where classes are read from a picture's fine scales, hide them from memory: it sees which
    parts of the coarsest scale are lit, and of a word that names a class only that one was named. A
    memory that sees classes learns at which places each was never seen, and denies them there. It
    has no effect where classes are not read from these scales."""
    direct_access: Literal["symbols", "all"] | None = None
    """Direct access of heads to the glimpse, as in Zaremba & Sutskever (2015). symbols: they may
    repeat the symbols that are read; all: the addresses too."""
    inhibition_of_return: bool = False
    """Show the head of looks where the episode's glimpses have been, with weights that the network
    computes (after Itti, Koch & Niebur 1998). Addresses of a table, or tiles of a picture: by
    number of visits, 0, 1, 2, and 3 or more; visits begin with a penalty. Cells that are seen: by
    nearness to the latest 16 glimpses; visits begin without weight. Looks of other kinds, such as
    addresses chosen bit by bit or looks into worlds of other packages, are not affected."""
    wide_inhibition: bool = False
    """Let the weight of a visit on looks at cells fall off over half a block's side, where that is
    more than half the finest window's: for scenes of many images, where visited images are seen
    from afar. Other looks are not affected. Needs --network.inhibition-of-return."""


GLIMPSE_NETWORKS = ("dense", "conv", "atari")
"""The kinds of glimpse encoder that have a name."""

CORES = ("rnn", "gru", "lstm", "dram", "feedforward")
"""The kinds of core that have a name."""

OF_AGENTS_ALONE = (
    "leave_out",
    "count_glimpses",
    "look_coordinates",
    "look_block",
    "refine_looks",
    "answer_in_view",
    "class_scales",
    "class_network",
    "class_units",
    "blind_memory",
    "direct_access",
    "inhibition_of_return",
    "wide_inhibition",
)
"""Options that only this package's agents use."""


class NetworkOptions(NetworkConfig):
    """The options of a learner that cannot use all of `NetworkConfig`; called, it makes one."""

    def __new__(cls, **values: Any) -> Any:
        return NetworkConfig(**values)


@dataclass(frozen=True)
@without_options("word_units", "look_std", "learn_look_std", *OF_AGENTS_ALONE)
class TileNetworkOptions(NetworkOptions):
    """Sizes and kinds of the networks."""


def core_name(config: NetworkConfig) -> str:
    """The name of the core, what it recalls and is told, and the heads' direct access, in
    tables."""
    name = config.core.rpartition(":")[2]  # of a class, its name
    if config.core in ("gru", "lstm", "dram"):
        name = name.upper()
    direct = {None: "", "symbols": ", direct access to symbols", "all": ", direct access"}
    recall = ", recall" if config.recall_glimpses else ""
    counts = ", counts of glimpses" if config.count_glimpses else ""
    left_out = "".join(f", without {part}" for part in config.leave_out)
    return name + recall + direct[config.direct_access] + counts + left_out


def core_outputs(config: NetworkConfig) -> int:
    """Number of units of the core's output: its own, and what it recalls."""
    return config.core_units + (config.recall_units if config.recall_glimpses else 0)


def check_without_recall(config: NetworkConfig) -> None:
    """Raise a `ValueError` where a model without recall or counts is asked for one."""
    if config.count_glimpses:
        raise ValueError("count_glimpses=True is for agents: leave it out")
    if config.recall_glimpses:
        raise ValueError(
            f"recall_glimpses={config.recall_glimpses} is for agents; this model reads what it "
            "needs by an attention of its own, or has none: leave it at 0"
        )


def check_network(config: NetworkConfig) -> None:
    """Raise a `ValueError` with the field's name, value and rule where a value is invalid."""
    check_choices(config)
    named = {"core": CORES, "glimpse_network": GLIMPSE_NETWORKS, "class_network": GLIMPSE_NETWORKS}
    for option, known in named.items():
        name = getattr(config, option)
        if name is not None and name not in known and ":" not in name:
            raise ValueError(
                f"{option}={name!r} must be one of {', '.join(map(repr, known))}, or a class, "
                "'module:Class'"
            )
    check_counts(config, "what_units", "where_units")
    for option in ("word_units", "class_units"):
        if getattr(config, option) is not None:
            check_counts(config, option)
    check_counts(config, "glimpse_units", "core_units", "head_units")
    check_counts(config, "recall_units", "look_block")
    check_positive(config, "look_std")
    if config.class_scales < 0:
        raise ValueError(f"class_scales={config.class_scales} must be at least 0")
    if config.blind_memory and not config.class_scales:
        raise ValueError(
            "blind_memory=True needs class_scales of at least 1: what memory does not see must be "
            "read from the glimpse"
        )
    if config.recall_glimpses < 0:
        raise ValueError(f"recall_glimpses={config.recall_glimpses} must be at least 0")
    if config.recall_glimpses and config.core == "dram":
        raise ValueError(
            f"recall_glimpses={config.recall_glimpses} needs another core than 'dram': of "
            "DRAM's two LSTMs the lower answers and the upper looks, and recall would join them"
        )
    if config.detach_heads and config.core == "dram":
        raise ValueError(
            "detach_heads=True needs another core than 'dram': nothing but looks, stops and the "
            "baseline trains DRAM's upper LSTM"
        )
    if config.answer_in_view and not config.skip:
        raise ValueError("answer_in_view=True needs skip=True: heads must see the encoded glimpse")
    if config.look_coordinates != "cells":
        check_unused(config, "look_coordinates='cells'", "look_block", "refine_looks")
    if config.wide_inhibition and not config.inhibition_of_return:
        raise ValueError("wide_inhibition=True needs inhibition_of_return=True, which it widens")
