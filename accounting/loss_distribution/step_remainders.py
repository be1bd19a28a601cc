"""What interpolation of the moments of sampled Gaussian steps hides, in a region of rates and squared shifts.

Legend: as in `interpolated_steps`. F is interpolated in the rate and in the squared shift; what that hides follows from
bounds of the derivatives of M, which are bounds of expectations over the likelihood ratio R. The proofs are in
`docs/soundness_many_steps.md`, whose steps are named in the code.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import final

import numpy as np
from attrs import frozen

from ..bulk import arrays as bulk
from ..exact import Floats

UNIT = 2.0**-53
ROOM = 1.0 + 1e-5
"""More than all roundings of sums of positive terms, and of nodes."""
WIDER = 1e-12
"""By how much more than all roundings of squared shifts regions are wider, relatively."""
MOST_RATES, MOST_SQUARES = 7, 10
"""The most nodes of a region in rate and in squared shift."""
_SHIFT_UNITS = 16.0  # of u, by how much a squared shift is off at most, relatively
_WIDTH = 1 / 32  # of the cells
_SPARE_NATS, _MOST_EXPONENT = 120.0, 600.0
_LARGEST_MOVE = 0.25  # of |M − 1|


@final
@frozen
class Region:
    """Rates and squared shifts in these ranges, of so many steps."""

    low_rate: float
    high_rate: float
    low_square: float
    high_square: float
    count: int

    @classmethod
    def around(cls, rates: Floats, squares: Floats) -> Region:
        """The smallest one, wider by what squares may be off."""
        low, high = float(squares.min()) * (1 - WIDER), float(squares.max()) * (1 + WIDER)
        return cls(float(rates.min()), float(rates.max()), low, high, rates.size)

    def missed_by_rate(self, coefficient: Floats, nodes: int) -> Floats:
        """What interpolation in the rate misses, by a bound of a derivative over its factorial."""
        return 2 * ((self.high_rate - self.low_rate) / 4) ** nodes * coefficient

    def missed_by_square(self, coefficient: Floats, nodes: int) -> Floats:
        """What interpolation in the squared shift misses, by a bound of a derivative over its factorial."""
        return 2 * ((self.high_square - self.low_square) / 4) ** nodes * coefficient


@final
@frozen(eq=False)
class Remainder:
    """What interpolation in a box hides of ΣF on the line of an r.

    Attributes:
        region: rates and squared shifts in the box.
        order: the real part of r.
        second: a bound of E[(R − 1)²·B^(Re r − 2)] in the box and at smaller rates, step 2.
        ratios: bounds of E[(|R − 1|/B)^k·B^(Re r)] for k from 0, step 3.
        shares: bounds of E[(qR/B)^m·B^(Re r)] for m from 0, step 4.
    """

    region: Region
    order: float
    second: float
    ratios: Floats
    shares: Floats

    @classmethod
    def of(cls, region: Region, order: float) -> Remainder:
        """Bound the expectations by sums over cells."""
        cells = Cells.of(region, order, 2 * MOST_SQUARES)
        return cls(region, order, cells.second(), cells.ratios(MOST_RATES), cells.shares(2 * MOST_SQUARES))

    def at(self, y: Floats, degrees: tuple[int, int]) -> Floats:
        """A bound of |ΣF − Σ w·F| at r + iy for each y and so many nodes; inf where none is known (step 5)."""
        region, (rates, squares) = self.region, degrees
        with np.errstate(over="ignore", invalid="ignore"):
            moved, by_rate, by_square = self._coefficients(y, rates, squares)
            known = moved < _LARGEST_MOVE
            missed = region.missed_by_rate(by_rate[-1], rates)
            missed = missed + lebesgue(rates) * region.missed_by_square(by_square[-1], squares)
            rounded = (region.count + 200) * 2 * UNIT * moved / (1 - np.minimum(moved, _LARGEST_MOVE))
            rounded = rounded + 2 * _SHIFT_UNITS * UNIT * region.high_square * by_square[0]
            total = region.count * (missed + lebesgue(rates) * lebesgue(squares) * rounded) * ROOM
        return np.where(known & np.isfinite(total), total, math.inf)

    def enough(self, y: Floats, wanted: Floats) -> tuple[int | None, int | None]:
        """How many nodes in rate and in square bring the bound for each step below a number each; None: too many."""
        with np.errstate(over="ignore", invalid="ignore"):
            moved, by_rate, by_square = self._coefficients(y, MOST_RATES, MOST_SQUARES)
            if not np.all(moved < _LARGEST_MOVE):
                return None, None
            region = self.region
            rates = (region.missed_by_rate(one, k) for k, one in enumerate(by_rate, 1))
            squares = (3 * region.missed_by_square(one, k) for k, one in enumerate(by_square, 1))
            first, second = (
                next((k for k, one in enumerate(each, 1) if np.all(one < wanted / 2)), None)
                for each in (rates, squares)
            )
        return first, second

    def _coefficients(self, y: Floats, rates: int, squares: int) -> tuple[Floats, list[Floats], list[Floats]]:
        """Bounds of |M − 1|, and of the derivatives of F by rate and by square over k!, from k = 1 on."""
        high = self.region.high_rate
        most = max(rates, 2 * squares, 2)
        falling = np.ones((most + 1, y.size))  # |r(r − 1)…(r − m + 1)|
        for m in range(most):
            falling[m + 1] = falling[m] * np.sqrt((self.order - m) ** 2 + y * y)
        moved = falling[2] / 2 * (high**2 * self.second) * ROOM
        room = 1 - np.minimum(moved, _LARGEST_MOVE)
        rate = [falling[2] * high * self.second]
        rate += [falling[k] / math.factorial(k) * self.ratios[k] for k in range(2, rates + 1)]
        square = []
        for k in range(1, squares + 1):
            terms = sum(times * falling[m] * self.shares[m] for m, times in _operator(k).items())
            square.append(terms / (2.0**k * math.factorial(k)))
        by_rate, by_square = (_of_logarithm([one / room for one in each]) for each in (rate, square))
        return moved, by_rate, by_square


@final
@frozen(eq=False)
class Cells:
    """Cells of log R, in units of the largest shift: bounds of expectations in a box of rates and squared shifts.

    Attributes:
        order: the real part of r.
        last: where the cells end, as standard normal numbers do.
        shift: the largest.
        spread: a bound of the density of log R over that at the largest shift (step 1).
        logarithms: log R at the ends of the cells.
        masses: a bound of the logarithm of what each cell has, and what is beyond on the left.
    """

    low_rate: float
    high_rate: float
    order: float
    shift: float
    spread: float
    last: float
    logarithms: Floats
    masses: Floats

    @classmethod
    def of(cls, region: Region, order: float, most: int) -> Cells:
        """Cells that reach far enough for the most shares."""
        low_rate, high_rate = region.low_rate, region.high_rate
        low_square, high_square = region.low_square, region.high_square
        shift = math.sqrt(high_square)
        rising = max(order, 2.0)
        far = math.sqrt(2 * ((rising + most) * -math.log(low_rate) + _SPARE_NATS))
        last = rising * shift + far
        count = math.ceil((last + far) / _WIDTH)
        ends = last - _WIDTH * np.arange(count, -1, -1.0)
        nearest = np.minimum(np.abs(ends[:-1]), np.abs(ends[1:]))
        nearest[(ends[:-1] < 0) & (ends[1:] > 0)] = 0.0
        # what lies left of the first cell is less than the density there
        masses = np.append(-(ends[0] ** 2) / 2, math.log(_WIDTH) - nearest * nearest / 2) - math.log(2 * math.pi) / 2
        spread = math.sqrt(high_square / low_square) * math.exp((high_square - low_square) / 8)
        return cls(low_rate, high_rate, order, shift, spread, last, shift * (ends - shift / 2), masses)

    def ratios(self, most: int) -> Floats:
        """Bounds of E[(|R − 1|/B)^k·B^(Re r)] for k from 0 to `most`; inf where none is known."""
        k = np.arange(most + 1.0)
        at = self.order * self._largest(self.order)
        return self._totals(
            at + k[:, None] * self._distance, at[0] - k * self._log_rest, -k * math.log(self.low_rate), self.order
        )

    def shares(self, most: int) -> Floats:
        """Bounds of E[(qR/B)^m·B^(Re r)] for m from 0 to `most`; inf where none is known."""
        m = np.arange(most + 1.0)
        at = self.order * self._largest(self.order) + m[:, None] * self._share
        return self._totals(at, at[:, 0], np.zeros(m.size), self.order)

    def second(self) -> float:
        """A bound of E[(R − 1)²·B^(Re r − 2)], at smaller rates, too; inf where none is known."""
        at = (self.order - 2) * self._largest(self.order - 2)
        (found,) = self._totals((at + 2 * self._off)[None, :], at[:1], np.zeros(1), self.order - 2).tolist()
        return float(found)

    def _totals(self, ends: Floats, left: Floats, right: Floats, order: float) -> Floats:
        """Sum over the cells, of functions whose logarithms are given at their ends, and over what is beyond.

        Beyond on the right they are at most e^right·R^max(order of the cells, 2)·(1 − q)^min(order, 0).
        """
        if not self.logarithms[-1] < _MOST_EXPONENT:
            return np.full(left.size, math.inf)
        rising = max(self.order, 2.0)
        heights = np.column_stack([left, np.maximum(ends[:, :-1], ends[:, 1:])]) + self.masses
        last = rising * (rising - 1) * self.shift**2 / 2 - (self.last - rising * self.shift) ** 2 / 2
        exponents = np.column_stack([heights, right + (last + min(order, 0.0) * self._log_rest)])
        known = np.max(exponents, axis=1) < _MOST_EXPONENT
        found = np.sum(bulk.exp(np.clip(exponents, -_MOST_EXPONENT, _MOST_EXPONENT)), axis=1)
        return np.where(known, found * (self.spread * ROOM), math.inf)

    def _largest(self, power: float) -> Floats:
        """The logarithm of the B in the box, and up to 1, whose power is largest."""
        if power < 0:
            return np.full(self.logarithms.size, self._log_rest)
        return np.maximum(self._likely, 0.0)

    @cached_property
    def _log_rest(self) -> float:
        """Return log(1 − q) of the largest rate."""
        return float(bulk.log1p(np.array([-self.high_rate]))[0])

    @cached_property
    def _excess(self) -> Floats:
        """Return R − 1."""
        return np.asarray(bulk.expm1(np.minimum(self.logarithms, _MOST_EXPONENT)))

    @cached_property
    def _likely(self) -> Floats:
        """Return log B at the largest rate."""
        return np.asarray(bulk.log1p(self.high_rate * self._excess))

    @cached_property
    def _off(self) -> Floats:
        """Return log|R − 1|, where it is not too small."""
        return np.asarray(bulk.log(np.maximum(np.abs(self._excess), 1e-300)))

    @cached_property
    def _share(self) -> Floats:
        """The largest log qR/B."""
        return math.log(self.high_rate) + self.logarithms - self._likely

    @cached_property
    def _distance(self) -> Floats:
        """The largest log(|R − 1|/B)."""
        least = np.asarray(bulk.log1p(self.low_rate * self._excess))
        return self._off - np.where(self.logarithms >= 0, least, self._likely)


def _of_logarithm(terms: list[Floats]) -> list[Floats]:
    """The coefficients of −log(1 − Σ a_k x^k), from k = 1 on (step 5)."""
    found: list[Floats] = []
    for k, term in enumerate(terms, 1):
        mixed = sum((j * found[j - 1] * terms[k - j - 1] for j in range(1, k)), np.zeros_like(term))
        found.append(term + mixed / k)
    return found


@lru_cache(maxsize=64)
def _operator(power: int) -> dict[int, float]:
    """The coefficients of R^m·d^m/dR^m in (R²·d²/dR²)^power (step 4)."""
    found = {2: 1.0}
    for _ in range(power - 1):
        following: dict[int, float] = {}
        for m, times in found.items():
            for further, factor in ((m, m * (m - 1)), (m + 1, 2 * m), (m + 2, 1)):
                following[further] = following.get(further, 0.0) + factor * times
        found = following
    return found


def lebesgue(nodes: int) -> float:
    """A bound of the Lebesgue constant of that many Chebyshev nodes (Rivlin 1990, Theorem 1.2)."""
    return 2 / math.pi * math.log(nodes) + 1
