"""Several processes that train one model, each with a share of a batch's rows.

`torchrun` starts the processes; `connected` connects them, by gloo for tensors of the CPU and by
nccl for those of GPUs. All other functions here act across the connected processes and, in a single
one, leave values as they are.

Gradients are averaged after the backward pass, in one message. DistributedDataParallel, which sends
each gradient as soon as it is ready, would save nothing: the gradients of a recurrent model's
weights are ready only when the pass has arrived at the first glimpse. It also needs one call of the
module per backward pass, whereas an episode calls the policy at every glimpse.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch._C._distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from glimpse_envs.evaluation.run_errors import RunError

Value = TypeVar("Value")
Config = TypeVar("Config")

LONGEST_WAIT = timedelta(hours=2)
"""Time until a process gives up waiting for the others, such as for the first one's validation.
The end of another one is noticed at once."""


class PeerError(RunError):
    """Another process of the training has ended."""


# --- processes ------------------------------------------------------------------------------------


def started_in_several() -> bool:
    """Whether torchrun has started this process as one of several."""
    return dist.is_torchelastic_launched() and int(os.environ.get("WORLD_SIZE", "1")) > 1


def processes() -> int:
    """Number of connected processes, 1 without others."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """Number of this process, from 0."""
    return dist.get_rank() if processes() > 1 else 0


def is_first() -> bool:
    """Whether this process writes the run: the first one, or the only one."""
    return rank() == 0


@contextmanager
def connected() -> Iterator[Callable[[], bool]]:
    """Connect the processes that torchrun has started; only the first one prints.

    Yields a function that returns True in the process that calls it first: the one that reports an
    error of them all.
    """
    if not started_in_several():
        yield lambda: True
        return
    store, own, count = next(rendezvous("env://"))
    dist.init_process_group(
        "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo",
        store=PrefixStore("training", store),
        rank=own,
        world_size=count,
        timeout=LONGEST_WAIT,
    )
    yield lambda: store.add("errors reported", 1) == 1
    # After an error the others may be waiting, and the connection ends with the process.
    with suppress(RuntimeError):  # of one that has died, which has been reported
        dist.barrier()  # none leaves before all are done
    dist.destroy_process_group()


@contextmanager
def first_prints() -> Iterator[None]:
    """Silence all processes but the first one."""
    if is_first():
        yield
        return
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def refuse_several(what: str) -> None:
    """Raise a `ValueError` in one of several processes: `what` runs in a single one."""
    if processes() > 1:
        raise ValueError(f"{what} runs in one process: start it without torchrun")


def share_of(config: Config) -> Config:
    """The config of this process's share: of its rows, and its own GPU.

    Raises:
        ValueError: the batch has no equal shares with all copies of a scene together, or all
            processes would share one GPU.
    """
    count = processes()
    if count == 1:
        return config
    fields: Any = config
    if fields.batch_size % (count * fields.copies):
        raise ValueError(
            f"batch_size={fields.batch_size} must be a multiple of {count * fields.copies}: there "
            f"are {count} processes, and copies={fields.copies}"
        )
    changes = {"batch_size": fields.batch_size // count}
    if fields.device.startswith("cuda:"):
        raise ValueError(
            f"device={fields.device!r} is one GPU for all {count} processes: give device='cuda', "
            "with which each takes its own"
        )
    if fields.device == "cuda":
        changes["device"] = f"cuda:{os.environ['LOCAL_RANK']}"
    return replace(fields, **changes)


def check_divisible(model: nn.Module) -> None:
    """Raise a `ValueError` where the rows of a batch cannot be split for `model`."""
    kind = nn.modules.batchnorm._BatchNorm  # of all dimensions
    found = next((part for part in model.modules() if isinstance(part, kind)), None)
    if processes() > 1 and found is not None:
        raise ValueError(
            f"{type(model).__name__} normalises by the whole batch ({type(found).__name__}), which "
            "is not split over processes: train it in one"
        )


# --- what the processes tell each other -----------------------------------------------------------


@contextmanager
def _talking() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        lost = "onnection" in reason or "closed" in reason
        raise PeerError(
            "another process of this training has ended; resume from the last checkpoint, by "
            f"--resume{'' if lost else f' ({reason})'}"
        ) from error


def from_first(make: Callable[[], Value]) -> Value:
    """What `make()` returns in the first process; the others do not call it."""
    if processes() == 1:
        return make()
    box: list[Any] = [make() if is_first() else None]
    with _talking():
        dist.broadcast_object_list(box, src=0)
    made: Value = box[0]
    return made


def everyones(value: Value) -> list[Value]:
    """The `value` of each process, in their order."""
    if processes() == 1:
        return [value]
    box: list[Any] = [None] * processes()
    with _talking():
        dist.all_gather_object(box, value)
    return box


def summed(values: Tensor) -> Tensor:
    """The sum of all processes' `values`, which have one shape; they are changed in place."""
    if processes() > 1:
        with _talking():
            dist.all_reduce(values)
    return values


