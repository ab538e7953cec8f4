"""Soft attention and full views of pictures."""
