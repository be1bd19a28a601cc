"""Lightweight coresets for k-means (IS Definition 14, Theorem 15): how far a weighted sample is from one.

Legend: D is the data with mean x̄, S the weighted sample, φ_D(C) = Σ d(x, C) and φ_S(C) = Σ w·d(x, C) the costs of a
set C of centres, d(x, C) the squared distance to the nearest of them. The error of S at C is the least ε of
Definition 14 there:

    |φ_D(C) − φ_S(C)| / (½·φ_D(C) + ½·φ_D({x̄})).

S is an (ε, k)-lightweight coreset where no set of k centres has a larger error than ε. For one centre the largest error
is known in closed form; for more it is searched for: what is found refutes, what is not found proves nothing. All
of it is computed from the records, in floats: private, and an estimate.

**What is proven about sizes.** Bachem, Lucic and Krause draw m records with replacement from q_B(x) = λ/n +
(1 − λ)·d(x, x̄)/φ_D({x̄}) at λ = ½ and state m ≥ c·(k·d·log k − log Δ)/ε² for an absolute constant c that neither they
nor IS give: `stated_size` takes it. The sampler of IS is a Poisson sampler, to which that theorem does not apply as it
stands. For it, with q = min(1, m·q_B), this module has two rules with their constants.

*Sensitivity.* d(x, C) ≤ 2·d(x, x̄) + 2·d(x̄, C), and d(x̄, C) ≤ (2/n)·(φ_D({x̄}) + φ_D(C)) by the same inequality averaged
over D. So g(x) = d(x, C)/(½φ_D(C) + ½φ_D({x̄})) ≤ 4·d(x, x̄)/φ_D({x̄}) + 8/n ≤ K·q_B(x), K = max(8/λ, 4/(1 − λ)): 16 at
λ = ½, least at λ = ⅔ with 12.

*Finitely many sets.* The error at C is |Σ (γ/q − 1)·g| with independent γ of mean q. Each term lies within K/m of 0 and
the variance is at most Σ g²/q ≤ (K/m)·Σ g ≤ 2K/m. By Bernstein's inequality and a union bound, m ≥ 2K(2 +
ε/3)·log(2N/Δ)/ε² records suffice for N sets that do not depend on the sample. The same holds with replacement.

*All sets of k centres in d dimensions.* The sets {g/q > t} are intersections of k sets {‖x − c‖² > t'·q(x)}, each the
positive part of an affine function of (x, ‖x‖²), so at most (s + 1)^(k(d + 2)) of them differ on s records.
Symmetrising, splitting g/q ≤ K/m into these level sets and Massart's lemma give, with V = k(d + 2) and because
s·(log 2 + V·log(s + 1)) has a concave root, E sup ≤ 2K·√(2(log 2 + V·log(m + 1))/m). One record moves the supremum by
K/m at most, with variance q(K/m)², so Freedman's inequality adds t with m·t² = 2K²L + ⅔K·L·t, L = log(1/Δ). The factor
log m in place of log k is the price of the elementary proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats, Number, exact
from ...accounting.provenance import Private
from ...plugins.contract import WeightedSample, as_records

_PRECISION = 96
_LLOYD_STEPS = 5
_LARGEST_SIZE = 2**200


def _column(value: ArrayLike) -> Floats:
    return np.asarray(value, dtype=np.float64)


@final
@frozen(eq=False)
class WeightedPoints:
    """A weighted set of points whose weights may be below 1, as where records are drawn with replacement.

    Attributes:
        records: float64 matrix (m, d).
        weights: float64 vector (m,), finite and at least 0.
    """

    records: Floats = field(converter=as_records)
    weights: Floats = field(converter=_column)

    def __attrs_post_init__(self) -> None:
        if self.weights.shape != self.records.shape[:1]:
            raise InvalidValue("weights", f"shape {self.weights.shape}", f"shape {self.records.shape[:1]}")
        if not np.all((self.weights >= 0) & np.isfinite(self.weights)):
            raise InvalidValue("weights", "a value below 0, NaN or inf", "finite weights ≥ 0")


Weighted: TypeAlias = WeightedSample | WeightedPoints
"""A weighted sample."""


@final
@frozen(eq=False)
class CoresetError:
    """An error of a sample, and where.

    Attributes:
        error: the least ε of Definition 14 at these centres.
        centres: matrix (k, d); entries are infinite where the error is approached as the centre moves away.
    """

    error: float
    centres: Floats


def _cost(points: Floats, weights: Floats, centres: Floats) -> float:
    """Return the weighted k-means cost Σ w·d(x, C)."""
    nearest = np.full(len(points), np.inf)
    for centre in centres:
        np.minimum(nearest, np.sum((points - centre) ** 2, axis=1), out=nearest)
    return float(weights @ nearest)


class _Measure:
    """The error of one sample of one data set at any centres."""

    def __init__(self, records: ArrayLike, sample: Weighted) -> None:
        self.records = as_records(records)
        self.mean = self.records.mean(axis=0, keepdims=True) if len(self.records) else np.zeros((1, 0))
        self.ones = np.ones(len(self.records))
        self.spread = _cost(self.records, self.ones, self.mean)
        self.sample = sample
        if not self.spread:
            raise InvalidValue("records", "none that differ", "at least two different records", "Give some records")
        if sample.records.shape[1] != self.records.shape[1]:
            raise InvalidValue(
                "sample", f"{sample.records.shape[1]} columns", f"{self.records.shape[1]} columns, as the records have"
            )

    def at(self, centres: Floats) -> float:
        full = _cost(self.records, self.ones, centres)
        sampled = _cost(self.sample.records, self.sample.weights, centres)
        return abs(full - sampled) / ((full + self.spread) / 2)

    def one_centre(self) -> CoresetError:
        """The largest error of one centre.

        With the data centred, φ_D({c}) = φ + n‖c‖² and φ_S({c}) = τ − 2c·s + W‖c‖². In z = (c·√(n/2), √φ) the error is
        |zᵀAz|/zᵀz, where A acts on the plane of s and the last axis as [[2(1 − W/n), b], [b, 1 − τ/φ]] with
        b = ‖s‖·√(2/(nφ)), and as 2(1 − W/n), which lies between the two eigenvalues there, on the rest.
        """
        n, points, weights = len(self.records), self.sample.records - self.mean, self.sample.weights
        shift = weights @ points
        length = float(np.linalg.norm(shift))
        side = length * math.sqrt(2 / (n * self.spread))
        corner = 1 - _cost(points, weights, np.zeros_like(self.mean)) / self.spread
        matrix = np.array([[2 * (1 - float(weights.sum()) / n), side], [side, corner]])
        values, vectors = np.linalg.eigh(matrix)
        worst = int(np.argmax(np.abs(values)))
        along, last = vectors[:, worst]
        direction = shift / length if length else np.eye(1, self.mean.shape[1])[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            offset = direction * along / last * math.sqrt(2 * self.spread / n)
        return CoresetError(float(abs(values[worst])), np.where(np.isnan(offset), 0.0, offset) + self.mean)


def coreset_error(records: ArrayLike, sample: Weighted, centres: ArrayLike) -> Private[float]:
    """The least ε for which Definition 14 holds at these centres.

    Args:
        records: matrix (n, d) of finite numbers, not all of them the same.
        sample: the weighted sample, d columns.
        centres: matrix (k, d), k ≥ 1.

    Raises:
        InvalidValue: for other shapes, no centres, or records that are all the same.
    """
    measure = _Measure(records, sample)
    return Private(measure.at(_centres(centres, measure)))


def _centres(centres: ArrayLike, measure: _Measure) -> Floats:
    matrix = as_records(centres)
    if not len(matrix) or matrix.shape[1] != measure.records.shape[1]:
        wanted = f"at least one centre with {measure.records.shape[1]} coordinates"
        raise InvalidValue("centres", f"a matrix of shape {matrix.shape}", wanted)
    return matrix


def is_coreset(
    records: ArrayLike, sample: Weighted, centre_sets: Iterable[ArrayLike], epsilon: Number
) -> Private[bool]:
    """Whether Definition 14 holds with ε at each of these sets of centres; False refutes it, True is no proof."""
    measure, bound = _Measure(records, sample), exact(epsilon, parameter="epsilon")
    return Private(all(measure.at(_centres(centres, measure)) <= bound for centres in centre_sets))


def largest_error_of_one_centre(records: ArrayLike, sample: Weighted) -> Private[CoresetError]:
    """The largest error over all single centres, in closed form: S is an (ε, 1)-coreset where it is at most ε."""
    return Private(_Measure(records, sample).one_centre())


def search_largest_error(
    records: ArrayLike, sample: Weighted, k: int, *, seed: int = 0, restarts: int = 8, steps: int = 60
) -> Private[CoresetError]:
    """The largest error that a search over sets of at most k centres finds: an empirical lower bound of the largest.

    Args:
        records: matrix (n, d) of finite numbers, not all of them the same.
        sample: the weighted sample, d columns.
        k: number of centres, at least 1.
        seed: of the search.
        restarts: how many starts: records, sampled points, and centres fitted to the sample alone take turns.
        steps: random moves per start, each kept where the error grows.
    """
    if k < 1:
        raise InvalidValue("k", k, "a whole number ≥ 1")
    measure, random = _Measure(records, sample), np.random.default_rng(seed)
    best = measure.one_centre()
    for start in range(restarts):
        points = measure.records if start % 3 == 0 or not len(sample.records) else sample.records
        centres = points[random.integers(len(points), size=k)]
        if start % 3 == 2:
            centres = _fitted(sample, centres)
        error, reach = measure.at(centres), math.sqrt(measure.spread / len(measure.records))
        for _ in range(steps):
            moved = centres.copy()
            moved[random.integers(k)] += reach * random.standard_normal(centres.shape[1])
            found = measure.at(moved)
            if found > error:
                centres, error = moved, found
            else:
                reach *= 0.95
        if error > best.error:
            best = CoresetError(error, centres)
    return Private(best)


def _fitted(sample: Weighted, centres: Floats) -> Floats:
    """A few steps of Lloyd's algorithm on the sample: centres that suit it better than the data."""
    for _ in range(_LLOYD_STEPS):
        distances = np.stack([np.sum((sample.records - centre) ** 2, axis=1) for centre in centres])
        nearest = np.argmin(distances, axis=0)
        for j in np.unique(nearest):
            own = nearest == j
            total = float(sample.weights[own].sum())
            if total > 0:
                centres[j] = sample.weights[own] @ sample.records[own] / total
    return centres


