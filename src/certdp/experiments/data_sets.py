"""Data sets as the experiments of IS Section 5 take them: centred, without the longest records, with n, d, r and x̃.

The radius r and the mean x̃ are read from the records. The paper treats them as public constants; here they are private
until an experiment, whose results are for the data's owner alone, says that it does the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Self, final

import numpy as np
from attrs import field, frozen

from ..accounting.bulk import arrays as bulk
from ..accounting.bulk.clusters import squared_distances
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.norms import Norm
from ..accounting.provenance import Private
from ..samplers.coreset import largest_size

KEPT_BELOW = 0.975
"""The quantile of the ℓ2 norms below which records are kept (IS Section 5)."""

_SHRUNK = 10
_CLUSTERS = 25
_SPREAD = 0.5  # length of what is added to the direction of a cluster, relative to that direction


@final
@frozen(eq=False)
class DataSet:
    """Records of an experiment, with what the experiment takes for public.

    Attributes:
        name: of the data.
        records: float64 matrix (n, d).
        radius: r, the largest ℓ2 norm, rounded up.
        mean_squared_norm: x̃, the mean of the squared ℓ2 norms.
    """

    name: str
    records: Floats = field(repr=False)
    radius: float
    mean_squared_norm: float

    @classmethod
    def of(cls, name: str, records: Floats) -> Self:
        """The records with their radius and mean squared norm.

        Raises:
            InvalidValue: for no records, and for records that are all 0.
        """
        rows, columns = records.shape
        radius = float(bulk.norms(records, Norm.L2).max(initial=0.0))
        if not radius > 0:
            raise InvalidValue("data", f"{rows} records, all of them 0", "records that differ from their mean")
        squares = squared_distances(records, np.zeros((1, columns)), np.zeros(rows, dtype=np.int64))
        return cls(name, records, radius, math.fsum(squares) / rows)

    @property
    def largest_coreset(self) -> int:
        """The largest whole expected size of a coreset sample with λ = ½."""
        exact = Fraction(len(self.records)), Fraction(self.mean_squared_norm), Fraction(self.radius)
        return math.floor(largest_size(*exact, Fraction(1, 2)))

    @property
    def figures(self) -> dict[str, float]:
        """n, d, r and x̃: a row of IS Table 1."""
        rows, columns = self.records.shape
        return {"n": rows, "d": columns, "r": self.radius, "mean_squared_norm": self.mean_squared_norm}


def preprocess(records: Floats, name: str) -> Private[DataSet]:
    """Centre, keep the records whose ℓ2 norm is strictly below the 97.5 percentile, centre again (IS Section 5).

    Every step reads all records, so the result and its figures are private.

    Args:
        records: float64 matrix (n, d) of finite numbers.
        name: of the data.

    Raises:
        InvalidValue: where no record is left, or only records equal to each other.
    """
    centred = records - records.mean(axis=0)
    norms = bulk.norms(centred, Norm.L2)
    kept = centred[norms < np.quantile(norms, KEPT_BELOW)]
    if not len(kept):
        raise InvalidValue("data", "records of one and the same norm", "records of different norms")
    return Private(DataSet.of(name, np.ascontiguousarray(kept - kept.mean(axis=0))))


@final
@frozen
class Published:
    """A row of IS Table 1.

    Attributes:
        name: of the data.
        n: number of records after preprocessing.
        d: number of columns.
        radius: r.
        mean_squared_norm: x̃.
    """

    name: str
    n: int
    d: int
    radius: float
    mean_squared_norm: float

    def stand_in(self, seed: int) -> DataSet:
        """Synthetic records with this d, r and x̃, nearly, and a tenth of the n.

        Directions lie around those of 25 clusters. The j-th of N lengths is r·(j/N)^γ, so that the largest is r and the
        mean square x̃ but for O(1/N); every record comes with its negative, so that the mean is 0.
        """
        half = self.n // _SHRUNK // 2
        generator = np.random.Generator(np.random.Philox(seed))
        centres = _directions(generator, _CLUSTERS, self.d)
        nearby = _directions(generator, half, self.d) * _SPREAD
        directions = centres[generator.integers(_CLUSTERS, size=half)] + nearby
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        growth = (self.radius**2 / self.mean_squared_norm - 1) / 2
        lengths = self.radius * (np.arange(1, half + 1) / half) ** growth
        records = directions * lengths[:, np.newaxis]
        return DataSet.of(f"{self.name} stand-in", np.concatenate([records, -records]))


def _directions(generator: np.random.Generator, count: int, dimension: int) -> Floats:
    drawn = generator.standard_normal((count, dimension))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


MAIN = (
    Published("KDD-Protein", 142_107, 74, 8020.65, 7031359.55),
    Published("RNA", 476_350, 8, 420.67, 24902.47),
    Published("Song", 502_461, 90, 7507.16, 6769375.49),
    Published("Covertype", 566_486, 54, 4489.17, 3839798.28),
)
"""The data sets of the main part of the paper."""

APPENDIX = (
    Published("Ijcnn1", 48_740, 22, 1.51, 1.26),
    Published("Pose", 34_936, 48, 2250.64, 1249739.50),
    Published("MiniBooNE", 126_812, 50, 2213.05, 295947.13),
    Published("FMA", 103_909, 518, 6020.23, 5838871.88),
)
"""The data sets of its appendix."""


def stand_ins(rows: Iterable[Published], seed: int) -> tuple[DataSet, ...]:
    """Synthetic data sets in place of published ones."""
    return tuple(row.stand_in(seed) for row in rows)
