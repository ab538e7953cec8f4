"""Implicit attention: what an answer depends on."""