def sensitivity(mixing: Number = Fraction(1, 2)) -> Fraction:
    """K with d(x, C)/(½φ_D(C) + ½φ_D({x̄})) ≤ K·q_B(x) for all C and x; proven above.

    Raises:
        InvalidValue: for λ = mixing outside (0, 1): uniform sampling and sampling by distance alone have no bound.
    """
    share = exact(mixing, parameter="mixing")
    if not 0 < share < 1:
        raise InvalidValue("mixing", mixing, "a number with 0 < λ < 1", "Uniform sampling has no bound of this kind")
    return max(8 / share, 4 / (1 - share))


def size_for_sets(count: int, epsilon: Number, failure: Number, *, mixing: Number = Fraction(1, 2)) -> int:
    """An expected size that keeps the error at each of `count` sets of centres at most ε, but for probability Δ.

    The sets must not depend on the sample. Proven above for q = min(1, m·q_B), of the data's own n, mean and spread.

    Args:
        count: number of sets, at least 1.
        epsilon: ε > 0.
        failure: Δ, 0 < Δ < 1.
        mixing: λ, 0 < λ < 1.
    """
    bound, risk, factor = *_accuracy(epsilon, failure), sensitivity(mixing)
    _at_least_one("count", count)
    needed = Enclosure.of(2 * count / risk, precision=_PRECISION).log() * (2 * factor * (2 + bound / 3) / bound**2)
    return math.ceil(needed.upper)


