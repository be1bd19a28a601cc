"""k-means by Lloyd's algorithm with noisy counts and noisy sums (IS Section 4, Algorithm 2 and Proposition 13)."""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.bulk import arrays as bulk
from ..accounting.bulk.clusters import (
    cluster_totals,
    lattice_spacing,
    nearest_centres,
    refuse_beyond_lattice,
    squared_distances,
)
from ..accounting.derivation import Evidence
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Floats, Number
from ..accounting.expressions import W, norm
from ..accounting.norms import Norm
from ..accounting.provenance import Declared, Private, Public, declared, declared_number
from ..accounting.sampling.clipping import Outside, confine
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    named,
    norm_order,
    positive,
)
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given, require_one
from ..plugins.contract.parameters import member
from .lp_sum import lp_noise

_MOST = 2**20
_SPREAD = Fraction(9, 40)  # ρ = 0.225 of Su, Cao, Li, Bertino, Jin 2016
_PRECISION = 96
_ONE = Fraction(1)
_SIDE_BY_SIDE = 1 << 20  # entries of the records that runs hold at a time


class Split(StrEnum):
    """How the noise is split between counts and sums where the scale of the sums alone is stated.

    Both rules rest on the share ∛(4dρ²) with ρ = 0.225, d being the dimension. The value is the name in certificates.
    """

    DERIVED = "derived"
    """β_count = β_sum/(r·∛(4dρ²)): the loss of a count is to that of one coordinate of a sum as ∛(4dρ²) to 1, where
    records reach up to the radius r."""
    PUBLISHED = "published"
    """β_count = β_sum·∛(4dρ²): as IS Section 5 prints it, which reproduces the paper's runs."""

    @classmethod
    def named(cls, name: str) -> Split:
        """The split of this name, or the split itself.

        Raises:
            InvalidValue: for an unknown name. InvalidType: for other types than text.
        """
        return member(cls, name, "split")

    def count_scale(self, sum_scale: Fraction, dimension: int, radius: Fraction) -> Fraction:
        """β_count: a rational number that is above the rule's by less than 2^-80, relatively.

        Args:
            sum_scale: β_sum, above 0.
            dimension: d ≥ 1.
            radius: r, above 0.
        """
        share = Enclosure.of(4 * dimension * _SPREAD**2, precision=_PRECISION).power(Fraction(1, 3))
        if self is Split.DERIVED:
            return (Enclosure.of(sum_scale, precision=_PRECISION) / (share * radius)).upper
        return (share * sum_scale).upper


def _whole(value: Declared[Number]) -> Real:
    return declared_number(
        value,
        lambda number: number.denominator == 1 and 1 <= number <= _MOST,
        f"a whole number from 1 to {_MOST}",
        parameter="number",
    )


def _whole_if_given(value: Declared[Number] | Choice) -> Choice:
    match value:
        case Public(None):
            return NOT_GIVEN
    return _whole(value)  # type: ignore[arg-type]  # a number from here on


