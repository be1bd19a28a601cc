# pyright: reportMissingImports=false
"""Where a PyTorch model gets its records from."""

from __future__ import annotations

from typing import Any, Protocol, final

import torch
from attrs import field, frozen
from torch import Tensor

from ...accounting.errors import InvalidValue


class RecordData(Protocol):
    """Records that can be addressed by number; private."""

    def __len__(self) -> int: ...

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs and the targets of some records, whose number is the first dimension of each.

        Args:
            indices: (count,), whole numbers, on the CPU.
        """
        ...


@final
@frozen(kw_only=True, eq=False)
class TensorRecords:
    """Records in memory.

    Args:
        inputs: (n, …), of any type.
        targets: (n, …).
        divide_by: a public number > 0 that inputs are divided by as they are read, which makes them numbers of the
            default type; they are handed over as they are where it is None.

    Raises:
        InvalidValue: for other shapes, no records, and a divisor outside the range.
    """

    inputs: Tensor = field(repr=False)
    targets: Tensor = field(repr=False)
    divide_by: float | None = None

    def __attrs_post_init__(self) -> None:
        if self.inputs.dim() < 1 or not len(self.inputs):
            raise InvalidValue("inputs", f"shape {tuple(self.inputs.shape)}", "one record or more")
        if self.targets.dim() < 1 or len(self.targets) != len(self.inputs):
            shape = tuple(self.targets.shape)
            raise InvalidValue("targets", f"shape {shape}", f"{len(self.inputs)} targets, one for each record")
        if self.divide_by is not None and not 0 < self.divide_by < float("inf"):
            raise InvalidValue("divide_by", self.divide_by, "a finite number > 0")

    def __len__(self) -> int:
        return len(self.inputs)

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return the inputs and targets of some records."""
        inputs, targets = self.inputs[indices], self.targets[indices]
        return inputs if self.divide_by is None else inputs.to(torch.get_default_dtype()) / self.divide_by, targets


@final
@frozen(eq=False)
class DatasetRecords:
    """A map-style `torch.utils.data.Dataset` of pairs (input, target), read one by one.

    Transformations that draw random numbers make the gradient of a record a random vector: leave them out.

    Args:
        dataset: with a length, items by number, and inputs of one shape.
    """

    dataset: Any

    def __len__(self) -> int:
        return len(self.dataset)

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return the inputs and targets of some records, stacked."""
        pairs = [self.dataset[int(index)] for index in indices]
        inputs = torch.stack([torch.as_tensor(given) for given, _ in pairs])
        return inputs, torch.stack([torch.as_tensor(target) for _, target in pairs])
