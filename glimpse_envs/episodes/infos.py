"""`info` of a batch in Gymnasium's layout: each value with a mask of the rows that have it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools
from glimpse_envs.task import Arrays, Outcome, Rows

Info = dict[str, Any]


def mask_of(rows: Rows, num_envs: int) -> Bools:
    """Return the mask (num_envs,) bool of `rows` (m,)."""
    if len(rows) == num_envs:
        return np.ones(num_envs, np.bool_)
    mask = np.zeros(num_envs, np.bool_)
    mask[rows] = True
    return mask


def merge(infos: Info, values: Arrays, rows: Rows, num_envs: int) -> Info:
    """Add `values`, name -> (m, ...), of `rows` (m,) to `infos`, each with its mask."""
    whole = len(rows) == num_envs
    masks = np.empty((len(values), num_envs), np.bool_)  # a row each, so that none is shared
    masks[:] = True if whole else mask_of(rows, num_envs)
    for (name, value), mask in zip(values.items(), masks, strict=True):
        if not whole:
            some, value = value, np.zeros((num_envs, *value.shape[1:]), value.dtype)
            value[rows] = some
        infos[name], infos[f"_{name}"] = value, mask
    return infos


def merge_step(
    infos: Info, outcome: Outcome, acting: Rows, info: Arrays, fresh: Rows | None, num_envs: int
) -> Info:
    """Add one step to `infos`: the outcome of the rows `acting` (m,), and the `info` of all rows.

    The rows `fresh` (k,) were dealt anew in this very step: they carry no outcome, which is in
    `final_info`.
    """
    carrying = None
    if fresh is not None and len(fresh):
        carrying = ~mask_of(fresh, num_envs)[acting]
        acting = acting[carrying]
    if len(acting):
        infos = merge(infos, outcome.as_info(carrying), acting, num_envs)
    return merge(infos, info, np.arange(num_envs), num_envs)


def final_infos(observation: Arrays | NDArray, values: Arrays, rows: Rows, num_envs: int) -> Info:
    """Return `final_obs` and `final_info` of the ended `rows` (m,), as SyncVectorEnv gives them.

    Args:
        observation: their terminal observations, name -> (m, ...), or flat (m, d).
        values: their infos at their last step, name -> (m, ...).
        rows: in rising order.
        num_envs: rows of the batch.
    """
    final_obs = np.empty(num_envs, dtype=object)  # of None
    if isinstance(observation, dict):
        own: list[Arrays] = [{} for _ in range(len(rows))]
        for name, batch in observation.items():
            for row, value in zip(own, batch, strict=True):
                row[name] = value
        final_obs[rows] = own
    else:
        for row, value in zip(rows.tolist(), observation, strict=True):
            final_obs[row] = value
    return {
        "final_obs": final_obs,
        "_final_obs": mask_of(rows, num_envs),
        "final_info": merge({}, values, rows, num_envs),
        "_final_info": mask_of(rows, num_envs),
    }


def success_in(outcome: Arrays, num_envs: int) -> Bools | None:
    """Return `outcome["success"]` (n,); None where it is no truth value of each row, as an entry of
    this name in the infos of another package may be."""
    success = outcome.get("success")
    if success is None or success.shape != (num_envs,):
        return None
    if success.dtype == np.object_:
        # Gymnasium collects NumPy's truth values as objects, with None in rows that have none.
        kinds = {type(one) for one in success} - {type(None)}
        success = success.astype(np.bool_) if kinds == {np.bool_} else success
    return success if success.dtype == np.bool_ else None


def told_in(info: Info, ended: Bools, name: str) -> Bools:
    """Return the rows (n,) of which `read_outcome(info, ended)` has the entry `name`: as Gymnasium
    marks them, or all where they are not marked."""
    final = info.get("final_info") if ended.any() else None
    running = _marked(info, name, len(ended))
    return running if final is None else np.where(ended, _marked(final, name, len(ended)), running)


def _marked(info: Info, name: str, num_envs: int) -> Bools:
    if name not in info:
        return np.zeros(num_envs, np.bool_)
    return np.asarray(info.get(f"_{name}", np.ones(num_envs, np.bool_)))


def read_outcome(info: Info, ended: Bools) -> Arrays:
    """Return `info` of the action just taken, name -> (n, ...), in any autoreset mode: under
    "SameStep" that of the rows that ended is read from `final_info`.

    Args:
        info: of the latest step.
        ended: (n,), the rows that ended in this step.
    """
    final = info.get("final_info", {}) if ended.any() else {}
    running = {name: info[name] for name in info.keys() - {"final_obs", "final_info"}}
    return _of_both(running, final, ended)


def _of_both(running: Info, final: Info, ended: Bools) -> Arrays:
    """Return `final`, name -> (n, ...), in the rows that `ended`, and `running` in the others; in
    dicts within these likewise. Of what is not alike in both, as the entries of other packages may
    be, `final` is returned; entries whose names are no text are left out."""
    outcome: dict[str, Any] = {}
    for name in running.keys() | final.keys():
        if not isinstance(name, str) or name.startswith("_"):
            continue
        if name not in final:
            outcome[name] = running[name]
            continue
        last, going = final[name], running.get(name)
        outcome[name] = last
        if going is None or ended.all():
            continue
        if isinstance(last, dict) and isinstance(going, dict):
            outcome[name] = _of_both(going, last, ended)
        elif isinstance(last, np.ndarray) and np.shape(going) == last.shape:
            rows = ended.reshape(-1, *[1] * (last.ndim - 1))
            outcome[name] = np.where(rows, last, going)
    return outcome
