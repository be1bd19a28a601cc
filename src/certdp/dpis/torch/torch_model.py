# pyright: reportMissingImports=false
"""A PyTorch model with its loss, data and optimiser, as a training run takes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
import torch
from attrs import frozen
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.optim import Optimizer

from ...accounting.bulk.record_rows import Integers
from ...accounting.derivation import Assumption
from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidValue
from ...accounting.provenance import Private
from ..gradients import (
    FLOAT_GRADIENTS,
    RECORDS_APART,
    Evaluation,
    Identity,
    Weighting,
    cut_to_units,
    described,
    in_units,
)
from ..sampling import FloatArray, IntArray, norm_error
from .gradients_of_records import Dense, Gradients, joined
from .optimiser_state import array_of, remember, remembered
from .record_data import RecordData
from .recorded_calls import Positions, Recorder, Recording
from .refusals import refuse_mixing

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Outputs of the model and targets to a loss for each record, (count,)."""

_PROBED = 3


@final
class TorchModel:
    """`RecordGradients` of a PyTorch model, on the device where its parameters are.

    One forward and one backward pass give the factors of all gradients; norms and weighted sums come from the same
    factors (`gradients_of_records`), so that the guarantee of a run does not rest on how PyTorch rounds. It rests on
    this, which no program can see in all its forms: what the model computes for a record depends on no other record.
    Layers known to break that are refused, and on a few records it is tried out before the run.

    Args:
        model: trained are the parameters that require gradients; others, and buffers, are public constants.
        loss: of each record, such as `torch.nn.CrossEntropyLoss(reduction="none")`.
        data: what it is trained on, private.
        optimiser: of the trained parameters; scheduled learning rates are the caller's affair.
        microbatch: how many records are in memory at a time, ≥ 1; results depend on it by rounding alone.
        exact_sums: whether each record passes alone, whatever `microbatch` is, and what it adds is cut to whole units
            of a public grid. That is slow, and spares guarantees two assumptions: see `assumptions`.

    Attributes:
        model: as given.
        formed: positions of the trained parameters whose gradients are formed record by record by `torch.func`.
        unit: the unit roundoff of what norms and sums are computed in; factors may be narrower.

    Raises:
        InvalidValue: for a model, a loss or an optimiser that the above does not hold for; a message to the data's
            curator, as it may depend on the data.
    """

    unit = Fraction(1, 2**53)

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        data: RecordData,
        optimiser: Optimizer,
        *,
        microbatch: int = 256,
        exact_sums: bool = False,
    ) -> None:
        self.model = model
        self._loss = loss
        self._data = data
        self._optimiser = optimiser
        self._exact_sums = exact_sums
        self._microbatch = 1 if exact_sums else whole("microbatch", microbatch, 1)
        trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
        self._names, self._parameters = list(trained), list(trained.values())
        self._positions: Positions = {value: n for n, value in enumerate(self._parameters)}
        self._check_parameters()
        refuse_mixing(model)
        self.formed = self._learn_calls()
        self._positions = {value: n for n, value in enumerate(self._parameters) if n not in self.formed}
        self._signatures = self._record(self._probed()).all_signatures
        self._try_out()

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self._data)

    @property
    def dimension(self) -> int:
        """The number of trained parameters."""
        return sum(value.numel() for value in self._parameters)

    @property
    def error(self) -> Fraction:
        """η of sums of `dimension` squares in binary64."""
        return norm_error(self.dimension, self.unit)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What a guarantee assumes of the model and of PyTorch.

        Gradients and their sums are of floats, in products whose rounding may depend on the batch; not so where records
        pass one by one: no other record is there then that rounding could depend on, and sums are exact.
        """
        return (RECORDS_APART,) if self._exact_sums else FLOAT_GRADIENTS

    def identity(self) -> Identity:
        """The model with its loss, the optimiser as it was made, and a digest of the data in binary64.

        Learning rates that a schedule has changed since are not the optimiser's defaults, and may differ.
        """
        inputs, targets = hashlib.sha256(), hashlib.sha256()
        for part in self._parts(_all(self._data)):
            for digest, rows in zip((inputs, targets), self._data.rows(torch.from_numpy(part)), strict=True):
                digest.update(array_of(rows).tobytes())
        return Identity(
            model=f"{described(self.model)} under {described(self._loss)}{' exact sums' if self._exact_sums else ''}",
            optimiser=f"{type(self._optimiser).__name__} {described(self._optimiser.defaults)}",
            data=Private(inputs.hexdigest() + targets.hexdigest()),
        )

    def evaluate(self, indices: IntArray) -> Evaluation:
        """Norms and losses, by one pass forward and back."""
        return Evaluation.joined([self._passed(part).evaluation() for part in self._parts(indices)])

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        """Σ w·g in whole units, by one pass forward and back; norms come from the same factors.

        The sum is one of floats and rounded, or where records pass one by one each w·g is cut toward zero.
        """
        total: NDArray[Any] = np.zeros(self.dimension, dtype=np.int64 if self._exact_sums else np.float64)
        parts = []
        for part in self._parts(indices):
            passed = self._passed(part)
            found = passed.evaluation()
            parts.append(found)
            weights = weighting(found.norms)
            if not (weights > 0).any():
                continue
            added = passed.weighted_sum(weights)
            total += cut_to_units(added, unit) if self._exact_sums else added
        return total if self._exact_sums else in_units(total, unit), Evaluation.joined(parts)

    def step(self, gradient: FloatArray) -> None:
        """Let the optimiser change the parameters."""
        for value, part in zip(self._parameters, self._split(gradient), strict=True):
            value.grad = torch.from_numpy(part).to(value.device, value.dtype)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)

    def released(self) -> dict[str, FloatArray]:
        """Copies of all parameters, the trained ones and others, under PyTorch's names for them."""
        return {name: array_of(value) for name, value in self.model.named_parameters()}

    def state(self) -> dict[str, FloatArray]:
        """The parameters, and what the optimiser remembers."""
        memory = {f"optimiser.{name}": array for name, array in remembered(self._optimiser).items()}
        return {f"parameter.{name}": array for name, array in self.released().items()} | memory

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go back to what `state` gave.

        Raises:
            InvalidValue: for the state of another model or optimiser; nothing has changed then.
        """
        there = _within(state, "parameter.")
        parameters = dict(self.model.named_parameters())
        if there.keys() != parameters.keys():
            odd = sorted(there.keys() ^ parameters.keys())
            raise InvalidValue(
                "state", ", ".join(odd), "the names of this model's parameters", "Is it another model's?"
            )
        for name, value in parameters.items():
            if there[name].shape != tuple(value.shape):
                found = f"{name}: shape {there[name].shape}"
                raise InvalidValue("state", found, f"{tuple(value.shape)}", "Is it another model's?")
        remember(self._optimiser, _within(state, "optimiser."))
        with torch.no_grad():
            for name, value in parameters.items():
                value.copy_(torch.from_numpy(there[name]))

    def try_all(self) -> None:
        """Compute the loss of every record once: what a model raises on some record belongs before a run, not in it.

        Raises:
            InvalidValue: where the model or the loss fails; a message to the data's curator.
        """
        for part in self._parts(_all(self._data)):
            try:
                with torch.no_grad():
                    inputs, targets = self._rows(self._data, part)
                    self._loss(self.model(inputs), targets)
            except (IndexError, RuntimeError, TypeError, ValueError) as error:
                where = f"records {part[0]} to {part[-1]}: {error}"
                raise InvalidValue("data", where, "records that the model takes") from error

    def predict(self, data: RecordData) -> IntArray:
        """The class with the largest score, for each record of other data; -1 where a score is NaN."""
        with torch.no_grad():
            scores = torch.cat([self.model(self._rows(data, part)[0]).cpu() for part in self._parts(_all(data))])
        return np.asarray(torch.where(scores.isnan().any(1), -1, scores.argmax(1)).numpy(), dtype=np.intp)

    def accuracy(self, data: RecordData) -> float:
        """The share of records whose class is predicted. As private as those records."""
        targets = [data.rows(torch.from_numpy(part))[1] for part in self._parts(_all(data))]
        return float(np.mean(self.predict(data) == torch.cat(targets).cpu().numpy()))

    # One pass

    def _passed(self, indices: IntArray) -> _Passed:
        inputs, targets = self._rows(self._data, indices)
        recording, losses, given = self._forward(inputs, targets)
        if recording.all_signatures != self._signatures:
            remedy = "Let the forward pass take the same way for all records"
            raise InvalidValue("model", "parameters used otherwise than at first", "the same uses in each pass", remedy)
        uses: list[list[Gradients]] = [[] for _ in self._parameters]
        with torch.no_grad():
            for call, deltas in zip(recording.calls, given, strict=True):
                if deltas is not None:
                    for position, use in call.uses(deltas):
                        uses[position].append(use)
            formed = self._form(inputs, targets)
            gradients = [
                formed[position] if position in formed else joined(found) if found else _none(value, len(indices))
                for position, (value, found) in enumerate(zip(self._parameters, uses, strict=True))
            ]
            return _Passed(tuple(gradients), losses.detach())

    def _forward(self, inputs: Tensor, targets: Tensor) -> tuple[Recording, Tensor, list[Tensor | None]]:
        """What was called, the losses, and the derivatives of their sum in what each call gave, if it depends on it."""
        count = len(inputs)
        with torch.enable_grad():
            with Recorder(self._positions, count) as recorder:
                losses = self._loss(self.model(inputs), targets)
            if losses.shape != (count,) or not losses.requires_grad:
                shown = f"shape {tuple(losses.shape)} for {count} records"
                raise InvalidValue("loss", shown, "one number per record", 'Give the loss reduction="none"')
            edges = [call.edge for call in recorder.recording.calls]
            deltas = torch.autograd.grad(losses, edges, torch.ones_like(losses), allow_unused=True) if edges else ()
        return recorder.recording, losses, list(deltas)

    def _form(self, inputs: Tensor, targets: Tensor) -> dict[int, Gradients]:
        """Gradients in the parameters that no recorded call explains, formed record by record."""
        if not self.formed:
            return {}

        def loss_of(parameters: dict[str, Tensor], given: Tensor, target: Tensor) -> Tensor:
            outputs = functional_call(self.model, parameters, (given.unsqueeze(0),))
            return self._loss(outputs, target.unsqueeze(0)).sum()

        chosen = {self._names[position]: self._parameters[position].detach() for position in self.formed}
        with torch.enable_grad():
            found = vmap(grad(loss_of), in_dims=(None, 0, 0))(chosen, inputs, targets)
        return {position: Dense(found[self._names[position]].detach()) for position in self.formed}

    # Before the run

    def _check_parameters(self) -> None:
        if not self._parameters:
            raise InvalidValue("model", "no parameter that requires gradients", "one or more", "Call requires_grad_()")
        if len(self._data) < 1:
            raise InvalidValue("data", "no records", "one record or more")
        for name, value in zip(self._names, self._parameters, strict=True):
            if not value.is_floating_point():
                raise InvalidValue("model", f"{name}: {value.dtype}", "parameters that are floating-point numbers")
        held = {id(value) for group in self._optimiser.param_groups for value in group["params"]}
        missing = [name for name, value in zip(self._names, self._parameters, strict=True) if id(value) not in held]
        if missing:
            raise InvalidValue("optimiser", f"without {missing[0]}", "all trained parameters", "Freeze it, or add it")

    def _learn_calls(self) -> frozenset[int]:
        """Positions of the parameters to be formed.

        Two numbers of records tell the dimension that counts records from others.
        """
        probed, buffers = self._probed(), {name: value.clone() for name, value in self.model.named_buffers()}
        recordings = [self._record(part) for part in (probed, probed[:-1]) if part.size]
        changed = [
            name for name, value in self.model.named_buffers() if name not in buffers or not value.equal(buffers[name])
        ]
        if changed:
            remedy = "Take a layer that keeps no statistics, such as torch.nn.GroupNorm"
            raise InvalidValue("model", f"the buffer {changed[0]}, which a pass changes", "constant buffers", remedy)
        others = frozenset[int]().union(*(recording.others for recording in recordings))
        unclear = (
            position
            for position in range(len(self._parameters))
            if len({recording.signatures(position) for recording in recordings}) > 1
        )
        return others.union(unclear)

    def _record(self, indices: IntArray) -> Recording:
        return self._forward(*self._rows(self._data, indices))[0]

    def _try_out(self) -> None:
        """Compare gradients of records together with those of each record alone, by PyTorch itself."""
        probed = self._probed()
        together = self._passed(probed)
        weights = np.eye(len(probed))
        for row, index in enumerate(probed):
            inputs, targets = self._rows(self._data, np.array([index]))
            with torch.enable_grad():
                loss = self._loss(self.model(inputs), targets).sum()
                alone = torch.autograd.grad(loss, self._parameters, allow_unused=True)
            expected = [
                torch.zeros_like(value) if found is None else found
                for value, found in zip(self._parameters, alone, strict=True)
            ]
            whole_one = np.concatenate([array_of(value).ravel() for value in expected])
            if not np.isfinite(whole_one).all():
                continue
            room = max(torch.finfo(value.dtype).eps for value in self._parameters) ** 0.5 * np.linalg.norm(whole_one)
            differences = self._split(together.weighted_sum(weights[row]) - whole_one)
            for name, difference in zip(self._names, differences, strict=True):
                if not np.linalg.norm(difference) <= room:
                    remedy = "Does a layer or the loss mix records, or draw random numbers?"
                    raise InvalidValue("model", f"gradients in {name} that change", "gradients of one record", remedy)

    def _probed(self) -> IntArray:
        """A few records, far from each other."""
        return np.unique(np.linspace(0, len(self._data) - 1, _PROBED).astype(np.intp))

    # Shared

    def _rows(self, data: RecordData, indices: IntArray) -> tuple[Tensor, Tensor]:
        device = self._parameters[0].device
        inputs, targets = data.rows(torch.from_numpy(indices))
        return inputs.to(device), targets.to(device)

    def _parts(self, indices: IntArray) -> Iterator[IntArray]:
        return (indices[at : at + self._microbatch] for at in range(0, len(indices), self._microbatch))

    def _split(self, gradient: FloatArray) -> Iterator[FloatArray]:
        """The entries of each parameter, in its shape."""
        ends = np.cumsum([value.numel() for value in self._parameters])[:-1]
        parts = np.split(gradient, ends)
        return (part.reshape(value.shape) for part, value in zip(parts, self._parameters, strict=True))


@final
@frozen(eq=False)
class _Passed:
    """Gradients of some records in each parameter, and their losses."""

    gradients: tuple[Gradients, ...]
    losses: Tensor

    def evaluation(self) -> Evaluation:
        with torch.no_grad():
            squares = torch.stack([gradients.squares() for gradients in self.gradients])
            return Evaluation(array_of(squares.sum(0).sqrt()), array_of(self.losses))

    def weighted_sum(self, weights: FloatArray) -> FloatArray:
        with torch.no_grad():
            given = torch.from_numpy(weights).to(self.losses.device)
            return np.concatenate([array_of(part.weighted_sum(given)).ravel() for part in self.gradients])


def _none(value: Tensor, count: int) -> Gradients:
    """Return the gradient in a parameter that the loss does not depend on."""
    return Dense(value.new_zeros((1, *value.shape)).expand(count, *value.shape))


def _within(state: Mapping[str, FloatArray], prefix: str) -> dict[str, FloatArray]:
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _all(data: RecordData) -> IntArray:
    return np.arange(len(data))
