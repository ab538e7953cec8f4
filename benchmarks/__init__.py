"""What trains or times in order to write `results/`.

Read `options.py` first, then one folder each: `speed/` (steps and updates a second), `cost/` (one
read of a memory), `comparison/` (hard against soft attention), `scale/` (cost by the scene's side)
and `variance/` (noise of gradient estimates).
"""

import agents  # noqa: F401  (Ctrl-C while importing)
