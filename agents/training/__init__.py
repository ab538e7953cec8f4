"""The training loop and its runs."""
