"""How a run's losses are shared out among its releases, for accountants that know an (ε, δ) of each alone.

Legend: of release l there are n_l equal ones. At a scale c each of them is (ε_l, δ_l)-DP with ε_l = c·s_l, where s_l is
its size, and δ_l = δ(ε_l) by its own pair; or with its pure loss and δ_l = 0, where that is no larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import TypeAlias, final

from attrs import frozen

from ..conversions import smallest_epsilon
from ..enclosures import Enclosure, Truth
from ..errors import InvalidValue
from ..pairs import Pair
from .worst_pairs import delta_at, largest, pure, zero_concentrated

Scale: TypeAlias = Fraction | None
"""c ≥ 0; None for pure losses alone."""

_MOST_KINDS = 64
_SCALE_BITS = 30
_NUDGES = 40, 20, 8
_SCAN, _REFINEMENTS = 8, 10
_REACH = 16
_GOLDEN = (math.sqrt(5) - 1) / 2


@final
@frozen
class Share:
    """What each of several equal releases is proven to cost.

    Attributes:
        epsilon: its ε; the upper end counts.
        delta: its δ.
        times: how many there are.
    """

    epsilon: Enclosure
    delta: Enclosure
    times: int


@frozen(slots=False)
class Split:
    """The releases of one pair, with the laws from which each has an (ε, δ).

    Attributes:
        releases: pair and number of each kind.
    """

    releases: tuple[tuple[Pair, int], ...]

    @classmethod
    def of(cls, pair: Pair) -> Split | None:
        """The split of a run; None for a release with neither a pure loss nor a law δ(ε), and for very many kinds."""
        split = cls(pair.releases)
        if len(split.releases) > _MOST_KINDS and not split.has_pure:
            return None
        return split if all(one.delta or one.pure for one, _ in split.releases) else None

    @cached_property
    def pure_losses(self) -> tuple[Enclosure | None, ...]:
        """The pure loss of each kind, where it has one."""
        return tuple(pure(one) for one, _ in self.releases)

    @property
    def has_pure(self) -> bool:
        """Whether every release has a pure loss."""
        return all(loss is not None for loss in self.pure_losses)

    @property
    def scalable(self) -> bool:
        """Whether other scales than None are worth a try."""
        return len(self.releases) <= _MOST_KINDS and any(one.delta is not None for one, _ in self.releases)

    @cached_property
    def sizes(self) -> tuple[Fraction, ...]:
        """What ε is shared out by: pure losses, or roots of ρ, where all have one; any sizes prove a bound."""
        if self.has_pure:
            measured = [loss.upper for loss in self.pure_losses if loss is not None]
        else:
            costs = [zero_concentrated(one) for one, _ in self.releases]
            known = [rho.sqrt().upper for rho in costs if rho is not None]
            measured = known if len(known) == len(costs) else []
        return tuple(measured) if any(measured) else (Fraction(1),) * len(self.releases)

    @cached_property
    def size(self) -> Fraction:
        """The total size of the releases, Σ n_l·s_l."""
        return sum((size * times for size, (_, times) in zip(self.sizes, self.releases, strict=True)), Fraction(0))

    @property
    def count(self) -> int:
        """The number of releases, Σ n_l."""
        return sum(times for _, times in self.releases)

    def at(self, scale: Scale) -> tuple[Share, ...]:
        """The shares at a scale; None only where every release has a pure loss."""
        shares = []
        for (one, times), size, loss in zip(self.releases, self.sizes, self.pure_losses, strict=True):
            if loss is not None and (scale is None or one.delta is None or loss.upper <= scale * size):
                shares.append(Share(loss, Enclosure.of(0, precision=loss.precision), times))
                continue
            assert scale is not None
            epsilon = Enclosure.of(scale * size)
            shares.append(Share(epsilon, _delta_at(one, epsilon), times))
        return tuple(shares)


@lru_cache(maxsize=64)
def smallest_scale(split: Split, delta: Enclosure) -> Scale:
    """About the smallest c at which Σ n_l·δ_l ≤ δ is proven; None where it is not proven to hold anywhere."""
    if not split.scalable:
        return None
    try:
        near = _near_smallest_scale(split, delta)
    except InvalidValue:
        return None
    scales = (near * (1 + Fraction(1, 2**bits)) for bits in _NUDGES)  # a law may be looser than its inverse
    return next((c for c in (near, *scales) if total_delta(split.at(c)).less_equal(delta) is Truth.TRUE), None)


def _near_smallest_scale(split: Split, delta: Enclosure) -> Fraction:
    if len(split.releases) == 1:
        ((one, times),) = split.releases
        return largest(_inverted(one, delta / times)).upper / split.sizes[0]
    return smallest_epsilon(lambda scale: total_delta(split.at(scale.lower)), delta, precision=_SCALE_BITS).upper


def _inverted(pair: Pair, delta: Enclosure) -> Iterator[Enclosure]:
    """The smallest ε of a pair that has a law δ(ε), in each direction."""
    for direction in pair.directions:
        found = pair.smallest_epsilon(delta, direction)
        assert found is not None
        yield found


def total_epsilon(shares: Iterable[Share]) -> Enclosure:
    """Return the total ε of the shares, Σ n_l·ε_l."""
    return sum_of(share.epsilon * share.times for share in shares)


def total_delta(shares: Iterable[Share]) -> Enclosure:
    """Return the total δ of the shares, Σ n_l·δ_l, at most 1."""
    return sum_of(share.delta * share.times for share in shares).minimum(1)


def spared(shares: Sequence[Share]) -> Enclosure | None:
    """log Π(1 − δ_l)^{n_l}; None where some δ_l may be 1."""
    if any(share.delta.less(1) is not Truth.TRUE for share in shares):
        return None
    return sum_of((-share.delta).log1p() * share.times for share in shares)


def left_over(shares: Sequence[Share], delta: Enclosure) -> Enclosure | None:
    """The δ' with 1 − (1 − δ')·Π(1 − δ_l)^{n_l} = δ < 1; None where the δ_l may use up all of δ."""
    used = spared(shares)
    if used is None:
        return None
    rest = -((-delta).log1p() - used).expm1()
    return rest if rest.lower >= 0 else None


def joined(shares: Sequence[Share], delta: Enclosure) -> Enclosure:
    """Enclose the joint δ of all shares and a slack δ: 1 − (1 − δ)·Π(1 − δ_l)^{n_l}."""
    used = spared(shares)
    if used is None or delta.less(1) is not Truth.TRUE:
        return Enclosure.of(1, precision=delta.precision)
    return -((-delta).log1p() + used).expm1()


Composition: TypeAlias = Callable[[Sequence[Share], Enclosure], Enclosure]
"""The ε' at a δ', or the δ' at an ε', of releases with the ε_l of shares and δ_l = 0."""

Estimate: TypeAlias = Callable[[Sequence[Share], Enclosure], float]
"""About the same, quickly: it tells a search where to look and proves nothing."""


Candidates: TypeAlias = "tuple[tuple[tuple[Share, ...], Enclosure], ...]"
"""The shares at the scales searched, each with the δ' or ε' at which they are to be composed."""


@lru_cache(maxsize=16)
def for_epsilon(split: Split, delta: Enclosure, about: Estimate) -> Candidates:
    """The shares at scales that may have the smallest ε at δ in (0, 1), with the δ' that their δ_l leave over.

    None of the scales need be proven to leave any.
    """
    scales: list[Scale] = [None] if split.has_pure else []
    low = smallest_scale(split, delta)

    def value(scale: Fraction) -> float:
        rest = left_over(shares := split.at(scale), delta)
        return math.inf if rest is None else about(shares, rest)

    if low is not None:
        scales.append(low)
        if low and split.count > 1:
            scales.append(_best_scale(value, low, low * _REACH))
    found = []
    for scale in scales:
        rest = left_over(shares := split.at(scale), delta)
        if rest is not None:
            found.append((shares, Enclosure.of(rest.lower, precision=delta.precision)))
    return tuple(found)


@lru_cache(maxsize=16)
def for_delta(split: Split, epsilon: Enclosure, about: Estimate) -> Candidates:
    """The shares at scales that may have the smallest δ at ε ≥ 0, with its lower end."""
    scales: list[Scale] = [None] if split.has_pure else []
    level = Enclosure.of(epsilon.lower, precision=epsilon.precision)

    def value(scale: Fraction) -> float:
        shares = split.at(scale)
        return joined(shares, Enclosure.of(min(about(shares, level), 1.0))).upper_float

    if split.scalable:
        low, high = level.lower / split.size, level.lower / split.size * split.count
        if split.has_pure:
            high = min(high, Fraction(1))
        scales.append(_best_scale(value, low, high) if 0 < low < high else low)
    return tuple((split.at(scale), level) for scale in scales)


def epsilon_at_best_scale(split: Split, delta: Enclosure, bound: Composition, about: Estimate) -> Enclosure | None:
    """The smallest ε at δ in (0, 1) over the scales searched: `bound` at the δ' that their δ_l leave over.

    None where no scale is proven to leave any.
    """
    proven = (bound(shares, rest) for shares, rest in for_epsilon(split, delta, about))
    return min(proven, key=lambda epsilon: epsilon.upper, default=None)


def delta_at_best_scale(split: Split, epsilon: Enclosure, bound: Composition, about: Estimate) -> Enclosure | None:
    """The smallest δ at ε ≥ 0 over the scales searched: `bound`, joined with their δ_l. None where there is none."""
    proven = (joined(shares, bound(shares, level)) for shares, level in for_delta(split, epsilon, about))
    return min(proven, key=lambda delta: delta.upper, default=None)


def _best_scale(value: Callable[[Fraction], float], low: Fraction, high: Fraction) -> Fraction:
    """The scale of [low, high] with the least value met: a scan of logarithms, then golden sections."""
    values: dict[float, float] = {}

    def at(place: float) -> float:
        if place not in values:
            values[place] = value(low * Fraction(math.exp(place)))
        return values[place]

    step = math.log(high / low) / _SCAN
    best = min(range(_SCAN + 1), key=lambda index: at(index * step))
    first, last = max(best - 1, 0) * step, min(best + 1, _SCAN) * step
    for _ in range(_REFINEMENTS):
        left, right = last - _GOLDEN * (last - first), first + _GOLDEN * (last - first)
        if at(left) <= at(right):
            last = right
        else:
            first = left
    return low * Fraction(math.exp(min(values, key=values.__getitem__)))


@lru_cache(maxsize=4096)
def _delta_at(pair: Pair, epsilon: Enclosure) -> Enclosure:
    """The larger δ(ε) of a pair that has such a law; accountants ask for the same ones."""
    delta = delta_at(epsilon)(pair)
    assert delta is not None
    return delta


def sum_of(values: Iterable[Enclosure]) -> Enclosure:
    """The sum of at least one number."""
    return reduce(add, values)
