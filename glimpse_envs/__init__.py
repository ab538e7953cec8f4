"""Gymnasium environments for hard attention: the agent chooses each glimpse."""

__version__ = "0.1.0"
