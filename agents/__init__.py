"""Hard-attention agents and their learners.

Reading order:

1. `policy/networks.py`, `policy/glimpse_network.py`, `policy/heads.py`: the parts of a policy,
   and `policy/glimpse_policy.py`: the policy from them.
2. `episodes/trajectory.py` and `episodes/rollout.py`: episodes, played and replayed.
3. `algorithms/learner.py`, `algorithms/policy_gradient.py`, `algorithms/reinforce.py`: the first
   learner; then `algorithms/actor_critic.py`, and `algorithms/exact.py` over all tiles.
4. `training/loop.py`: the loop of all learners; `train.py`: its command.
5. `scoring/run_scores.py` and `evaluate.py`: scores; `scoring/run_record.py`: records of runs.
6. `sb3/`: Stable-Baselines3's learners on the same environments; `demo.py`: the demo.
"""

import signal
import sys
from importlib.util import find_spec

# While `python -m agents.…` imports torch, Ctrl-C ends it without a traceback.
if sys.argv[:1] == ["-m"]:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

for _name in ("torch", "tyro"):
    if find_spec(_name) is None:
        raise ModuleNotFoundError(
            f"agents and baselines need {_name}, which is not installed: "
            "pip install -e . --group baselines",
            name=_name,
        )