def size_for_all_sets(
    k: int, dimension: int, epsilon: Number, failure: Number, *, mixing: Number = Fraction(1, 2)
) -> int:
    """An expected size for which the sample is an (ε, k)-lightweight coreset, but for probability Δ; proven above.

    It is large, thousands of times k·d/ε²: what holds for every set of centres at once. Arguments as `size_for_sets`.
    """
    bound, risk, factor = *_accuracy(epsilon, failure), sensitivity(mixing)
    _at_least_one("k", k)
    _at_least_one("dimension", dimension)
    doubt = Enclosure.of(1 / risk, precision=_PRECISION).log()
    two = Enclosure.of(2, precision=_PRECISION).log()

    def suffices(m: int) -> bool:
        richness = two + Enclosure.of(m + 1, precision=_PRECISION).log() * (k * (dimension + 2))
        mean = (2 * richness / m).sqrt() * (2 * factor)
        first = doubt * (factor / 3)
        beyond = (first + (first * first + 2 * m * factor**2 * doubt).sqrt()) / m
        return (mean + beyond).less_equal(bound) is Truth.TRUE

    return _least(suffices)


def _least(suffices: Callable[[int], bool]) -> int:
    high = 1
    while not suffices(high):
        high *= 2
        if high > _LARGEST_SIZE:
            raise InvalidValue("epsilon", "a very small number", "one that 2^200 records suffice for")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def stated_size(k: int, dimension: int, epsilon: Number, failure: Number, *, constant: Number) -> int:
    """The size of Theorem 15 as stated: ⌈c·(k·d·log k − log Δ)/ε²⌉, for the constant c that it leaves open."""
    bound, risk = _accuracy(epsilon, failure)
    _at_least_one("k", k)
    _at_least_one("dimension", dimension)
    factor = exact(constant, parameter="constant")
    if factor <= 0:
        raise InvalidValue("constant", constant, "a number > 0")
    logarithms = [Enclosure.of(x, precision=_PRECISION).log() for x in (Fraction(k), 1 / risk)]
    return math.ceil(((logarithms[0] * (k * dimension) + logarithms[1]) * (factor / bound**2)).upper)


def _accuracy(epsilon: Number, failure: Number) -> tuple[Fraction, Fraction]:
    bound, risk = exact(epsilon, parameter="epsilon"), exact(failure, parameter="failure")
    if bound <= 0:
        raise InvalidValue("epsilon", epsilon, "a number > 0")
    if not 0 < risk < 1:
        raise InvalidValue("failure", failure, "a probability with 0 < Δ < 1")
    return bound, risk


def _at_least_one(parameter: str, value: int) -> None:
    if value < 1:
        raise InvalidValue(parameter, value, "a whole number ≥ 1")