def anywhere(flag: bool) -> bool:
    """Whether `flag` is True in any process."""
    return bool(summed(torch.tensor(int(flag))) > 0) if processes() > 1 else flag


def row_counts(rows: int) -> NDArray[np.int64]:
    """The number of `rows` of each process, (processes,)."""
    counts = torch.zeros(processes(), dtype=torch.int64)
    counts[rank()] = rows
    return summed(counts).numpy()


def averages(numbers: Mapping[str, float]) -> dict[str, float]:
    """The mean over all processes of each of `numbers`, which all have."""
    if processes() == 1 or not numbers:
        return dict(numbers)
    values = summed(torch.tensor(list(numbers.values()), dtype=torch.float64)) / processes()
    return dict(zip(numbers, values.tolist(), strict=True))


def averages_of_any(numbers: Mapping[str, float]) -> dict[str, float]:
    """The mean over all processes of what any has in `numbers`; it is 0 in those that lack it."""
    names = dict.fromkeys(name for theirs in everyones(list(numbers)) for name in theirs)
    return averages({name: numbers.get(name, 0.0) for name in names})


# --- gradients and means over rows ----------------------------------------------------------------


def average_gradients(parameters: Sequence[Tensor], losses: Tensor) -> Tensor:
    """Average the gradients of `parameters` and the `losses` (n,) over all processes, in one
    message; return the mean losses (n,).

    Where a process has no gradient, such as of a network that none of its rows used, it counts as
    zeros. A gradient that no process has stays None, so that optimizers leave the parameter alone.
    """
    if processes() == 1:
        return losses
    learned = [parameter for parameter in parameters if parameter.requires_grad]
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in learned]
    present = losses.new_tensor([float(p.grad is not None) for p in learned])
    everything = [*gradients, present.to(gradients[0]), losses.to(gradients[0])]
    flat = summed(torch.cat([one.flatten() for one in everything])) / processes()
    *means, present, losses = torch.split(flat, [one.numel() for one in everything])
    for parameter, mean, used in zip(learned, means, present.tolist(), strict=True):
        if used:
            parameter.grad = mean.view_as(parameter)
    return losses


def mean_of_rows(losses: Tensor, rows: int) -> Tensor:
    """The share of this process, with `losses` (b,), in the mean over `rows` rows of all processes:
    the mean of the processes' shares is that over the rows."""
    if processes() == 1:
        return losses.mean()
    return losses.sum() * (processes() / rows)


def mean_and_deviation(values: Tensor, correction: int = 1) -> tuple[Tensor, Tensor]:
    """The mean and the standard deviation of all processes' `values` (any shape)."""
    if processes() == 1:
        return values.mean(), values.std(correction=correction)
    count, total = summed(torch.stack([values.new_tensor(values.numel()), values.sum()]))
    mean = total / count
    return mean, (summed(((values - mean) ** 2).sum()) / (count - correction)).sqrt()


# --- states of rows -------------------------------------------------------------------------------


def joined(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of all rows from each process's `state`: arrays, whose first axis is of rows, one
    after another; all else is that of the first process. It does not depend on the number of
    processes."""
    return concatenated(everyones(dict(state)))


def concatenated(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The state of all rows from those of parts of them; see `joined`."""
    whole = dict(states[0])
    for name, value in whole.items():
        parts = [state[name] for state in states]
        if isinstance(value, Mapping):
            whole[name] = concatenated(parts)
        elif isinstance(value, np.ndarray):
            whole[name] = np.concatenate(parts)
    return whole


def own_part(state: Mapping[str, Any]) -> dict[str, Any]:
    """This process's part of a state of all rows: undo `joined`."""
    return split(state, processes())[rank()]


def split(state: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The states of `count` equal parts of the rows: undo `concatenated`."""
    parts: list[dict[str, Any]] = [dict(state) for _ in range(count)]
    for name, value in state.items():
        if isinstance(value, Mapping):
            pieces: Sequence[Any] = split(value, count)
        elif isinstance(value, np.ndarray):
            pieces = np.split(value, count)
        else:
            continue
        for part, piece in zip(parts, pieces, strict=True):
            part[name] = piece
    return parts
