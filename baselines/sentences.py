"""Scores of descriptions, where several sentences are right for a scene."""

import torch
from torch import Tensor


def log_any(log_likelihoods: Tensor, sentences: Tensor) -> Tensor:
    """The log-likelihood (B,) in nats that any one of R `sentences` (T, R, B) is written, from each
    sentence's `log_likelihoods` (R, B); equal sentences count once."""
    counted = torch.ones_like(log_likelihoods, dtype=torch.bool)
    for i in range(1, len(log_likelihoods)):
        earlier, this = sentences[:, :i], sentences[:, i : i + 1]
        counted[i] = ~(earlier == this).all(dim=0).any(dim=0)
    return log_likelihoods.masked_fill(~counted, -torch.inf).logsumexp(dim=0)


def wrong_words(right: Tensor, sentences: Tensor, log_likelihoods: Tensor) -> float:
    """The share of words that are not `right` (T, R, B) in each scene's likeliest sentence."""
    likeliest = log_likelihoods.argmax(dim=0, keepdim=True)
    asked = sentences >= 0
    wrong = (asked & ~right).sum(dim=0).gather(0, likeliest).sum()
    return (wrong / asked.sum(dim=0).gather(0, likeliest).sum()).item()
