"""The contract of a mechanism."""

from __future__ import annotations

import math
from typing import ClassVar, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ...accounting.bulk.exact_floats import exact_floats
from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats, Number
from ...accounting.private import InvalidData
from ...accounting.sampling.losses import Loss
from .about import About
from .coins import Coins

_LARGEST_SUM = 2.0**1022  # rounding of a sum does not double it


def as_records(value: ArrayLike) -> Floats:
    """`value` as a float64 matrix of finite numbers, one record per row.

    Args:
        value: an array, a data frame, or what gives Arrow streams (a relation of DuckDB).

    Raises:
        InvalidType: for anything but an array of real numbers.
        InvalidValue: for another shape, NaN and inf, and numbers that binary64 would round.
    """
    records = exact_floats("records", _in_memory(value), flags=True)
    if records.ndim != 2:
        raise not_a_matrix("records", records.shape)
    if not np.all(np.isfinite(records)):
        row = int(np.flatnonzero(~np.isfinite(records).all(axis=1))[0])
        raise InvalidValue("records", f"NaN or inf in row {row}", "finite numbers", "Remove or impute such rows")
    return records


def _in_memory(value: ArrayLike) -> ArrayLike:
    """What NumPy reads: an Arrow stream that it does not is read whole."""
    if hasattr(value, "__array__") or not hasattr(value, "__arrow_c_stream__"):
        return value
    try:
        import pyarrow
    except ImportError:
        remedy = "pip install 'certdp[parquet]', or give an array"
        raise InvalidValue("records", "an Arrow stream", "an installation with pyarrow", remedy) from None
    table: ArrayLike = pyarrow.table(value)
    return table


def not_a_matrix(parameter: str, shape: tuple[int, ...]) -> InvalidValue:
    """The error for an array that is no matrix of records, with how to make it one."""
    remedy = "Write array.reshape(len(array), -1): every record as one row"
    if len(shape) < 2:
        remedy = "Write array.reshape(-1, 1) where each number is a record, array.reshape(1, -1) where all are one"
    return InvalidValue(parameter, f"an array of shape {shape}", "a matrix: one record per row", remedy)


def _sealed_records(value: ArrayLike) -> Floats:
    return _sealed(as_records(value))


def _sealed_column(value: ArrayLike) -> Floats:
    return _sealed(np.asarray(value, dtype=np.float64))


def _sealed(values: Floats) -> Floats:
    """A view that a mechanism cannot write through: the array is the caller's."""
    view = values.view()
    view.flags.writeable = False
    return view


@final
@frozen(eq=False)
class WeightedSample:
    """A weighted data set, as a sampler hands it to a mechanism, to be read and not written to.

    Attributes:
        records: float64 matrix (m, d), one record per row.
        weights: float64 vector (m,), each at least 1 and finite.
    """

    records: Floats = field(converter=_sealed_records)
    weights: Floats = field(converter=_sealed_column)

    def __attrs_post_init__(self) -> None:
        if self.weights.shape != self.records.shape[:1]:
            raise InvalidValue(
                "weights",
                f"shape {self.weights.shape}",
                f"one weight per record: shape {self.records.shape[:1]}",
            )
        if not np.all((self.weights >= 1) & np.isfinite(self.weights)):
            raise InvalidValue("weights", "a value below 1, NaN or inf", "finite weights ≥ 1")

    def __len__(self) -> int:
        return len(self.weights)

    def weighted_sum(self) -> Floats:
        """Σ w·x per column: each product rounded once, by itself, and the sum rounded once.

        One record therefore moves the exact sum by its own rounded product alone, whatever the others are.

        Raises:
            InvalidValue: where a sum leaves the range of binary64; a message to the data's curator, not an output.
        """
        with np.errstate(over="ignore"):  # an overflow is refused below
            products = self.weights[:, np.newaxis] * self.records
        return np.asarray([_sum(column) for column in products.T], dtype=np.float64)

    def require_summable(self) -> None:
        """Raise unless `weighted_sum` stays in range for every part of the sample.

        Raises:
            InvalidData: where Σ w·|x| of a column is not far below the end of binary64.
        """
        with np.errstate(over="ignore"):
            for column in self.records.T:
                _require_small(np.sum(self.weights * np.abs(column)))

    def require_countable(self) -> None:
        """Raise unless `total_weight` stays in range for every part of the sample.

        Raises:
            InvalidData: where Σ w is not far below the end of binary64.
        """
        with np.errstate(over="ignore"):
            _require_small(np.sum(self.weights))

    def total_weight(self) -> float:
        """Σ w, rounded once.

        Raises:
            InvalidValue: where it leaves the range of binary64.
        """
        return _sum(self.weights)


def _sum(values: Floats) -> float:
    try:
        total = math.fsum(values.tolist())
    except OverflowError:
        total = math.inf
    if not math.isfinite(total):
        raise _beyond_binary64()
    return total


def _require_small(total: np.float64) -> None:
    if not total < _LARGEST_SUM:
        raise _beyond_binary64()


def _beyond_binary64() -> InvalidData:
    return InvalidData(
        "records",
        "a weighted sum beyond binary64",
        "sums in its range",
        "Divide the data by a public bound, or set a floor",
    )


Release: TypeAlias = NDArray[np.float64]


@runtime_checkable
class Mechanism(Protocol):
    """What a mechanism declares: a frozen class whose fields are declared parameters.

    A mechanism whose loss supposes that every record is drawn with the same probability also has the property
    `needs_constant_rate`, which is then True; a mechanism without that property needs nothing of the kind. One that
    adds noise to the sum of the weighted records has `sums_records`, which is then True: lower ends for replaced and
    zeroed-out records and for users with several rest on it, as opposite records move the release opposite ways.

    Attributes:
        about: identity and standing.
    """

    about: ClassVar[About]

    @property
    def loss(self) -> Loss:
        """What one record costs, as an expression in its weight W and its norms."""
        ...

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """Make one release from a weighted sample."""
        ...


@runtime_checkable
class KnowsAdmissible(Protocol):
    """A mechanism that tells beforehand which samples it does not release from.

    A release is paid before it is drawn, so what would be refused of some sample of the data is refused first.
    """

    def require(self, sample: WeightedSample) -> None:
        """Raise what `release` would raise for this sample or for any part of it; nothing is drawn."""
        ...


@runtime_checkable
class StatesNoiseRelatively(Protocol):
    """A mechanism whose noise may be stated relative to what a record of one run can cause."""

    def scaled(self, radius: Number, weight: Number) -> Mechanism:
        """The mechanism with the noise that this means for records within a radius that enter with a weight."""
        ...
