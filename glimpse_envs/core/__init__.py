"""Foundations: arguments, arrays, files, geometry, keys, randomness and threads."""
