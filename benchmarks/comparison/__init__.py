"""Hard attention against soft at equal core-minutes."""
