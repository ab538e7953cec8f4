"""A recurrent policy from spaces: networks, heads and distributions."""
