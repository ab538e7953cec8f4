"""RecurrentPPO of sb3-contrib, whose LSTM remembers the glimpses; its score keeps the state."""

import argparse

from sb3_contrib import RecurrentPPO

from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.protocol import evaluate

ENV_ID = "Glimpse/Copy-v0"


def main(steps: int) -> None:
    env = make_sb3_env(ENV_ID, 64, seed=0, length=3)
    model = RecurrentPPO(
        "MultiInputLstmPolicy", env, n_steps=32, batch_size=512, n_epochs=4,
        learning_rate=1e-3, gamma=1.0, ent_coef=0.01, seed=0,
    )  # fmt: skip
    model.learn(steps)
    print(evaluate(model, ENV_ID, length=3, episodes=1000).summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    main(parser.parse_args().steps)
