"""A few pairs that bound every record of a public domain.

A record's pair depends on one parameter of the mechanism's loss and on its sampling rate, and grows with both. So
the corner (largest parameter, largest rate) of a set of records bounds all of them, in every notion at once. The
domain is split only until each corner is reached by some record, nearly.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import count
from typing import TypeAlias, final

from attrs import frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue, OutsideDomain
from ..expressions import (
    ONE,
    Constant,
    Expression,
    Range,
    Symbol,
    Variable,
    W,
    enclose,
    substitute,
    symbol_range,
    variables,
)
from ..expressions.suprema import Point, supremum
from ..pairs import Pair
from .domains import NormBall
from .losses import Attained, Loss
from .rate import SamplingRate
from .theorem_6 import realised

Box: TypeAlias = Mapping[Variable, Range]

_NEAR = Fraction(1, 2**40)
_NONE = Fraction(0)
_NEVER = Constant(_NONE)  # its records have no weight, and lose nothing with any
_BUDGET = 48


@final
@frozen
class Case:
    """One pair before sampling, and the rate with which its record is sampled.

    Attributes:
        pair: the mechanism's pair about a record that is drawn.
        rate: enclosure of q.
    """

    pair: Pair
    rate: Enclosure


@final
@frozen
class WorstCases:
    """What bounds every record, and what some records reach.

    Attributes:
        bounding: every record of the domain is dominated by one of these.
        reached: each is dominated by some record of the domain; empty where a loss is known as a bound only.
    """

    bounding: tuple[Case, ...]
    reached: tuple[Case, ...]


def worst_cases(
    loss: Loss, rate: SamplingRate, domain: NormBall | None, *, precision: int = 128, joined: bool = False
) -> WorstCases:
    """The worst cases of a mechanism on a Poisson importance sample.

    Args:
        loss: what one record costs.
        rate: with what probability and weight it is drawn; every value within its rounding is covered.
        domain: the public domain; None only where neither depends on the record.
        precision: working precision in bits.
        joined: whether one case has to bound every record, for changes of several records.

    Raises:
        InvalidValue: where a norm occurs and there is no domain.
        NoFiniteSupremum: where a parameter grows without bound on the domain.
    """
    used = realised(rate)
    given = {W: ONE if rate.probability == _NEVER else used.weight}
    parameter = None if loss.parameter is None else substitute(loss.parameter, given)
    meaning, box = _coordinates([used.probability, *([] if parameter is None else [parameter])], domain, loss)

    def over(root: Expression, cell: Box) -> Enclosure:
        placed = substitute(root, meaning)
        return supremum(placed, {v: cell[v] for v in variables(placed)}, precision=precision, slack=_NONE).enclosure

    if parameter is None:
        known: dict[Expression, Enclosure] = {}

        def read(root: Expression) -> Enclosure:
            if root not in known:
                placed = substitute(substitute(root, given), meaning)
                extent = {v: box.get(v, symbol_range(v)) for v in variables(placed)}
                known[root] = Enclosure.of(supremum(placed, extent, precision=precision, slack=_NONE).enclosure.upper)
            return known[root]

        return WorstCases((Case(loss.pair(read), _highest(over(used.probability, box)).minimum(1)),), ())
    roots = substitute(parameter, meaning), substitute(used.probability, meaning)
    search = _Search(roots, domain, loss.attained, precision)
    bounding, reached = search.run(box)
    if joined:
        bounding = [(max(p for p, _ in bounding), max(q for _, q in bounding))]
    return WorstCases(
        tuple(Case(loss.pair(_constantly(_exactly(p, precision))), _exactly(q, precision)) for p, q in bounding),
        tuple(Case(loss.pair(_constantly(p)), q) for p, q in reached),
    )


def _coordinates(
    roots: Iterable[Expression], domain: NormBall | None, loss: Loss
) -> tuple[Mapping[Variable, Expression], Box]:
    occurring = frozenset[Variable]().union(*map(variables, roots), _features(loss))
    if domain is not None:
        return domain.box(occurring)
    norms = sorted(v.name for v in occurring if v.symbol is Symbol.NORM)
    if norms:
        raise InvalidValue(
            "radius",
            "nothing",
            "a public bound on the records",
            f"The loss depends on {', '.join(norms)} of a record: declare a public domain",
        )
    return {}, {v: symbol_range(v) for v in occurring}


def _features(loss: Loss) -> frozenset[Variable]:
    """The norms that a loss without a parameter depends on."""
    return frozenset(v for root in loss.features for v in variables(root) if v.symbol is Symbol.NORM)


def _constantly(value: Enclosure) -> _Constant:
    return _Constant(value)


@frozen
class _Constant:
    """Reads the one parameter of a loss."""

    value: Enclosure

    def __call__(self, _: Expression) -> Enclosure:
        return self.value


def _exactly(value: Fraction, precision: int) -> Enclosure:
    return _highest(Enclosure.of(value, precision=precision))


def _highest(value: Enclosure) -> Enclosure:
    """Return the enclosure of the upper end alone."""
    return Enclosure.of(value.upper, precision=value.precision)


_Corner: TypeAlias = tuple[Fraction, Fraction]
_Reached: TypeAlias = tuple[Enclosure, Enclosure]


class _Search:
    """Splits the domain until corners are met.

    Attributes:
        met: parameter and rate at some records, which tell how close corners are.
        reached: those of records that have exactly the loss's pair.
    """

    def __init__(
        self, roots: tuple[Expression, Expression], domain: NormBall | None, attained: Attained, precision: int
    ) -> None:
        self.roots = roots
        self.domain = domain
        self.attained = attained
        self.precision = precision
        self.met: list[_Reached] = []
        self.reached: list[_Reached] = []

    def run(self, box: Box) -> tuple[list[_Corner], list[_Reached]]:
        accepted: list[_Corner] = []
        ticket = count()
        queue: list[tuple[_Corner, int, Box]] = []

        def push(cell: Box) -> None:
            corner = self.examine(cell)
            heapq.heappush(queue, ((-corner[1], -corner[0]), next(ticket), cell))

        push(box)
        examined = 1
        while queue:
            (rate, parameter), _, cell = heapq.heappop(queue)
            corner = -parameter, -rate
            if any(_within(corner, other) for other in accepted):
                continue
            side = self._widest(cell)
            if side is None or examined >= _BUDGET or any(_within(corner, _loosened(r)) for r in self.met):
                accepted.append(corner)
                continue
            for half in _halves(cell, side):
                push(half)
                examined += 1
        kept = [c for i, c in enumerate(accepted) if not any(_within(c, o) for o in accepted[i + 1 :])]
        reached = list(dict.fromkeys(self.reached))
        return kept, [r for r in reached if not any(_below(r, other) for other in reached)]

    def examine(self, cell: Box) -> _Corner:
        """The corner of a cell; remembers what its likely maximisers reach."""
        tops: list[Fraction] = []
        likely: list[Point] = [{v: _largest(side) for v, side in cell.items()}]
        for root in self.roots:
            found = supremum(root, {v: cell[v] for v in variables(root)}, precision=self.precision, slack=_NONE)
            tops.append(max(found.enclosure.upper, Fraction(0)))
            if found.maximiser is not None:
                likely.append({**likely[0], **found.maximiser})
        for point in likely:
            self._meet(point)
        return tops[0], min(tops[1], Fraction(1))  # a rate is at most 1 by its structure

    def _meet(self, point: Point) -> None:
        """Remember what the record next to a point of the box, and the one on an axis, come to."""
        if self.domain is not None:
            point = self.domain.inside(point)
        on_axis = point if self.domain is None else _on_axis(point, self.domain)
        several = sum(v.symbol is Symbol.RATIO for v in point) > 1
        met = list(self._values(on_axis if several else point))  # several extremes at once may be no record's
        self.met.extend(met)
        match self.attained:
            case Attained.BY_ALL:
                self.reached.extend(met)
            case Attained.ON_AXES:
                self.reached.extend(self._values(on_axis))
            case Attained.BY_NONE:
                pass

    def _values(self, point: Point) -> Iterator[_Reached]:
        """Parameter and rate at a record, over every rounding."""
        bits = self.precision
        values = {v: Enclosure.of(x, precision=bits) for v, x in point.items()}
        for variable in frozenset[Variable]().union(*map(variables, self.roots)):
            if variable.symbol is Symbol.ROUNDING:
                values[variable] = Enclosure.between(-1, 1, precision=bits)
        try:
            parameter, rate = (enclose(root, values, precision=bits) for root in self.roots)
        except OutsideDomain:
            return  # such as the weight of a record that is never drawn
        yield parameter.maximum(0), rate.maximum(0).minimum(1)

    @staticmethod
    def _widest(cell: Box) -> Variable | None:
        wide = {v: _largest(side) - _smallest(side) for v, side in cell.items() if v.symbol is not Symbol.ROUNDING}
        open_sides = {v: width for v, width in wide.items() if width}
        return max(open_sides, key=lambda v: (open_sides[v], v.name)) if open_sides else None


def _on_axis(point: Point, domain: NormBall) -> Point:
    """A record of the domain with at most one coordinate other than 0, so that all its norms are equal."""
    norms = {v: min(value, domain.radius.value) for v, value in point.items() if v.symbol is Symbol.NORM}
    return {**point, **norms, **{v: Fraction(1) for v in point if v.symbol is Symbol.RATIO}}


def _largest(side: Range) -> Fraction:
    assert side.upper is not None
    return side.upper


def _smallest(side: Range) -> Fraction:
    assert side.lower is not None
    return side.lower


def _halves(cell: Box, side: Variable) -> Iterator[Box]:
    low, high = _smallest(cell[side]), _largest(cell[side])
    middle = (low + high) / 2
    yield {**cell, side: Range(low, middle)}
    yield {**cell, side: Range(middle, high)}


def _within(corner: _Corner, other: _Corner) -> bool:
    return corner[0] <= other[0] and corner[1] <= other[1]


def _loosened(reached: _Reached) -> _Corner:
    return reached[0].upper * (1 + _NEAR), reached[1].upper * (1 + _NEAR)


def _below(reached: _Reached, other: _Reached) -> bool:
    """Whether `reached` adds nothing to a lower bound beside `other`."""
    mine, theirs = (reached[0].lower, reached[1].lower), (other[0].lower, other[1].lower)
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


# One record in several releases: the worst records of two releases may be different ones, but a record on an axis, all
# of whose norms are equal, can be evaluated in every release; its losses compose to a lower bound of the run.


def case_on_axis(loss: Loss, rate: SamplingRate, size: Fraction, *, precision: int = 128) -> Case | None:
    """The pair about the record with one coordinate `size` and no other, and its sampling rate.

    Args:
        loss: what one record costs.
        rate: with what probability and weight it is drawn; every value within its rounding is covered.
        size: at least 0; where no norm occurs it does not matter.
        precision: working precision in bits.

    Guarantees: the record has exactly that pair and that rate, for numbers inside the enclosures. None where the loss
    only bounds its pair, or cannot be evaluated there.
    """
    if loss.parameter is None or loss.attained is Attained.BY_NONE:
        return None
    used = realised(rate)
    weight = ONE if rate.probability == _NEVER else used.weight
    parameter = substitute(loss.parameter, {W: weight})

    def at(root: Expression) -> Enclosure:
        place = {
            v: Enclosure.of(size, precision=precision)
            if v.symbol is Symbol.NORM
            else Enclosure.between(-1, 1, precision=precision)
            for v in variables(root)
        }
        return enclose(root, place, precision=precision)

    try:
        value, drawn = at(parameter).maximum(0), at(used.probability).maximum(0).minimum(1)
    except OutsideDomain:
        return None  # such as the weight of a record that is never drawn
    return Case(loss.pair(lambda _: value), drawn)
