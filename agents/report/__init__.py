"""A report of runs, as one file for the browser: `python -m agents.report RUN ...`."""
