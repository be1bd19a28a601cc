"""From a whole Rényi curve to approximate DP: the best order is searched in floats, the bound there proven once.

Guarantees hold at one order alone, so every order proves a bound and the search decides only how small it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, final

from attrs import frozen

from ..enclosures import Enclosure
from ..errors import OutsideDomain
from .minimum import least_place
from .renyi_moment import delta_at_order, epsilon_at_order, require_positive
from .renyi_search import choose_ratio, choose_touching

RenyiOfOrder: TypeAlias = Callable[[Fraction], Enclosure]
"""τ(α) at an order α > 1; upper ends count."""

_STEP = 2.0  # in log(α − 1)
_FIRST, _LAST = math.log(1e-6), math.log(1e6)  # of α − 1: searched at least, unless a larger order cannot help
_LOWEST, _HIGHEST = -40.0, 40.0
_ORDER_BITS = 24  # so short a fraction misses the best order by 1e-7 of it, and the smallest bound by 1e-14
_REFINEMENTS, _NEAR = 24, 1e-6
_TRIVIAL = -1e-9  # of log δ
_UNUSABLE = 1e100  # finite, because the search subtracts values
_LARGEST_MOMENT = 2.0**61  # of (α − 1)τ, whose exponential the enclosures must hold


@final
@frozen
class RenyiConversion:
    """The (ε, δ) that a Rényi curve proves at one order.

    Attributes:
        order: the order found.
        epsilon: (epsilon, delta)-DP holds with the upper ends.
        delta: its other half.
    """

    order: Fraction
    epsilon: Enclosure
    delta: Enclosure

    def __str__(self) -> str:
        return f"(ε, δ) ≤ ({self.epsilon.upper_float!r}, {self.delta.upper_float!r}) at order {float(self.order):.6g}"


def best_order(curve: RenyiOfOrder, delta: Enclosure, *, start: Fraction = Fraction(2)) -> RenyiConversion:
    """The smallest ε for δ over the orders of a Rényi curve.

    Args:
        curve: τ(α); an order is left out where it raises OutsideDomain or is not finite in binary64.
        delta: above 0.
        start: the order where the search begins.

    Guarantees: (ε, δ)-DP holds with the upper ends if the curve's does at the order named. The curve is evaluated
    about 40 times, at orders α with 1e-6 ≤ α − 1 ≤ 1e6 and beyond where the best one seems to lie there; larger orders
    are not tried once τ alone exceeds the ε found, because τ grows with α.

    Raises:
        InvalidValue: for δ = 0. OutsideDomain: where no order was usable.

    >>> found = best_order(lambda order: Enclosure.of("0.5") * order, Enclosure.of("1e-5"))
    >>> round(found.epsilon.upper_float, 9), round(float(found.order), 1)
    (4.728385649, 5.4)
    """
    require_positive(delta)
    log_delta = delta.log().lower_float
    least = Enclosure.of(delta.lower, precision=delta.precision)  # a bound for every δ inside is no smaller than there
    spared = (-least).log1p().lower_float if delta.lower < 1 else -math.inf

    def estimate(above: float, tau: float) -> float:
        _, log_gamma = choose_touching(above, tau, log_delta)
        whole = tau + spared if log_delta >= -math.log1p(above) else math.inf
        return min(log_gamma, whole)

    search = _Search(curve, estimate, lambda tau: tau + spared)
    order = search.run(start)
    return RenyiConversion(order, epsilon_at_order(order, search.taus[order], delta), delta)


def best_order_at_epsilon(curve: RenyiOfOrder, epsilon: Enclosure, *, start: Fraction = Fraction(2)) -> RenyiConversion:
    """The smallest δ for ε over the orders of a Rényi curve; otherwise as `best_order`.

    Raises:
        InvalidValue: for ε < 0. OutsideDomain: where no order was usable.
    """
    target = epsilon.lower_float

    def whole(tau: float) -> float:
        return math.log(-math.expm1(target - tau)) if tau > target else -math.inf

    def estimate(above: float, tau: float) -> float:
        _, log_delta = choose_ratio(above, tau, target)
        best = min(log_delta, whole(tau)) if target - tau <= -math.log1p(1 / above) else log_delta
        return best if best < _TRIVIAL else log_delta  # which tells where better orders are

    search = _Search(curve, estimate, whole)
    order = search.run(start)
    return RenyiConversion(order, epsilon, delta_at_order(order, search.taus[order], epsilon))


class _Search:
    """The values of an estimate at the orders tried.

    Args:
        curve: τ(α).
        estimate: the bound, or what orders it, from α − 1 and τ(α).
        floor: what no order above one with this τ goes below.
    """

    def __init__(
        self, curve: RenyiOfOrder, estimate: Callable[[float, float], float], floor: Callable[[float], float]
    ) -> None:
        self.curve, self.estimate, self.floor = curve, estimate, floor
        self.taus: dict[Fraction, Enclosure] = {}
        self.values: dict[Fraction, float] = {}

    def run(self, start: Fraction) -> Fraction:
        """Return the best order found, from `start` on."""
        best = self.scan(min(max(math.log(start - 1), _LOWEST), _HIGHEST))
        least_place(self.at, best - _STEP, best + _STEP, tolerance=_NEAR, evaluations=_REFINEMENTS)
        found = min(self.values, key=self.values.__getitem__)
        if math.log(found - 1) <= _LAST:  # some curves are chords between integers
            self.value(max(Fraction(math.floor(found)), Fraction(2)))
            self.value(Fraction(math.ceil(found)))
        found = min(self.values, key=self.values.__getitem__)
        if found not in self.taus:
            raise OutsideDomain(
                f"the Rényi curve is finite at none of the {len(self.values)} orders tried; check its parameters"
            )
        return found

    def scan(self, start: float) -> float:
        """The best of the places log(α − 1) in steps from `start`, upwards and downwards."""
        best, least = start, self.at(start)
        for step, last, limit in ((_STEP, _LAST, _HIGHEST), (-_STEP, _FIRST, _LOWEST)):
            place = start
            while (place + step) * step <= limit * step:
                wanted = (place + step) * step <= last * step or place == best or least >= _UNUSABLE
                if not wanted or (step > 0 and self.hopeless(place, least)):
                    break
                place += step
                value = self.at(place)
                if value < least:
                    best, least = place, value
        return best

    def hopeless(self, place: float, least: float) -> bool:
        """Whether no order above that of `place` can do better."""
        tau = self.taus.get(_order(place))
        return tau is not None and self.floor(tau.upper_float) >= least

    def at(self, place: float) -> float:
        return self.value(_order(place))

    def value(self, order: Fraction) -> float:
        if order not in self.values:
            self.values[order] = self.estimated(order)
        return self.values[order]

    def estimated(self, order: Fraction) -> float:
        try:
            tau = self.curve(order)
        except OutsideDomain:
            return _UNUSABLE
        above = float(order - 1)
        if not above * tau.upper_float < _LARGEST_MOMENT:
            return _UNUSABLE
        self.taus[order] = tau
        value = self.estimate(above, tau.upper_float)
        return min(value, _UNUSABLE)


def _order(place: float) -> Fraction:
    """1 + e^place in a few bits."""
    mantissa, exponent = math.frexp(math.exp(place))
    return 1 + Fraction(round(math.ldexp(mantissa, _ORDER_BITS))) * Fraction(2) ** (exponent - _ORDER_BITS)
