"""Where papers and public programs that the pages name can be read."""

from __future__ import annotations

import re

_ARXIV = "https://arxiv.org/abs/"
_GITHUB = "https://github.com/"

ADDRESSES = {
    "Recurrent Models of Visual Attention": f"{_ARXIV}1406.6247",
    "RAM, Mnih et al., NIPS 2014": f"{_ARXIV}1406.6247",
    "RAM, Mnih et al., arXiv v1, 2014": f"{_ARXIV}1406.6247v1",
    "Multiple Object Recognition with Visual Attention": f"{_ARXIV}1412.7755",
    "DRAM, Ba et al., ICLR 2015": f"{_ARXIV}1412.7755",
    "DRAW, Gregor et al., ICML 2015": f"{_ARXIV}1502.04623",
    "Neural Turing Machines": f"{_ARXIV}1410.5401",
    "Reinforcement Learning Neural Turing Machines": f"{_ARXIV}1505.00521",
    "Learning Simple Algorithms from Examples": f"{_ARXIV}1511.07275",
    "A Set of Prerequisite Toy Tasks": f"{_ARXIV}1502.05698",
    "Sukhbaatar et al., 2015": f"{_ARXIV}1503.08895",
    "Generating Images from Captions with Attention": f"{_ARXIV}1511.02793",
    "Processing Megapixel Images with Deep Attention-Sampling Models": f"{_ARXIV}1905.03711",
    "Katharopoulos & Fleuret, ICML 2019": f"{_ARXIV}1905.03711",
    "Bergner et al., ICLR 2023": f"{_ARXIV}2210.13007",
    "Iterative Patch Selection for High-Resolution Image Recognition": f"{_ARXIV}2210.13007",
    "Bahdanau et al., 2015": f"{_ARXIV}1409.0473",
    "Vaswani et al., 2017": f"{_ARXIV}1706.03762",
    "Shang & Ryoo, NeurIPS 2023": f"{_ARXIV}2306.00975",
    "slundqui/tfRAM": f"{_GITHUB}slundqui/tfRAM",
    "kevinzakka/recurrent-visual-attention": f"{_GITHUB}kevinzakka/recurrent-visual-attention",
    "github.com/emansim/text2image": f"{_GITHUB}emansim/text2image",
}
"""Title or citation, as the pages have it -> address."""

_NAMED = re.compile(
    "|".join(
        re.escape(name).replace(r"\ ", r"\s+")
        for name in sorted(ADDRESSES, key=len, reverse=True)  # the longest of two at one place
    )
)


def linked(text: str) -> str:
    """Markdown `text` with a link at each paper and program of `ADDRESSES` that it names."""
    return _NAMED.sub(lambda found: f"[{found[0]}]({ADDRESSES[' '.join(found[0].split())]})", text)
