# pyright: reportMissingImports=false
"""What an optimiser of `torch.optim` remembers, as arrays; its options are the caller's to give again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer

from ...accounting.errors import InvalidValue
from ..sampling import FloatArray


def remembered(optimiser: Optimizer) -> dict[str, FloatArray]:
    """Arrays by names of the form "number of the parameter.name", copied.

    Raises:
        InvalidValue: for an optimiser that remembers anything but tensors.
    """
    found = {}
    for position, entries in optimiser.state_dict()["state"].items():
        for name, value in entries.items():
            if value is None:
                continue
            if not isinstance(value, Tensor):
                shown = f"{type(optimiser).__name__}, which remembers {name} as {type(value).__name__}"
                raise InvalidValue("optimiser", shown, "one that remembers tensors alone", "Take SGD or Adam")
            found[f"{position}.{name}"] = array_of(value)
    return found


def remember(optimiser: Optimizer, state: Mapping[str, FloatArray]) -> None:
    """Go back to what `remembered` gave.

    Raises:
        InvalidValue: for the memory of an optimiser of other parameters; nothing has changed then.
    """
    parameters = [value for group in optimiser.param_groups for value in group["params"]]
    entries: dict[int, dict[str, Any]] = {}
    for key, array in state.items():
        position, _, name = key.partition(".")
        if not position.isdecimal() or int(position) >= len(parameters):
            raise InvalidValue("state", key, f"a parameter below {len(parameters)}", "Is it another optimiser's?")
        shape = parameters[int(position)].shape
        if array.ndim and array.shape != shape:
            raise InvalidValue("state", f"{key}: shape {array.shape}", f"{tuple(shape)}", "Is it another model's?")
        dtype = parameters[int(position)].dtype if array.ndim else torch.get_default_dtype()  # counts of steps
        entries.setdefault(int(position), {})[name] = torch.from_numpy(array.copy()).to(dtype)
    optimiser.load_state_dict({"state": entries, "param_groups": optimiser.state_dict()["param_groups"]})


def array_of(tensor: Tensor) -> FloatArray:
    """Return a dense copy of a tensor in binary64."""
    return np.array(tensor.detach().to_dense().to("cpu", torch.float64).numpy(), dtype=np.float64)
