# pyright: reportMissingImports=false
"""What a forward pass does with the trained parameters, recorded where PyTorch's functions are called.

A known function (affine map, convolution, look-up, normalisation) leaves its input and a place in the graph at which
the backward pass finds δ, the derivative in what it gave. So a parameter may be used several times, by several
modules, or by none. A parameter that meets any other function is one whose gradients are formed by `torch.func`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, final

import torch
from attrs import define, field, frozen
from torch import Tensor
from torch.autograd.graph import get_gradient_edge
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ...accounting.errors import InvalidValue
from .gradients_of_records import Dense, Gradients, Outer, TableRows

Positions: TypeAlias = dict[Tensor, int]
"""The trained parameters, to their positions."""
Signature: TypeAlias = tuple[object, ...]
"""What a call does, but for the number of records."""


class Layer(Protocol):
    """One call of a known function."""

    @property
    def source(self) -> Tensor:
        """What the function got, apart from its parameters; its first dimension counts records."""
        ...

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters that the function got, by their role."""
        ...

    def uses(self, deltas: Tensor) -> dict[str, Gradients]:
        """The gradients in its parameters, by their role."""
        ...


def _given(weight: Tensor | None, bias: Tensor | None) -> dict[str, Tensor]:
    return {role: value for role, value in (("weight", weight), ("bias", bias)) if value is not None}


@final
@frozen(eq=False)
class _Affine:
    source: Tensor
    parameters: dict[str, Tensor]

    def uses(self, deltas: Tensor) -> dict[str, Gradients]:
        inputs, deltas = _positions(self.source), _positions(deltas)
        shape = self.parameters["weight"].shape
        return {"weight": Outer(inputs.unsqueeze(1), deltas.unsqueeze(1), shape), "bias": Dense(deltas.sum(1))}


def _positions(values: Tensor) -> Tensor:
    """(count, …, size) as (count, positions, size)."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _affine(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Layer | None:
    return _Affine(input, _given(weight, bias)) if input.dim() >= 2 else None


@final
@frozen(eq=False)
class _Convolution:
    """In one to three dimensions; paddings count what is added before and after, last dimension first."""

    source: Tensor
    parameters: dict[str, Tensor]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    def uses(self, deltas: Tensor) -> dict[str, Gradients]:
        weight = self.parameters["weight"]
        count, groups, columns = len(deltas), self.groups, weight[0].numel()
        slopes = deltas.reshape(count, groups, weight.shape[0] // groups, -1)
        patches = self._patches(weight.shape[2:]).reshape(count, groups, columns, slopes.shape[3])
        return {"weight": Outer(patches.mT, slopes.mT, weight.shape), "bias": Dense(deltas.flatten(2).sum(2))}

    def _patches(self, sizes: tuple[int, ...]) -> Tensor:
        """What the kernel meets at each place, (count, channels, *sizes, *places); a view of the padded input."""
        views = functional.pad(self.source, self.padding)
        for axis, (size, step, spread) in enumerate(zip(sizes, self.stride, self.dilation, strict=True), start=2):
            views = views.unfold(axis, (size - 1) * spread + 1, step)[..., ::spread]
        places = range(2, 2 + len(sizes))
        return views.permute(0, 1, *(axis + len(sizes) for axis in places), *places)


def _tuple(value: int | Iterable[int], length: int) -> tuple[int, ...]:
    values = (value,) if isinstance(value, int) else tuple(value)
    return values * length if len(values) == 1 else values


def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: str | int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Layer | None:
    length = weight.dim() - 2
    if input.dim() != weight.dim():
        return None
    spread = _tuple(dilation, length)
    match padding:
        case "same":
            totals = [step * (size - 1) for step, size in zip(spread, weight.shape[2:], strict=True)]
            ends = [(total // 2, total - total // 2) for total in totals]
        case "valid":
            ends = [(0, 0)] * length
        case str():
            return None
        case _:
            ends = [(width, width) for width in _tuple(padding, length)]
    flat = tuple(width for end in reversed(ends) for width in end)
    return _Convolution(input, _given(weight, bias), _tuple(stride, length), flat, spread, groups)


@final
@frozen(eq=False)
class _Embedding:
    source: Tensor
    parameters: dict[str, Tensor]
    padding: int | None

    def uses(self, deltas: Tensor) -> dict[str, Gradients]:
        rows = self.source.reshape(len(self.source), -1)
        deltas = deltas.reshape(*rows.shape, -1)
        if self.padding is not None:
            deltas = torch.where((rows == self.padding).unsqueeze(2), 0.0, deltas)
        return {"weight": TableRows(rows, deltas, self.parameters["weight"].shape)}


def _embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Layer | None:
    if input.dim() < 1:
        return None
    if max_norm is not None or scale_grad_by_freq:
        what = "max_norm" if max_norm is not None else "scale_grad_by_freq"
        raise InvalidValue("model", f"an embedding with {what}", "one without: it mixes records", f"Leave out {what}")
    padding = None if padding_idx is None or padding_idx == -1 else padding_idx % weight.shape[0]
    return _Embedding(input, _given(weight, None), padding)


@final
@frozen(eq=False)
class _Normalisation:
    """A record's own, over layers or groups of channels; `normalised` is its input without mean and scale."""

    source: Tensor
    parameters: dict[str, Tensor]
    normalised: Callable[[Tensor], Tensor]
    summed: Callable[[Tensor], Tensor]

    def uses(self, deltas: Tensor) -> dict[str, Gradients]:
        slopes = deltas * self.normalised(self.source)
        return {"weight": Dense(self.summed(slopes)), "bias": Dense(self.summed(deltas))}


