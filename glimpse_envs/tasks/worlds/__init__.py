"""Worlds that move while they are looked at."""
