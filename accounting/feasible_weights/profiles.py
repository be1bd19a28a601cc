"""The largest feasible weight of a record with any PDP profile ε(w, x): IS Algorithm 1, corrected and proven.

Legend: c = e^ε* − 1; weight w is feasible where ε(w) ≤ log(1 + c·w), that is ψ ≤ ε* at rate 1/w. Where e^ε is convex
the feasible weights are those from 1 to the last root. Three printed lines do not hold and are replaced: the bracket
ends at 2((e^ε* − v̄)/μ + 1) (IS-A1-line6), the root 1 is left behind where ε'(1) < 1 − e^−ε(1) (IS-A1-line7), and what
is returned is the feasible end of the last bracket (IS-bisection).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen

from ..enclosures import Enclosure, Truth, increasing_root
from ..errors import InvalidValue, OutsideDomain, Undecided
from ..expressions import (
    ONE,
    Constant,
    Range,
    Variable,
    W,
    deciding,
    derivative,
    enclose,
    prune,
    simplify,
    substitute,
)
from ..losses import PureLoss
from .convexity import Convexity, convexity
from .linear import LARGEST_WEIGHT, FeasibleWeights, checked_cap, checked_target, reciprocal_below

_PRECISION = 192
_START = 4  # the first step away from weight 1 is 2^-4, relatively
_NEAREST = 60
_STEPS = 4000
_LOOSER = 1 + Fraction(1, 2**40)


class Reach(Enum):
    """What is proven about weights beyond the one returned."""

    LARGEST = "no larger weight is feasible: e^ε is convex in the weight"
    FIRST_CROSSING = "every weight up to this one is feasible; a larger one beyond an infeasible stretch may be, too"
    CAPPED = "every weight up to the cap is feasible"


@final
@frozen
class ConstrainedWeight:
    """The weight that keeps one record within a target.

    Attributes:
        weight: binary64, ≥ 1; every weight from 1 to it is proven feasible.
        probability: the binary64 nearest to 1/weight, or the next one below where the nearest one is above it; to be
            drawn exactly.
        root: where the largest feasible weight lies, or the first crossing; None where a cap came first, or nothing
            but weight 1 is proven.
        reach: what holds beyond.
        modulus: μ of Assumption 11, where Algorithm 1's bracket rests on it.
        bracket: where that bracket ends.
    """

    weight: float
    probability: float
    root: Enclosure | None
    reach: Reach
    modulus: Enclosure | None = None
    bracket: Enclosure | None = None

    @property
    def gap(self) -> float:
        """A bound of the relative distance between the weight and the root; 0 where there is none."""
        if self.root is None:
            return 0.0
        return math.nextafter(float((self.root.upper - Fraction(self.weight)) / self.root.upper), math.inf)


def constrained_weight(
    loss: PureLoss,
    norms: Mapping[Variable, Enclosure],
    target: Fraction,
    *,
    largest: float | None = None,
    precision: int = _PRECISION,
) -> ConstrainedWeight:
    """The largest weight w with log(1 + (e^{ε(w, x)} − 1)/w) ≤ ε* at one record (IS Problem 7 and Algorithm 1).

    Args:
        loss: the profile ε(W, x).
        norms: enclosures of the record's norms that it uses; points where they are known exactly.
        target: ε*, from 2^-40 to 700.
        largest: a cap on the weight, ≥ 1; None for none.
        precision: working precision in bits.

    Guarantees: for every record with norms inside, every weight from 1 to the one returned is feasible, and the one
        returned with the probability returned too. Where e^ε is not proven convex in w, weights are proven interval by
        interval up to the first crossing.

    Raises:
        InvalidValue: where weight 1 is infeasible (Assumption 8), or no weight is infeasible and there is no cap
            (Assumption 9); for a target or cap outside its range.
        Undecided: where the precision does not decide whether weight 1 is feasible.

    >>> from certdp.accounting.expressions import log1p
    >>> constrained_weight(PureLoss(log1p(W * W)), {}, Fraction(1)).weight
    1.718281828459045
    """
    return _Problem(loss, norms, target, largest, precision).solved(None)


def constrained_weights(
    loss: PureLoss,
    norms: Callable[[int], Mapping[Variable, Enclosure]],
    size: int,
    target: Fraction,
    *,
    public: Mapping[Variable, Range] | None = None,
    largest: float | None = None,
    precision: int = _PRECISION,
) -> FeasibleWeights:
    """`constrained_weight` of many records; records with equal norms are solved once.

    A record's weight depends on its own norms and the public arguments alone, as Theorem 10 requires.

    Args:
        loss: the profile ε(W, x); for one that is linear in W `largest_weights` is a thousand times faster.
        norms: for the index of a record, enclosures of its norms.
        size: number of records.
        target: ε*.
        public: public ranges of all the norms; what can be proven of e^ε over them is then proven once for all.
        largest: a cap on the weights.
        precision: working precision in bits.

    Raises:
        As `constrained_weight`; the first record refused ends the run.
        InvalidValue: for a norm outside its public range.
    """
    weight, probability = np.empty(size), np.empty(size)
    shape = None if public is None else _public_shape(loss, public)
    known: dict[frozenset[tuple[Variable, Enclosure]], ConstrainedWeight] = {}
    for index in range(size):
        box = norms(index)
        if public is not None:
            _check_public(index, box, public)
        key = frozenset(box.items())
        if key not in known:
            known[key] = _Problem(loss, box, target, largest, precision).solved(shape)
        weight[index], probability[index] = known[key].weight, known[key].probability
    return FeasibleWeights(weight, probability, max((found.gap for found in known.values()), default=0.0), size)


def _public_shape(loss: PureLoss, public: Mapping[Variable, Range]) -> Convexity | None:
    """What is proven of e^ε for every record; None where it is not convex for all."""
    shape = convexity(prune(loss.epsilon, {**public, W: Range(Fraction(1), None)}), public)
    return shape if shape.convex else None


def _check_public(index: int, box: Mapping[Variable, Enclosure], public: Mapping[Variable, Range]) -> None:
    for variable, side in public.items():
        inside = variable in box and side.lower is not None and side.upper is not None
        if not (inside and side.lower <= box[variable].lower and box[variable].upper <= side.upper):  # type: ignore[operator]
            raise InvalidValue(
                variable.name,
                f"{box.get(variable)} of record {index}",
                f"between {side.lower} and {side.upper}",
                "Clip or drop the records outside the public domain",
            )


class _Problem:
    """One record: its loss as a function of the weight alone, and what is feasible."""

    def __init__(
        self,
        loss: PureLoss,
        norms: Mapping[Variable, Enclosure],
        target: Fraction,
        largest: float | None,
        precision: int,
    ) -> None:
        points = {v: Constant(norm.lower) for v, norm in norms.items() if norm.is_point}
        self.norms = norms
        self.box = {v: norm for v, norm in norms.items() if v not in points}
        self.ranges = {v: Range(norm.lower, norm.upper) for v, norm in self.box.items()}
        self.precision = precision
        at_points = simplify(substitute(loss.epsilon, points))
        self.loss = prune(at_points, {**self.ranges, W: Range(Fraction(1), None)})
        self.slope = None if W in deciding(self.loss) else derivative(self.loss, W)
        self.target = target
        self.odds = checked_target(target).at(precision).expm1()
        self.capped = largest is not None
        self.limit = LARGEST_WEIGHT if largest is None else checked_cap(largest)
        self.tight = simplify(substitute(self.loss, {W: ONE})) == Constant(target)  # ε(1) = ε* exactly

    def solved(self, shape: Convexity | None) -> ConstrainedWeight:
        """The weight, given what is proven of e^ε already."""
        if not self.tight:
            self.check_weight_one()
        if self.limit == 1:
            return self.at_limit()
        shape = convexity(self.loss, self.ranges) if shape is None else shape
        return self.by_convexity(shape) if shape.convex else self.by_steps()

    def check_weight_one(self) -> None:
        excess = enclose(self.loss, self.at(Enclosure.of(1, precision=self.precision)), precision=self.precision)
        answer = excess.less_equal(self.target)
        if answer is Truth.FALSE:
            raise InvalidValue(
                "target",
                f"{float(self.target):.17g}",
                f"at least the record's loss at weight 1, {excess}",
                "For the data's curator: raise the target, or clip or drop the records outside the public domain",
            )
        if answer is not Truth.TRUE:
            raise Undecided(
                f"whether the loss {excess} at weight 1 is at most the target {self.target} is undecided: give the "
                "norms exactly, or raise the precision or the target"
            )

    def at(self, weight: Enclosure) -> Mapping[Variable, Enclosure]:
        return {**self.box, W: weight}

    def excess(self, weight: Enclosure) -> Enclosure:
        """ε(w) − log(1 + c·w), at most 0 where w is feasible; comparing logarithms overflows nowhere."""
        bits = max(self.precision, weight.precision)
        return enclose(self.loss, self.at(weight), precision=bits) - (self.odds * weight).log1p()

    def infeasible(self, weight: Fraction) -> bool:
        return self.excess(self.point(weight)).greater(0) is Truth.TRUE

    def feasible_at(self, weight: Fraction) -> bool:
        return self.excess(self.point(weight)).less_equal(0) is Truth.TRUE

    def point(self, weight: Fraction) -> Enclosure:
        return Enclosure.of(weight, precision=self.precision)

    # Where e^ε is convex

    def by_convexity(self, shape: Convexity) -> ConstrainedWeight:
        start = self.start()
        if start is None:
            return self.at_one()
        if self.capped and self.feasible_at(Fraction(self.limit)):
            return self.at_limit()
        modulus = shape.modulus(self.loss, self.norms, precision=self.precision)
        bracket = None if modulus is None else self.bracket(modulus)
        end = self.infeasible_from(start)  # the bracket may end where e^ε is beyond any number format
        end = end if bracket is None else min(end, bracket.upper * _LOOSER)
        root = increasing_root(self.excess, start, end, precision=self.precision)
        weight = max(1.0, root.lower_float)
        if weight >= self.limit:
            return self.at_limit()
        return ConstrainedWeight(weight, reciprocal_below(weight), root, Reach.LARGEST, modulus, bracket)

    def at_one(self) -> ConstrainedWeight:
        """Weight 1, where the loss meets the target and no weight beyond is seen to be feasible."""
        one = self.point(Fraction(1))
        if self.tight and self.gain(one).greater_equal(0) is Truth.TRUE:  # line 7 of Algorithm 1
            return ConstrainedWeight(1.0, 1.0, one, Reach.LARGEST)
        return ConstrainedWeight(1.0, 1.0, None, Reach.FIRST_CROSSING)

    def start(self) -> Fraction | None:
        """A weight from 1 on where the loss is below the target, all weights up to it being feasible, or None."""
        for exponent in (None, *range(_START, _NEAREST)):
            weight = Fraction(1) if exponent is None else 1 + Fraction(1, 2**exponent)
            if self.excess(self.point(weight)).less(0) is Truth.TRUE:
                return weight
        return None

    def gain(self, weight: Enclosure) -> Enclosure:
        """ε'(w) − c/(1 + c·w), the derivative of the excess; at a tight w = 1 it is ε'(1) − (1 − e^−ε(1))."""
        assert self.slope is not None
        return enclose(self.slope, self.at(weight), precision=self.precision) - self.odds / (self.odds * weight + 1)

    def bracket(self, modulus: Enclosure) -> Enclosure:
        """Where Algorithm 1's bracket ends, corrected: 2((e^ε* − v̄)/μ + 1)."""
        assert self.slope is not None
        one = self.at(self.point(Fraction(1)))
        factor = enclose(self.loss, one, precision=self.precision).exp()
        slope = enclose(self.slope, one, precision=self.precision)
        least = (factor + modulus / 2).minimum(slope * factor + 1)
        return ((self.odds + 1 - least) / modulus + 1) * 2

    def infeasible_from(self, start: Fraction) -> Fraction:
        """An infeasible weight by doubling."""
        weight = 2 * start
        while not self.infeasible(weight):
            weight *= 2
            if weight > LARGEST_WEIGHT:
                self.at_limit()
        return weight

    # Where it is not proven

    def by_steps(self) -> ConstrainedWeight:
        """Interval after interval from 1 on, each proven feasible as a whole."""
        here, share, cap = Fraction(1), Fraction(1, 2**_START), Fraction(self.limit)
        for _ in range(_STEPS):
            if here == cap:
                return self.at_limit()
            there = min(self.rounded(here * (1 + share)), cap)
            if there > here and self.feasible_between(here, there):
                here, share = there, 2 * share
            else:
                share /= 2
            if share < Fraction(1, 2**_NEAREST):
                break
        beyond = here * (1 + Fraction(1, 2**50))
        root = None
        if here > 1 and self.infeasible(beyond):
            root = Enclosure.between(here, beyond, precision=self.precision)
        weight = max(1.0, Enclosure.of(here, precision=self.precision).lower_float)
        return ConstrainedWeight(weight, reciprocal_below(weight), root, Reach.FIRST_CROSSING)

    def rounded(self, weight: Fraction) -> Fraction:
        return Enclosure.of(weight, precision=self.precision).lower

    def feasible_between(self, low: Fraction, high: Fraction) -> bool:
        """Whether every weight between the two is proven feasible: by the values, or by value and slope."""
        piece = Enclosure.between(low, high, precision=self.precision)
        try:
            if self.excess(piece).less_equal(0) is Truth.TRUE:
                return True
            if self.slope is None:
                return False
            growth = self.gain(piece).maximum(0) * (high - low)
            first = self.excess(self.point(low)).minimum(0)  # `low` is feasible
        except OutsideDomain:
            return False
        return (first + growth).less_equal(0) is Truth.TRUE

    # Results

    def at_limit(self) -> ConstrainedWeight:
        if not self.capped:
            raise InvalidValue(
                "largest",
                None,
                "a cap on the weight",
                "No infeasible weight was found: the loss grows too slowly for Assumption 9",
            )
        return ConstrainedWeight(self.limit, reciprocal_below(self.limit), None, Reach.CAPPED)