def _layer_norm(
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Layer | None:
    shape = tuple(normalized_shape)
    if input.dim() == len(shape):
        return None
    return _Normalisation(
        input,
        _given(weight, bias),
        lambda values: functional.layer_norm(values, shape, eps=eps),
        lambda values: values.reshape(len(values), -1, *shape).sum(1),
    )


def _group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Layer | None:
    return _Normalisation(
        input,
        _given(weight, bias),
        lambda values: functional.group_norm(values, num_groups, eps=eps),
        lambda values: values.reshape(*values.shape[:2], -1).sum(2),
    )


_KNOWN: dict[Any, Callable[..., Layer | None]] = {
    functional.linear: _affine,
    functional.conv1d: _convolution,
    functional.conv2d: _convolution,
    functional.conv3d: _convolution,
    functional.embedding: _embedding,
    functional.layer_norm: _layer_norm,
    functional.group_norm: _group_norm,
}


@final
@frozen(eq=False)
class Call:
    """One recorded call.

    Attributes:
        layer: what was called on what.
        roles: positions of trained parameters to their roles.
        edge: where the graph holds what was given, before anything changed it in place.
        version: of the input as it was then.
    """

    layer: Layer
    roles: dict[int, str]
    edge: Any
    version: int

    @property
    def signature(self) -> Signature:
        """What does not depend on the number of records."""
        return type(self.layer), tuple(sorted(self.roles.items())), tuple(self.layer.source.shape[1:])

    def uses(self, deltas: Tensor) -> Iterator[tuple[int, Gradients]]:
        """The gradients in each trained parameter.

        Raises:
            InvalidValue: where the input was changed in place since.
        """
        if self.layer.source._version != self.version:
            remedy = "Use the form of the following function that changes nothing in place (inplace=False)"
            raise InvalidValue("model", "an input of a layer, changed in place", "inputs that stay", remedy)
        uses = self.layer.uses(deltas)
        return ((position, uses[role]) for position, role in self.roles.items())


@final
@define(eq=False)
class Recording:
    """A forward pass of `count` records.

    Attributes:
        count: the number of records.
        calls: of known functions with trained parameters, in their order.
        others: positions of the trained parameters that some other function used.
    """

    count: int
    calls: list[Call] = field(factory=list)
    others: set[int] = field(factory=set)

    @property
    def all_signatures(self) -> list[Signature]:
        """Return the signatures of all calls, in their order."""
        return [call.signature for call in self.calls]

    def signatures(self, position: int) -> tuple[Signature, ...]:
        """Return the signatures of the calls with one parameter."""
        return tuple(call.signature for call in self.calls if position in call.roles)


@final
class Recorder(TorchFunctionMode):
    """Records what is called while it is entered.

    Args:
        positions: of the trained parameters.
        count: the number of records that the forward pass is about.
    """

    def __init__(self, positions: Positions, count: int) -> None:
        super().__init__()
        self.recording = Recording(count)
        self._positions = positions

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function, and write down what it did with trained parameters."""
        named = kwargs or {}
        used = set(self._used(args)) | set(self._used(named.values()))
        layer = _KNOWN[func](*args, **named) if used and func in _KNOWN else None
        result = func(*args, **named)
        if not used or not any(part.requires_grad for part in _tensors((result,))):
            return result
        if layer is None or not self._record(layer, result, used):
            self.recording.others |= used
        return result

    def _record(self, layer: Layer, result: Tensor, used: set[int]) -> bool:
        """Whether the call can be written down: what went in and out counts records, and its parameters are known."""
        roles = {self._positions[value]: role for role, value in layer.parameters.items() if value in self._positions}
        counts = {layer.source.shape[0], result.shape[0]}
        if counts != {self.recording.count} or set(roles) != used or layer.source in self._positions:
            return False
        call = Call(layer, roles, get_gradient_edge(result), layer.source._version)
        self.recording.calls.append(call)
        return True

    def _used(self, values: Iterable[Any]) -> Iterator[int]:
        return (self._positions[value] for value in _tensors(values) if value in self._positions)


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among some arguments, in lists too."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
