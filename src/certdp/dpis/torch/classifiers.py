# pyright: reportMissingImports=false
"""Classifiers: a network with cross-entropy, made of the same options as the NumPy models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from ...accounting.errors import InvalidValue
from ...plugins.contract import Coins
from ..models import activations
from ..optimisers import Adam, OptimiserOptions, Sgd
from .networks import TemperedSigmoid
from .record_data import RecordData
from .torch_model import TorchModel

_OPTIMISERS: dict[type[Any], Callable[[Iterable[nn.Parameter], Any], torch.optim.Optimizer]] = {
    Sgd: lambda trained, how: torch.optim.SGD(trained, lr=how.rate, momentum=how.momentum),
    Adam: lambda trained, how: torch.optim.Adam(trained, lr=how.rate, betas=(how.first, how.second), eps=how.offset),
}
_ACTIVATIONS: dict[type[Any], Callable[[Any], nn.Module]] = {
    activations.Relu: lambda _: nn.ReLU(),
    activations.Tanh: lambda _: nn.Tanh(),
    activations.TemperedSigmoid: lambda how: TemperedSigmoid(
        scale=how.scale, temperature=how.temperature, offset=how.offset
    ),
}


def activation_modules(activation: activations.Activation) -> Callable[[], nn.Module]:
    """Makes modules that do what an activation of the NumPy models does."""
    return lambda: _ACTIVATIONS[type(activation)](activation)


def classifier(
    network: Callable[[], nn.Module],
    data: RecordData,
    optimiser: OptimiserOptions,
    *,
    coins: Coins,
    device: str = "cpu",
    exact_sums: bool = False,
) -> TorchModel:
    """A network that gives a score for each class, with cross-entropy as its loss.

    Args:
        network: makes it; its parameters are drawn with `coins`, without looking at data.
        data: what it is trained on, private.
        optimiser: options of the optimiser, public.
        coins: for the parameters to begin with.
        device: that PyTorch knows, such as "cuda".
        exact_sums: whether each record passes alone and what it adds is exact: slow, and with fewer assumptions.

    Guarantees:
        Every record was tried once: the network takes all of them.

    Raises:
        InvalidValue: for a device that is not there; as `TorchModel` and its `try_all`.
    """
    seed = int(coins.source.bits(1)[0] >> 1)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        made = network()
    try:
        made.to(device)
    except (AssertionError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidValue("device", device, "a device that PyTorch has, such as cpu or cuda", reason) from None
    trained = (value for value in made.parameters() if value.requires_grad)
    made_optimiser = _OPTIMISERS[type(optimiser)](trained, optimiser)
    model = TorchModel(made, nn.CrossEntropyLoss(reduction="none"), data, made_optimiser, exact_sums=exact_sums)
    model.try_all()
    return model
