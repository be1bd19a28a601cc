"""The largest feasible weights of records whose loss is linear in the weight, ε(w, x) = A·w, in bulk.

Legend: A = ε(1, x) is the loss at weight 1, c = e^ε* − 1. The largest w with log(1 + (e^{Aw} − 1)/w) ≤ ε* is
−1/c − W₋₁(−(A/c)·e^{−A/c})/A, where W₋₁ is the lower branch of Lambert's function: e^{Aw} is strongly convex, so the
constraint holds from 1 to that root and nowhere beyond it.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn, Self, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from .._kernels import feasible_weights as kernels
from ..bulk.exact_floats import exact_floats, require_each
from ..bulk.parts import shared
from ..enclosures import Enclosure, Truth, lambert_wm1
from ..errors import InvalidType, InvalidValue, Undecided
from ..exact import Floats
from .reach import Codes, Reach, codes_of

LARGEST_RELATIVE_GAP = 1e-12
"""`largest_weights` returns weights this close to the largest feasible ones, relatively, unless a cap limits them."""

_SHARE = 1 << 13  # records worth a thread
_PRECISIONS = (192, 384, 768, 1536)
_LARGEST_FLOAT = Fraction(sys.float_info.max)
_LEAST_TARGET, _MOST_TARGET = Fraction(1, 2**40), Fraction(1024)
LARGEST_WEIGHT = 2.0**1022
"""Weights beyond this are not used: the reciprocal would no longer be a normal number."""


@final
@frozen(eq=False)
class FeasibleWeights:
    """Per record, the weight and the probability that keep it within the target.

    Attributes:
        weight: float64 (n,), ≥ 1; inf where the record is never drawn.
        probability: float64 (n,), the binary64 nearest to 1/weight, or the next one below where the nearest one would
            exceed the target; to be drawn exactly. 0 where the weight is inf.
        gap: a proven bound of the relative distance of each weight to the largest feasible one, or to the first
            crossing (see `reach`), over the records whose weight no cap limits; 0 where there are none, inf where
            none is proven.
        escalated: how many records needed enclosures.
        reach: per record, what is proven about the weights up to its own and beyond: see `Reach`.
    """

    weight: Floats
    probability: Floats
    gap: float
    escalated: int
    reach: Codes


def largest_weights(
    unit_loss: ArrayLike,
    target: Fraction,
    *,
    largest: float | None = None,
    domain_loss: Fraction | None = None,
    first: int = 0,
    threads: int = 1,
) -> FeasibleWeights:
    """The largest weights with ψ ≤ ε* for losses ε = A·w (IS Problem 7 and Theorem 10), proven as they are used.

    Args:
        unit_loss: float64 (n,), an upper bound of the loss A at weight 1 of each record; ≥ 0.
        target: ε*, from 2^-40 to 1024.
        largest: a cap on the weights, ≥ 1; None for none: then a record with A = 0 is never drawn.
        domain_loss: a proven upper bound of the true A of every record, such as its supremum over the public domain,
            at most `target`. A record whose bound in `unit_loss` exceeds the target, by rounding, then has weight 1.
        first: number of the first record in the data set, for messages.
        threads: how many threads share the work; the result is the same for any number.

    Guarantees: for each record, for the binary64 weight ŵ and probability q̂ returned and every loss of at most A,
        log(1 + q̂·(e^{A·ŵ} − 1)) ≤ ε*, and so for every smaller weight from 1 on, with its reciprocal as probability.
        ŵ is the largest such weight but for a relative gap of at most LARGEST_RELATIVE_GAP, or it is `largest`, or
        2^1022. The weight depends on A, ε* and the cap alone.

    Raises:
        InvalidType: for anything but an array of real numbers and Fractions.
        InvalidValue: for A < 0 or NaN; A > ε* (the message names the first record and is for the data's curator); a
            target, cap or domain loss outside its range.

    >>> found = largest_weights([0.1, 1.0, 0.0], Fraction(1))
    >>> found.weight, found.probability
    (array([43.20709029,  1.        ,         inf]), array([0.02314435, 1.        , 0.        ]))
    """
    given = _Given.of(target, largest)
    losses = np.require(exact_floats("unit_loss", unit_loss), requirements=["C", "A"])
    if losses.ndim != 1:
        raise InvalidValue("unit_loss", f"shape {losses.shape}", "one number per record")
    rounded_over: NDArray[np.intp] = np.empty(0, dtype=np.intp)
    if domain_loss is not None:
        _check_domain_loss(domain_loss, target)
        rounded_over = np.flatnonzero(losses > given.top)
        losses = np.minimum(losses, given.top)  # NaN stays NaN

    weight, probability = np.empty(losses.shape), np.empty(losses.shape)
    worst: list[int] = []
    parameters = given.high, given.low, given.level, given.top, given.cap

    def run(start: int, stop: int) -> bool:
        part = slice(start, stop)
        bits = int(kernels.linear(losses[part], *parameters, weight[part], probability[part]))
        worst.append(bits)  # another thread's may be the last one by now
        return bits != kernels.INVALID

    if not shared(run, losses.size, _SHARE, threads):
        require_each("unit_loss", losses, losses >= 0, "numbers ≥ 0")
        _refuse_infeasible(losses, losses > given.top, target, first)
    weight[rounded_over] = probability[rounded_over] = 1.0
    gaps = [float(np.int64(bits).view(np.float64)) for bits in worst]
    left = np.flatnonzero(np.isnan(weight))
    for index in left:
        weight[index], probability[index], gap = by_enclosures(float(losses[index]), target, given.cap)
        gaps.append(gap)
    reach = codes_of(weight, Reach.LARGEST, min(given.cap, LARGEST_WEIGHT))
    return FeasibleWeights(weight, probability, max(gaps, default=0.0), len(left), reach)


def by_enclosures(unit_loss: float, target: Fraction, cap: float = math.inf) -> tuple[float, float, float]:
    """Weight, probability and gap of one record, in intervals: what `largest_weights` does where no kernel is proven.

    Args:
        unit_loss: A, from the smallest binary64 above 0 to `target`.
        target: ε*.
        cap: the largest weight asked for.

    Raises:
        Undecided: where no admissible precision separates the root from its neighbours.
    """
    loss = Fraction(unit_loss)
    if loss == target:
        return 1.0, 1.0, 0.0
    limit = min(cap, LARGEST_WEIGHT)
    for precision in _PRECISIONS:
        a = Enclosure.of(loss, precision=precision)
        c = Enclosure.of(target, precision=precision).expm1()
        root = -(1 / c) - lambert_wm1(-(a / c) * (-(a / c)).exp()) / a
        if root.lower > limit:
            return limit, reciprocal_below(limit), 0.0
        weight = max(1.0, root.lower_float)
        probability = reciprocal_below(weight)
        excess = Enclosure.of(probability, precision=precision) * (a * Fraction(weight)).expm1()
        if excess.less_equal(c) is Truth.TRUE:
            return weight, probability, (1 - Fraction(weight) / root).upper_float
    raise Undecided(f"the largest weight of a record with loss {unit_loss} at weight 1 is undecided")


def reciprocal_below(weight: float) -> float:
    """The binary64 nearest to 1/weight where it is not above that, else the next one below."""
    nearest = 1.0 / weight
    return nearest if Fraction(nearest) * Fraction(weight) <= 1 else math.nextafter(nearest, 0.0)


@frozen
class _Given:
    """What the kernel needs of the target and the cap: see `_kernels.feasible_weights.linear`."""

    high: float
    low: float
    level: float
    top: float
    cap: float

    @classmethod
    def of(cls, target: Fraction, largest: float | None) -> Self:
        checked = checked_target(target)
        return cls(*_odds(target), checked.lower_float, math.inf if largest is None else checked_cap(largest))


@lru_cache(maxsize=64)
def _odds(target: Fraction) -> tuple[float, float, float]:
    """c from below, as the sum of two numbers, and its logarithm from below."""
    odds = Enclosure.of(target, precision=_PRECISIONS[0]).expm1()
    high, low = math.inf, 0.0  # beyond binary64, where the logarithm of c is enough
    if odds.lower <= _LARGEST_FLOAT:
        high = float(odds.lower)
        low = Enclosure.of(odds.lower - Fraction(high), precision=_PRECISIONS[0]).lower_float
    return high, low, odds.log().lower_float


def checked_target(target: Fraction) -> Enclosure:
    """ε* as an enclosure.

    Raises:
        InvalidType: for anything but a Fraction. InvalidValue: outside [2^-40, 1024].
    """
    match target:
        case Fraction():
            if _LEAST_TARGET <= target <= _MOST_TARGET:
                return Enclosure.of(target, precision=_PRECISIONS[0])
            raise InvalidValue("target", target, "a target ε* from 2^-40 to 1024")
    raise InvalidType("target", target, "a Fraction", "Write exact(target) to read a float or text.")


def checked_cap(largest: float) -> float:
    """A finite cap on weights.

    Raises:
        InvalidType: for anything but a number. InvalidValue: outside [1, 2^1022].
    """
    match largest:
        case int() | float() if not isinstance(largest, bool):
            if 1 <= largest <= LARGEST_WEIGHT and float(largest) == largest:
                return float(largest)
            raise InvalidValue("largest", largest, "a binary64 weight from 1 to 2^1022", "Leave it out for no cap.")
    raise InvalidType("largest", largest, "a weight ≥ 1 or None")


def _check_domain_loss(domain_loss: Fraction, target: Fraction) -> None:
    match domain_loss:
        case Fraction():
            if domain_loss <= target:
                return
            raise InvalidValue(
                "domain_loss", domain_loss, f"at most the target {target}", "Weight 1 is infeasible for some record"
            )
    raise InvalidType("domain_loss", domain_loss, "a Fraction or None")


def _refuse_infeasible(losses: Floats, over: NDArray[np.bool_], target: Fraction, first: int) -> NoReturn:
    index = int(np.argmax(over))
    raise InvalidValue(
        "unit_loss",
        f"{losses[index]} of record {first + index}",
        f"at most the target {float(target):.17g}, so that weight 1 is feasible",
        "For the data's curator: raise the target, or clip or drop the records outside the public domain",
    )
