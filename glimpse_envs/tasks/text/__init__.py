"""Texts with questions, read statement by statement."""
