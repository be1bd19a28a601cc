"""The largest feasible weight of a record with any PDP profile ε(w, x): IS Algorithm 1, corrected and proven.

Legend: c = e^ε* − 1; weight w is feasible where ε(w) ≤ log(1 + c·w), that is ψ ≤ ε* at rate 1/w. Where e^ε is convex
the feasible weights are those from 1 to the last root. Three printed lines do not hold and are replaced: the bracket
ends at 2((e^ε* − v̄)/μ + 1) (IS-A1-line6), the root 1 is left behind where ε'(1) < 1 − e^−ε(1) (IS-A1-line7), and what
is returned is the feasible end of the last bracket (IS-bisection).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NoReturn, TypeAlias, final

import numpy as np
from attrs import frozen

from ..enclosures import Enclosure, Truth, increasing_root
from ..errors import InvalidValue, OutsideDomain, Undecided
from ..exact import Floats
from ..expressions import (
    ONE,
    ZERO,
    Constant,
    Expression,
    Range,
    Variable,
    W,
    deciding,
    derivative,
    enclose,
    prune,
    simplify,
    substitute,
    variables,
)
from ..sampling.losses import PureLoss
from .convexity import Convexity, convexity
from .guesses import crossings
from .linear import LARGEST_WEIGHT, FeasibleWeights, checked_cap, checked_target, reciprocal_below
from .reach import REACHES, Reach

_PRECISION = 192
_START = 4  # the first step away from weight 1 is 2^-4, relatively
_NEAREST = 60
_STEPS = 4000
_Key: TypeAlias = frozenset[tuple[Variable, Enclosure]]
_LOOSER = 1 + Fraction(1, 2**40)
_BEYOND = tuple(1 + Fraction(1, 2**bits) for bits in range(50, -1, -1))
"""Where an infeasible weight beyond the last proven one is looked for."""
_NEAR = 2.0**-42
_NEAR_PRECISION = 96
_BATCH = 1 << 12
_MOST_KNOWN = 1 << 16


@final
@frozen
class ConstrainedWeight:
    """The weight that keeps one record within a target.

    Attributes:
        weight: binary64, ≥ 1; every weight from 1 to it is proven feasible. inf where the record loses nothing and no
            cap is set: it is never drawn.
        probability: the binary64 nearest to 1/weight, or the next one below where the nearest one is above it; to be
            drawn exactly.
        root: where the largest feasible weight lies, or the first crossing; None where a cap came first, or no
            infeasible weight was found.
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
        """A bound of the relative distance between the weight and the root; 0 at a cap, inf where no root is known."""
        if self.root is None:
            return math.inf if self.reach is Reach.FIRST_CROSSING else 0.0
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
        target: ε*, from 2^-40 to 1024.
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
    problem = _Problem(loss, norms, target, largest, precision)
    problem.check_weight_one("the record's")
    return problem.solved(None)


def constrained_weights(
    loss: PureLoss,
    norms: Callable[[int], Mapping[Variable, Enclosure]],
    size: int,
    target: Fraction,
    *,
    public: Mapping[Variable, Range] | None = None,
    largest: float | None = None,
    drawable: bool = False,
    first: int = 0,
    precision: int = _PRECISION,
) -> FeasibleWeights:
    """`constrained_weight` of many records; records with equal norms are solved once.

    A record's weight depends on its own norms and the public arguments alone, as Theorem 10 requires.

    Args:
        loss: the profile ε(W, x); for one that is linear in W `largest_weights` is a thousand times faster.
        norms: for the index of a record, enclosures of its norms.
        size: number of records.
        target: ε*.
        public: public ranges of all the norms; where e^ε is proven convex over all of them, a record takes two
            evaluations near a guess in floats.
        largest: a cap on the weights.
        drawable: whether ε(1, x) ≤ ε* is proven for every record, for instance over their public domain.
        first: number of the first record in the data set, for messages.
        precision: working precision in bits.

    Raises:
        As `constrained_weight`; the first record refused ends the run.
        InvalidValue: for a norm outside its public range.
    """
    weight, probability = np.empty(size), np.empty(size)
    reach = np.empty(size, dtype=np.uint8)
    shape = None if public is None else _public_shape(loss, public)
    near = None if shape is None or public is None else _Near(loss, public, target, largest, drawable)
    known: dict[_Key, ConstrainedWeight] = {}
    gap = 0.0
    for start in range(0, size, _BATCH):
        boxes = [norms(index) for index in range(start, min(start + _BATCH, size))]
        keys = [frozenset(box.items()) for box in boxes]
        known = {} if len(known) > _MOST_KNOWN else known
        fresh = [place for place, key in enumerate(keys) if key not in known]
        guesses = None if near is None else near.guesses([boxes[place] for place in fresh])
        for rank, place in enumerate(fresh):
            index, box, key = start + place, boxes[place], keys[place]
            if public is not None:
                _check_public(first + index, box, public)
            if key in known:
                continue
            found = None if near is None or guesses is None else near.solved(box, float(guesses[rank]))
            if found is None:
                problem = _Problem(loss, box, target, largest, precision)
                if not drawable:
                    problem.check_weight_one(f"record {first + index}'s")
                found = problem.solved(shape)
            known[key] = found
            gap = max(gap, found.gap)
        for place, key in enumerate(keys):
            found = known[key]
            weight[start + place], probability[start + place] = found.weight, found.probability
            reach[start + place] = REACHES.index(found.reach)
    return FeasibleWeights(weight, probability, gap, size, reach)


