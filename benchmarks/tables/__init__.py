"""Tables of results that are wanted, and the command that trains what they lack.

Reading order: `table.py` (what a table is), `pictures.py` and the like (the tables), `planning.py`
(what is recorded and what lacks), `worker.py` (one run from start to record), `progress.py` and
`view.py` (what is shown of it), `ray_cluster.py`, `command.py`.
"""
