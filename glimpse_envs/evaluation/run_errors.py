"""Errors of runs: folders with a config, metrics and a checkpoint."""


class RunError(RuntimeError):
    """A run is missing, damaged, of another format, or names a policy that does not exist."""


class CheckpointError(RunError):
    """A checkpoint is missing or damaged."""