class _Near:
    """Records for which e^ε is convex: ε − log(1 + c·w) at two weights encloses the last feasible one."""

    def __init__(
        self, loss: PureLoss, public: Mapping[Variable, Range], target: Fraction, largest: float | None, drawable: bool
    ) -> None:
        self.loss: Expression = prune(loss.epsilon, {**public, W: Range(Fraction(1), None)})
        self.odds = checked_target(target).at(_NEAR_PRECISION).expm1()
        self.capped = largest is not None
        self.limit = LARGEST_WEIGHT if largest is None else checked_cap(largest)
        self.drawable = drawable

    def guesses(self, boxes: list[Mapping[Variable, Enclosure]]) -> Floats:
        used = variables(self.loss) - {W}
        norms = {v: np.array([float(box[v].upper_float) for box in boxes]) for v in used}
        return crossings(self.loss, norms, self.odds, self.limit, len(boxes))

    def solved(self, box: Mapping[Variable, Enclosure], guess: float) -> ConstrainedWeight | None:
        """The weight, if the guess is good."""
        if not (self.drawable or self.excess(box, 1.0).less_equal(0) is Truth.TRUE):
            return None
        if guess >= self.limit * (1.0 - _NEAR):
            if self.capped and self.excess(box, self.limit).less_equal(0) is Truth.TRUE:
                return ConstrainedWeight(self.limit, reciprocal_below(self.limit), None, Reach.CAPPED)
            return None
        low, high = guess * (1.0 - _NEAR), guess * (1.0 + _NEAR)
        if low <= 1.0 or self.excess(box, low).less_equal(0) is not Truth.TRUE:
            return None
        if self.excess(box, high).greater(0) is not Truth.TRUE:
            return None
        root = Enclosure.between(low, high, precision=_NEAR_PRECISION)
        return ConstrainedWeight(low, reciprocal_below(low), root, Reach.LARGEST)

    def excess(self, box: Mapping[Variable, Enclosure], weight: float) -> Enclosure:
        at = Enclosure.of(weight, precision=_NEAR_PRECISION)
        return enclose(self.loss, {**box, W: at}, precision=_NEAR_PRECISION) - (self.odds * at).log1p()


def _public_shape(loss: PureLoss, public: Mapping[Variable, Range]) -> Convexity | None:
    """What is proven of e^ε for every record; None where it is not convex for all."""
    shape = convexity(prune(loss.epsilon, {**public, W: Range(Fraction(1), None)}), public)
    return shape if shape.convex else None


def _check_public(index: int, box: Mapping[Variable, Enclosure], public: Mapping[Variable, Range]) -> None:
    for variable, side in public.items():
        given = box.get(variable)
        low = given is not None and (side.lower is None or side.lower <= given.lower)
        high = given is not None and (side.upper is None or given.upper <= side.upper)
        if not (low and high):
            raise InvalidValue(
                variable.name,
                f"{given} of record {index}",
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
        """The weight, given what is proven of e^ε already; weight 1 is feasible."""
        if self.loss == ZERO and not self.capped:
            return ConstrainedWeight(math.inf, 0.0, None, Reach.NEVER_DRAWN)
        if self.limit == 1:
            return self.at_limit()
        shape = convexity(self.loss, self.ranges) if shape is None else shape
        return self.by_convexity(shape) if shape.convex else self.by_steps()

    def check_weight_one(self, whose: str) -> None:
        if self.tight:
            return
        excess = enclose(self.loss, self.at(Enclosure.of(1, precision=self.precision)), precision=self.precision)
        answer = excess.less_equal(self.target)
        if answer is Truth.FALSE:
            raise InvalidValue(
                "target",
                f"{float(self.target):.17g}",
                f"at least {whose} loss at weight 1, {excess}",
                "For the data's curator: raise the target, or clip or drop the records outside the public domain",
            )
        if answer is not Truth.TRUE:
            raise Undecided(
                f"whether {whose} loss {excess} at weight 1 is at most the target {self.target} is undecided: give the "
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
        infeasible = self.infeasible_from(start)  # the bracket may end where e^ε is beyond any number format
        if infeasible is None:
            return self.at_limit()
        end = infeasible if bracket is None else min(infeasible, bracket.upper * _LOOSER)
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

    def infeasible_from(self, start: Fraction) -> Fraction | None:
        """An infeasible weight by doubling; None where there is none in range, though the loss may grow."""
        weight = 2 * start
        while not self.infeasible(weight):
            weight *= 2
            if weight > LARGEST_WEIGHT:
                self.check_growth()
                return None
        return weight

    def check_growth(self) -> None:
        """Refuse a loss that does not grow where there is no cap: all of a record's weights are feasible then."""
        assert self.slope is not None
        slope = enclose(self.slope, self.at(self.point(Fraction(1))), precision=self.precision)
        if not self.capped and slope.less_equal(0) is Truth.TRUE:
            self.refuse_without_cap()

    # Where it is not proven

    def by_steps(self) -> ConstrainedWeight:
        """Interval after interval from 1 on, each proven feasible as a whole."""
        here, share, cap = Fraction(1), Fraction(1, 2**_START), Fraction(self.limit)
        for _ in range(_STEPS):
            if here == cap:
                if not self.capped:
                    self.refuse_without_cap()
                return self.at_limit()
            there = min(self.rounded(here * (1 + share)), cap)
            if there > here and self.feasible_between(here, there):
                here, share = there, 2 * share
            else:
                share /= 2
            if share < Fraction(1, 2**_NEAREST):
                break
        beyond = next((here * factor for factor in _BEYOND if self.infeasible(here * factor)), None)
        root = None if beyond is None else Enclosure.between(here, beyond, precision=self.precision)
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
        return ConstrainedWeight(self.limit, reciprocal_below(self.limit), None, Reach.CAPPED)

    def refuse_without_cap(self) -> NoReturn:
        raise InvalidValue(
            "largest",
            None,
            "a cap on the weight",
            "No infeasible weight was found: the loss grows too slowly for Assumption 9",
        )
