"""The pictures of the published pages."""
