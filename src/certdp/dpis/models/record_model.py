"""A network with parameters, data and an optimiser, as a training run takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from ...accounting.bulk.record_rows import Integers
from ...accounting.derivation import INDEPENDENT_CONTRIBUTIONS, Assumption
from ...accounting.errors import InvalidValue
from ...plugins.contract import Coins
from ...plugins.contract.coins import release_coins
from ..gradients import RECORDS_APART, Evaluation, Identity, Weighting, described
from ..optimisers import OptimiserOptions
from ..sampling import FloatArray, IntArray, norm_error
from .labelled import LabelledData
from .networks import Factors, Network
from .trained_network import TrainedNetwork, blocks


@final
class RecordModel:
    """A NumPy model: `RecordGradients` of a network.

    Args:
        network: its shape, public.
        data: what it is trained on, private.
        optimiser: options of the optimiser, public.
        coins: for the parameters to begin with; the operating system's unless given.

    Attributes:
        network: as given.
        parameters: (dimension,); once training has begun, a function of what was released.

    Raises:
        InvalidValue: for data of another shape than the network's; a message to the data's curator.
    """

    def __init__(
        self, network: Network, data: LabelledData, optimiser: OptimiserOptions, *, coins: Coins | None = None
    ) -> None:
        if data.columns != network.features:
            raise InvalidValue("data", f"{data.columns} columns", f"{network.features}, as the network takes")
        data.require_classes(network.classes)
        self.network = network
        self.parameters = network.start(release_coins(coins))
        self._data = data
        self._options = optimiser
        self._optimiser = optimiser.optimiser()

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self._data)

    @property
    def dimension(self) -> int:
        """The number of parameters."""
        return self.network.dimension

    @property
    def error(self) -> Fraction:
        """η of sums of `dimension` squares in binary64, which outer products do not exceed."""
        return norm_error(self.dimension)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What a guarantee assumes of the network: nothing where it promises to take records one by one."""
        return () if self.network.record_by_record else (RECORDS_APART, INDEPENDENT_CONTRIBUTIONS)

    def released(self) -> dict[str, FloatArray]:
        """A copy of the parameters, under the name `parameters`."""
        return {"parameters": self.parameters.copy()}

    def identity(self) -> Identity:
        """The network, the optimiser's options, and a digest of the data."""
        return Identity(model=described(self.network), optimiser=described(self._options), data=self._data.digest)

    def evaluate(self, indices: IntArray) -> Evaluation:
        """Norms and losses, by one pass forward and back."""
        return Evaluation.joined([self._evaluated(part)[1] for part in self._parts(indices)])

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        """Σ w·g in whole units, by one pass forward and back; norms and sums come from the same factors."""
        total, parts = np.zeros(self.dimension, dtype=np.int64), []
        for part in self._parts(indices):
            factors, found = self._evaluated(part)
            total += factors.weighted_sum(weighting(found.norms), unit)
            parts.append(found)
        return total, Evaluation.joined(parts)

    def step(self, gradient: FloatArray) -> None:
        """Let the optimiser change the parameters."""
        self.parameters = self.parameters + self._optimiser.change(gradient)

    def state(self) -> dict[str, FloatArray]:
        """The parameters and what the optimiser remembers."""
        remembered = {f"optimiser.{name}": array for name, array in self._optimiser.state().items()}
        return {**self.released(), **remembered}

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        """Go back to what `state` gave.

        Raises:
            InvalidValue: for parameters of another shape.
        """
        found = state.get("parameters")
        if found is None or found.shape != (self.dimension,):
            shape = "none" if found is None else f"shape {found.shape}"
            raise InvalidValue(
                "state", f"parameters: {shape}", f"{self.dimension} parameters", "Is it another model's?"
            )
        prefix = "optimiser."
        self._optimiser.restore(
            {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
        )
        self.parameters = found.copy()

    @property
    def model(self) -> TrainedNetwork:
        """The network with the parameters as they are now, without the data."""
        return TrainedNetwork(network=self.network, parameters=self.parameters.copy())

    def predict(self, features: ArrayLike) -> IntArray:
        """The class with the largest score, for each row as the network takes it; -1 where a score is NaN."""
        return self.model.predict(features)

    def accuracy(self, data: LabelledData) -> float:
        """The share of records whose class is predicted. As private as those records."""
        return self.model.accuracy(data)

    def _evaluated(self, indices: IntArray) -> tuple[Factors, Evaluation]:
        with np.errstate(all="ignore"):  # NaN and infinities are answers here: such records are dropped
            factors = self.network.factors(self.parameters, *self._data.rows(indices))
            return factors, Evaluation(factors.norms, factors.losses)

    def _parts(self, indices: IntArray) -> Iterator[IntArray]:
        """The indices, as many at a time as memory is meant to hold."""
        return (indices[part] for part in blocks(self.network, len(indices)))
