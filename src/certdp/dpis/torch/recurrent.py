# pyright: reportMissingImports=false
"""Recurrent layers made of affine maps, whose gradients per record can be had; PyTorch's fused ones hide them.

Parameters have the names, shapes and order that `torch.nn.LSTM` and `torch.nn.GRU` give them, so that `load_state_dict`
takes theirs. The first dimension always counts records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...accounting.enclosures.arguments import whole

State: TypeAlias = tuple[Tensor, ...]
"""What a cell remembers, (count, hidden) each; the first is its output."""
_Cell: TypeAlias = Callable[[Tensor, Tensor, State], State]


class _Recurrent(nn.Module):
    """Layers of one kind of cell, in one direction or both."""

    def __init__(
        self, gates: int, input_size: int, hidden_size: int, num_layers: int, bias: bool, bidirectional: bool
    ) -> None:
        super().__init__()
        self.hidden_size = whole("hidden_size", hidden_size, 1)
        self.num_layers = whole("num_layers", num_layers, 1)
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.bias = bias
        bound = 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            columns = hidden_size * len(self.suffixes) if layer else whole("input_size", input_size, 1)
            for suffix in self.suffixes:
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (columns,), "weight_hh": (hidden_size,)}
                shapes |= {"bias_ih": (), "bias_hh": ()} if bias else {}
                for name, shape in shapes.items():
                    drawn = torch.empty(gates * hidden_size, *shape).uniform_(-bound, bound)
                    self.register_parameter(f"{name}_l{layer}{suffix}", nn.Parameter(drawn))

    def _run(self, inputs: Tensor, cell: _Cell, remembered: int) -> tuple[Tensor, State]:
        """Outputs (count, steps, directions·hidden), and the last states, (layers·directions, count, hidden) each."""
        last: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self.suffixes:
                steps, state = self._layer(inputs, cell, remembered, f"_l{layer}{suffix}", bool(suffix))
                outputs.append(steps)
                last.append(state)
            inputs = torch.cat(outputs, dim=2)
        return inputs, tuple(torch.stack(parts) for parts in zip(*last, strict=True))

    def _layer(self, inputs: Tensor, cell: _Cell, remembered: int, name: str, reverse: bool) -> tuple[Tensor, State]:
        biases = [getattr(self, f"{kind}{name}") if self.bias else None for kind in ("bias_ih", "bias_hh")]
        weight = getattr(self, f"weight_hh{name}")
        given = functional.linear(inputs, getattr(self, f"weight_ih{name}"), biases[0]).unbind(1)
        state: State = (inputs.new_zeros(len(inputs), self.hidden_size),) * remembered
        outputs: list[Tensor] = []
        for step in reversed(given) if reverse else given:
            state = cell(step, functional.linear(state[0], weight, biases[1]), state)
            outputs.append(state[0])
        return torch.stack(outputs[::-1] if reverse else outputs, dim=1), state


@final
class Lstm(_Recurrent):
    """Long short-term memory, as `torch.nn.LSTM(batch_first=True)` without dropout, projections and given states.

    Args:
        input_size: entries of what a step gets, ≥ 1.
        hidden_size: entries of what a cell gives, ≥ 1.
        num_layers: layers on top of each other, ≥ 1.
        bias: whether there are offsets.
        bidirectional: whether each layer also reads from the end.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bias: bool = True,
        bidirectional: bool = False,
    ) -> None:
        super().__init__(4, input_size, hidden_size, num_layers, bias, bidirectional)

    def forward(self, inputs: Tensor) -> tuple[Tensor, State]:
        """Outputs of every step, (count, steps, directions·hidden), and the last h and c."""
        return self._run(inputs, _lstm_cell, 2)


def _lstm_cell(given: Tensor, recurrent: Tensor, state: State) -> State:
    """In, forget, cell, out, in the order of PyTorch."""
    enter, forget, new, leave = (given + recurrent).chunk(4, dim=1)
    cell = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


@final
class Gru(_Recurrent):
    """Gated recurrent units, as `torch.nn.GRU(batch_first=True)` without dropout and given states; else as `Lstm`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bias: bool = True,
        bidirectional: bool = False,
    ) -> None:
        super().__init__(3, input_size, hidden_size, num_layers, bias, bidirectional)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs of every step, (count, steps, directions·hidden), and the last h."""
        outputs, (hidden,) = self._run(inputs, _gru_cell, 1)
        return outputs, hidden


def _gru_cell(given: Tensor, recurrent: Tensor, state: State) -> State:
    """Reset, update, new, in the order of PyTorch."""
    reset, update, new = given.chunk(3, dim=1)
    reset_before, update_before, new_before = recurrent.chunk(3, dim=1)
    kept = torch.sigmoid(update + update_before)
    candidate = torch.tanh(new + torch.sigmoid(reset + reset_before) * new_before)
    return (candidate + kept * (state[0] - candidate),)
