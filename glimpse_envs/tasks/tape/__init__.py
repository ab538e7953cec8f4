"""The tape machine and its programs."""
