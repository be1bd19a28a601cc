# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false
"""What a training run is told about a PyTorch model, beside what PyTorch says about each record alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

try:
    import torch
    from torch import Tensor, nn

    from certdp.dpis.torch import TensorRecords, TorchModel
except ModuleNotFoundError:  # then nothing is collected here but a file asked for by name, which skips itself
    pass

UNIT = 2.0**-50  # of sums, below what the tests tell apart


def squared(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss per record that uses every output, with slopes that differ."""
    flat = outputs.flatten(1)
    places = torch.arange(1, flat.shape[1] + 1, dtype=flat.dtype, device=flat.device)
    return ((flat - targets.unsqueeze(1)) * places.sin()).square().sum(1)


def targets_of(inputs: Tensor) -> Tensor:
    return torch.linspace(-1, 1, len(inputs), dtype=torch.get_default_dtype())


def wrapped(model: nn.Module, inputs: Tensor, microbatch: int = 256, loss: Any = squared) -> TorchModel:
    targets = targets_of(inputs)
    trained = [value for value in model.parameters() if value.requires_grad]
    optimiser = torch.optim.SGD(trained, lr=0.1)
    return TorchModel(model, loss, TensorRecords(inputs=inputs, targets=targets), optimiser, microbatch=microbatch)


def explicit(model: nn.Module, inputs: Tensor, loss: Any = squared) -> np.ndarray[Any, Any]:
    """Gradients by PyTorch alone, of one record after the other, (count, dimension)."""
    targets = targets_of(inputs)
    trained = [value for value in model.parameters() if value.requires_grad]
    rows = []
    for index in range(len(inputs)):
        one = slice(index, index + 1)
        found = torch.autograd.grad(loss(model(inputs[one]), targets[one]).sum(), trained, allow_unused=True)
        parts = [torch.zeros_like(value) if g is None else g for g, value in zip(found, trained, strict=True)]
        rows.append(torch.cat([part.to_dense().flatten().double() for part in parts]).numpy())
    return np.stack(rows)


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    """Binary64 models, so that agreement means more than a few digits."""
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def agree() -> Callable[..., TorchModel]:
    """Checks norms, losses and weighted sums of a model against those of each record alone."""

    def check(model: nn.Module, inputs: Tensor, *, microbatch: int = 256, tolerance: float = 1e-10) -> TorchModel:
        records, rows = wrapped(model, inputs, microbatch), explicit(model, inputs)
        norms = np.linalg.norm(rows, axis=1)
        assert norms.min() > 0
        total, found = records.weighted_sum(np.arange(len(inputs)), lambda norms: 1 / (1 + norms), UNIT)
        np.testing.assert_allclose(found.norms, norms, rtol=tolerance)
        expected = (rows / (1 + norms)[:, np.newaxis]).sum(axis=0)
        np.testing.assert_allclose(total * UNIT, expected, rtol=0, atol=tolerance * np.abs(expected).max())
        alone = [squared(model(inputs[i : i + 1]), targets_of(inputs)[i : i + 1]).item() for i in range(len(inputs))]
        np.testing.assert_allclose(records.evaluate(np.arange(len(inputs))).losses, alone, rtol=tolerance)
        return records

    return check


@pytest.fixture
def make() -> Callable[..., TorchModel]:
    """A model with data, a loss and an optimiser."""
    return wrapped


@pytest.fixture
def alone() -> Callable[..., np.ndarray[Any, Any]]:
    """Gradients of single records."""
    return explicit
