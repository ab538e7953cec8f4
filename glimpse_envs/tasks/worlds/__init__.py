"""Worlds that move while the agent looks at them."""
