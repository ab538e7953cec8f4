"""Differentiable baselines, which read everything that is hidden.

Reading order: `setting.py` (what an environment hides), `model.py` (the base of all baselines),
`learner.py` (supervised learning), one model of `pictures/` or `memories/`, `train.py`.
"""

import agents  # noqa: F401  (Ctrl-C while importing)