def _split_if_given(value: Declared[str | None]) -> Declared[Split | None]:
    return declared(value, lambda name: None if name is None else Split.named(name), parameter="split")


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Lloyd:
    """Centres of clusters, from iterations that each release one noisy weighted count and sum per cluster.

    Args:
        clusters: k, a whole number from 1 to 2^20.
        scale_sum: β_sum, scale of the noise of each sum, in units of the data; above 0.
        scale_count: β_count, scale of the noise of each count, in records; above 0. Or else state `split`.
        split: which rule gives β_count from β_sum: derived or published; it needs `dimension`.
        radius: r, radius of the public ball in which the centres live; above 0.
        norm: p, the norm of the noise of the sums and of that ball: a number ≥ 1 or inf; by default 2.
        iterations: T, a whole number from 1 to 2^20; by default 10.
        dimension: d, number of columns of the data; where it is stated, other samples are refused.

    Guarantees:
        PDP profile ε(W, x) = T·W·(1/β_count + ‖x‖_p/β_sum) under adding or removing one record (IS Proposition 13).
        Given the centres, a record belongs to one cluster, by a rule that looks at that record and the centres alone;
        so it moves one count by at most W and one sum by a vector of norm at most W·‖x‖_p, and the densities of a
        Laplace count and of a sum with noise ∝ exp(−‖ζ‖_p/β_sum) change by at most the factors e^(W/β_count) and
        e^(W·‖x‖_p/β_sum). The centres of the next iteration are computed from these releases and fresh coins, hence
        adaptive composition multiplies the loss by T. Of arithmetic nothing is assumed: a record's cluster is a
        function of that record and the centres, bit for bit; what it adds is cut toward zero to a public grid; and
        noisy counts and sums are the real-valued ones, correctly rounded to it.

    Raises:
        InvalidValue: unless exactly one of scale_count and split is given, and for a split without a dimension.
    """

    about: ClassVar[About] = About(
        name="lloyd",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Algorithm 2 and Proposition 13",
    )

    clusters: Real = field(converter=_whole, metadata={"help": "number of clusters"})
    scale_sum: Real = field(converter=positive, metadata={"help": "scale of the noise of sums, in units of the data"})
    scale_count: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "scale of the noise of counts, in records; or else split"},
    )
    split: Declared[Split | None] = field(
        default=Public(None),
        converter=_split_if_given,
        metadata={"help": "rule for the scale of counts: derived or published; needs the dimension"},
    )
    radius: Real = field(converter=positive, metadata={"help": "radius of the public ball in which centres live"})
    norm: Declared[Norm] = field(
        default=Public(Norm.L2), converter=norm_order, metadata={"help": "which norm: a number ≥ 1, or inf"}
    )
    iterations: Real = field(default=Public(Fraction(10)), converter=_whole, metadata={"help": "number of iterations"})
    dimension: Choice = field(
        default=NOT_GIVEN, converter=_whole_if_given, metadata={"help": "number of columns of the data"}
    )

    def __attrs_post_init__(self) -> None:
        require_one(scale_count=self.scale_count, split=self.split)
        if self.split.value is not None and self.dimension.value is None:
            raise InvalidValue("dimension", "nothing", "the number of columns of the data", "The split depends on it")

    @property
    def count_scale(self) -> Fraction:
        """β_count, as stated or as the split gives it."""
        if self.scale_count.value is not None:
            return self.scale_count.value
        assert self.split.value is not None
        assert self.dimension.value is not None
        return self.split.value.count_scale(self.scale_sum.value, int(self.dimension.value), self.radius.value)

    @property
    def loss(self) -> PureLoss:
        """The loss of all iterations: ε(W, x) = T·W·(1/β_count + ‖x‖_p/β_sum)."""
        each = 1 / self.count_scale + norm(self.norm.value) / self.scale_sum.value
        return PureLoss(self.iterations.value * W * each)

    def release(self, sample: WeightedSample, coins: Coins, *, threads: int = 1) -> Release:
        """The centres after the last iteration: float64 (k, d), all within the public ball.

        Starting centres are uniform in the ball. In each iteration a centre whose noisy count is below
        max(1, β_count) is drawn afresh from the ball; every other one becomes its noisy sum over its noisy count,
        scaled into the ball where it lies outside. All that follows from the noisy counts and sums alone.

        Args:
            sample: records and weights. Products w·x enter the sums rounded toward zero to a multiple of a public
                spacing below 2^-27·β_sum or 2^-37·r, the larger of the two.
            coins: the randomness.
            threads: threads that share the records; the result is the same for any number.

        Raises:
            InvalidValue: for a sample of another dimension, for weighted records beyond 2^22·β_sum and 2^12·r, and for
                scales below about 2^-38 of what a record adds: r, and 1 to a count.
        """
        return np.asarray(self._releases(sample, 1, coins, threads)[0])

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent runs on one sample, side by side: float64 (count, k, d); raises as `release`."""
        entries = len(sample) * sample.records.shape[1] * int(self.clusters.value)
        most = max(1, _SIDE_BY_SIDE // max(1, entries))
        starts = range(0, count, most)
        return np.concatenate([self._releases(sample, min(most, count - start), coins, 1) for start in starts])

    @property
    def grids(self) -> dict[str, Fraction]:
        """The units of the public grids of noisy counts and sums."""
        return {
            "counts": Fraction(lattice_spacing(self.count_scale, _ONE)),
            "sums": Fraction(lattice_spacing(self.scale_sum.value, self.radius.value)),
        }

    def require(self, sample: WeightedSample) -> None:
        """Refuse the samples that `release` would refuse."""
        self._sums(sample, 1)

    def _sums(self, sample: WeightedSample, runs: int) -> tuple[_Summed, _Summed]:
        """What is counted and summed per cluster in so many runs side by side."""
        columns = sample.records.shape[1]
        if self.dimension.value not in (None, columns):
            raise InvalidValue("dimension", int(self.dimension.value or 0), f"{columns}, as the records have")
        weights = np.tile(sample.weights, runs)
        counted = _Summed(np.ones((len(weights), 1)), weights, self.count_scale, _ONE)
        records = sample.records if runs == 1 else np.tile(sample.records, (runs, 1))
        return counted, _Summed(records, weights, self.scale_sum.value, self.radius.value)

    def _releases(self, sample: WeightedSample, runs: int, coins: Coins, threads: int) -> Release:
        """The centres of several runs, each with its own copy of the records and its own clusters."""
        columns = sample.records.shape[1]
        clusters, ball = int(self.clusters.value), NormBall(norm=self.norm.value, radius=self.radius)
        every = runs * clusters
        counted, summed = self._sums(sample, runs)
        least = max(1.0, float(self.count_scale))
        centres = random_centres(ball, every, columns, coins)
        for _ in range(int(self.iterations.value)):
            labels = _nearest(summed.records[: len(sample)], centres.reshape(runs, clusters, columns), threads)
            of_counts = coins.laplace_cells(counted.scale, every)
            counts = counted.per_cluster(labels, of_counts[:, np.newaxis], threads)[:, 0]
            of_sums = coins.lp_cells(self.norm.value, summed.scale, every, columns)
            sums = summed.per_cluster(labels, of_sums, threads)
            kept = counts >= least
            centres = np.empty((every, columns))
            centres[~kept] = random_centres(ball, every - int(kept.sum()), columns, coins)
            centres[kept] = confine(sums[kept] / counts[kept, np.newaxis], ball, Outside.CLIP)[0]
        return centres.reshape(runs, clusters, columns)


def _nearest(records: Floats, centres: Floats, threads: int) -> NDArray[np.int64]:
    """Per run and record the nearest of the run's centres (runs, k, d), numbered through all runs."""
    runs, clusters, _ = centres.shape
    if runs == 1:
        return nearest_centres(records, centres[0], threads=threads)
    distances = np.zeros((runs, len(records), clusters))
    for column in range(records.shape[1]):  # one rounding after the other, whatever the shape
        distances += (records[np.newaxis, :, np.newaxis, column] - centres[:, np.newaxis, :, column]) ** 2
    return np.asarray(np.argmin(distances, axis=-1) + clusters * np.arange(runs)[:, np.newaxis]).reshape(-1)


