"""Whole episodes, played and kept for learning."""
