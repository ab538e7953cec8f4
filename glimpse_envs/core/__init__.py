"""What everything stands on: arguments, files, geometry, randomness and threads."""