class _Summed:
    """What is summed per cluster: weighted rows on a lattice made for the noise that is added.

    Attributes:
        scale: of the noise, in units of the lattice; at least 1.
    """

    def __init__(self, records: Floats, weights: Floats, scale: Fraction, extent: Fraction) -> None:
        self.records = np.ascontiguousarray(records)
        self._weights = np.ascontiguousarray(weights)
        self._spacing = lattice_spacing(scale, extent)
        self.scale = scale / Fraction(self._spacing)
        if self.scale < 1:
            least = f"a scale from {self._spacing:.4g}, 2^-38 of what a record of weight 1 adds"
            raise InvalidValue("scale", float(scale), least, "Use a larger scale")
        refuse_beyond_lattice(self.records, self._weights, self._spacing)

    def per_cluster(self, labels: NDArray[np.int64], noise: NDArray[np.int64], threads: int) -> Floats:
        """The sums with noise in units of the lattice, one row for each cluster."""
        return cluster_totals(
            self.records, self._weights, labels, len(noise), self._spacing, noise=noise, threads=threads
        )


def random_centres(ball: NormBall, clusters: int, dimension: int, coins: Coins) -> Floats:
    """Independent points, uniform in a public ball: float64 (clusters, dimension).

    A direction from the cone measure times r·U^(1/d) is uniform in the ℓ_p ball (Schechtman, Zinn 1990).
    """
    if not clusters or not dimension:
        return np.empty((clusters, dimension))
    directions = lp_noise(ball.norm, _ONE, (clusters, dimension), coins)
    lengths = bulk.norms(directions, ball.norm)
    shares = coins.uniform(clusters) ** (1 / dimension)
    points = directions * (shares / lengths)[:, np.newaxis] * float(ball.radius.value)
    return confine(points, ball, Outside.CLIP)[0]


def weighted_cost(sample: WeightedSample, centres: Floats, *, threads: int = 1) -> Private[float]:
    """φ = Σ w·min_c ‖x − c‖²: the k-means cost of a sample, for the data's owner.

    Args:
        sample: records and weights.
        centres: float64 matrix (k, d), k ≥ 1.
        threads: threads that share the records.
    """
    labels = nearest_centres(sample.records, centres, threads=threads)
    distances = squared_distances(sample.records, centres, labels, threads=threads)
    return Private(math.fsum(sample.weights * distances))
