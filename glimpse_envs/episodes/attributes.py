"""Attributes and methods of a batch, returned once for each row."""

from typing import Any

import numpy as np


class SharedAttributes:
    """A batch whose rows share all attributes, with the attribute methods of `SyncVectorEnv`."""

    num_envs: int

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute, or the result of a method, once for each row, as `SyncVectorEnv`
        does. A tuple of `num_envs` entries, such as frames, is taken to have one for each row."""
        value = getattr(self, name)
        if callable(value):
            value = value(*args, **kwargs)
        if isinstance(value, tuple) and len(value) == self.num_envs:
            return value
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute, once for each row."""
        return (getattr(self, name),) * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute, which all rows share.

        Args:
            name: of the attribute.
            values: one value, or a list or tuple of `num_envs` equal ones.

        Raises:
            ValueError: the values differ, or are too few or too many.
        """
        if isinstance(values, list | tuple):
            if len(values) != self.num_envs or not all(
                np.array_equal(value, values[0]) for value in values
            ):
                raise ValueError(
                    f"set_attr({name!r}): the rows share one attribute; give one value, or "
                    f"{self.num_envs} equal ones, not {values!r:.80}"
                )
            values = values[0]
        setattr(self, name, values)
