"""Runs scored, filmed and costed."""
