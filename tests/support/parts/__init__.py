"""A scene and a sensor as another package would bring them, each one file."""

import glimpse_envs

glimpse_envs.register(
    "Tiny/DigitSum-v0",
    task="glimpse_envs.tasks.pictures.classification:ImageClassification",
    scene="tests.support.parts.digit_sum:DigitSum",
    largest=4,
    sensor="tests.support.parts.log_polar:LogPolar",
    rings=5,
    budget=6,
)
