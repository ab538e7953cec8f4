"""The documentation, and what generates the environments' pages: `python -m docs.generate`."""
