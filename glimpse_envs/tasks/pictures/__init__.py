"""Tasks whose hidden thing is a picture."""
