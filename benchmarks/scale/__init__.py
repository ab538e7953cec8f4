"""Cost and error as the scene grows."""
