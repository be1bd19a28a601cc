"""Two laws on finitely many outputs, given by exact tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Any, TypeAlias, final

from attrs import field, frozen

from ..enclosures import DEFAULT_PRECISION, Enclosure
from ..enclosures.arguments import non_negative, order_above_one, probability, whole
from ..enclosures.enclosure import checked_precision
from ..enclosures.monotone import decreasing, sharp
from ..errors import InvalidType, InvalidValue, OutsideDomain
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import finite_cells
from ..relations import Direction
from .laws import DeltaLaw, LossCells, PureLaw, RenyiLaw
from .pair import Pair, Repeated, checked_pair, larger_pure_loss, smallest
from .randomised_response import RandomisedResponsePair

Table: TypeAlias = tuple[Fraction, ...]
"""The probabilities of the outputs; they sum to 1."""

_MOST_OUTPUTS = 1000
_MOST_BITS = 2**14
"""Of the denominators of a table: longer fractions take minutes."""


def _check(name: str, value: Any) -> None:
    """Refuse what is no exact table of probabilities."""
    remedy = "Write exact(p) for each probability."
    if not isinstance(value, tuple) or not all(isinstance(p, Fraction) for p in value):
        raise InvalidType(name, value, "a tuple of Fractions", remedy)
    if any(p < 0 for p in value) or sum(value) != 1:
        raise InvalidValue(name, value, "probabilities ≥ 0 that sum to exactly 1", remedy)


@final
@frozen
class FinitePair(Pair):
    """P and Q on the outputs 0, 1, …, n − 1.

    Attributes:
        present: P, exactly.
        absent: Q, exactly.
        precision: bits of the results.
        dominating: another pair that dominates what this one does, where one is known; its ρ and μ count if smaller.

    Raises:
        InvalidValue: for tables of different lengths, below 0, or whose sum is not exactly 1. InvalidType: for tables
            that are no tuples of Fractions.
    """

    present: Table
    absent: Table
    precision: int = field(default=DEFAULT_PRECISION, kw_only=True)
    dominating: Pair | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _check("present", self.present)
        _check("absent", self.absent)
        if len(self.present) != len(self.absent):
            raise InvalidValue("absent", self.absent, f"as many outputs as present: {len(self.present)}")
        if self.dominating is not None:
            checked_pair("dominating", self.dominating)
        checked_precision(self.precision)

    def hockey_stick(self, factor: Fraction, direction: Direction) -> Fraction:
        """δ at a rational e^ε = factor ≥ 0, exactly."""
        first, second = self._laws(direction)
        return sum((max(p - factor * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))

    def greatest_ratio(self, direction: Direction) -> Fraction | None:
        """e^ε of the pure loss, exactly; None where a probability faces a 0."""
        first, second = self._laws(direction)
        if any(p and not q for p, q in zip(first, second, strict=True)):
            return None
        return max(p / q for p, q in zip(first, second, strict=True) if q)

    @property
    def pure(self) -> PureLaw | None:
        """The logarithm of the largest ratio; None unless both directions are finite."""
        return None if any(self.greatest_ratio(direction) is None for direction in Direction) else self._pure

    @property
    def delta(self) -> DeltaLaw:
        """Hockey-stick divergence of the two tables: δ(ε) = Σ_o [P(o) − e^ε·Q(o)]₊."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution of the outputs is found that swaps both tables."""
        return Counter(zip(self.present, self.absent, strict=True)) == Counter(
            zip(self.absent, self.present, strict=True)
        )

    @property
    def renyi(self) -> RenyiLaw | None:
        """log Σ_o P(o)^α·Q(o)^{1−α}/(α − 1); None unless both directions are finite."""
        return None if any(self.greatest_ratio(direction) is None for direction in Direction) else self._renyi

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The ρ of randomised response with the same ε, or that of a pair known to dominate."""
        return smallest(pair.zero_concentrated for pair in self._bounding)

    @property
    def gaussian(self) -> Enclosure | None:
        """μ of Gaussian DP: that of randomised response with the same ε, or that of a pair known to dominate."""
        return smallest(pair.gaussian for pair in self._bounding)

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells: an atom for each output."""
        return self._cells

    def sampled(self, rate: Enclosure) -> Pair:
        """The mixture, exactly, where the rate is a single number; the pair that dominates is sampled as well."""
        if not probability("rate", rate).is_point:
            return super().sampled(rate)
        q = rate.lower
        mixed = tuple((1 - q) * b + q * a for a, b in zip(self.present, self.absent, strict=True))
        dominating = None if self.dominating is None else self.dominating.sampled(rate)
        return FinitePair(mixed, self.absent, precision=self.precision, dominating=dominating)

    def repeated(self, times: int) -> Pair:
        """The pair of all counts of outputs, exactly, where they and their digits are few enough; else a `Repeated`.

        The first is dominated by the second, whose ρ and μ are the composed ones.
        Outputs of equal P/Q are one output first: the ratio is all that tells P from Q. Tables too long that mirror
        each other are randomised response, whose repetition has laws of its own.
        """
        merged = self._merged()
        outputs = len(merged.present)
        if whole("times", times, 1) == 1:
            return self
        most = comb(times + outputs - 1, outputs - 1)
        digits = times * max(p.denominator.bit_length() for p in (*merged.present, *merged.absent))
        if most > _MOST_OUTPUTS or digits > _MOST_BITS:
            mirrored = outputs == 2 and merged.present == merged.absent[::-1]
            response = self._response if mirrored else None
            return Repeated(self, times) if response is None else response.repeated(times)
        counts = list(_counts(times, outputs))
        present, absent = (
            tuple(_multinomial(law, count) for count in counts) for law in (merged.present, merged.absent)
        )
        return FinitePair(present, absent, precision=self.precision, dominating=Repeated(self, times))

    def _cells(self, direction: Direction) -> Cells:
        return finite_cells(self.present, self.absent, direction)

    def _laws(self, direction: Direction) -> tuple[Table, Table]:
        return (self.present, self.absent) if direction is Direction.REMOVE else (self.absent, self.present)

    @property
    def _response(self) -> RandomisedResponsePair | None:
        loss = larger_pure_loss(self.pure)
        return None if loss is None else RandomisedResponsePair(loss)

    @property
    def _bounding(self) -> list[Pair]:
        """The pairs whose ρ and μ hold here."""
        return [pair for pair in (self._response, self.dominating) if pair is not None]

    def _merged(self) -> FinitePair:
        masses: dict[Fraction, tuple[Fraction, Fraction]] = {}
        for p, q in zip(self.present, self.absent, strict=True):
            if p or q:
                before = masses.get(p / (p + q), (Fraction(0), Fraction(0)))
                masses[p / (p + q)] = before[0] + p, before[1] + q
        present, absent = zip(*masses.values(), strict=True)
        return FinitePair(present, absent, precision=self.precision)

    def _pure(self, direction: Direction) -> Enclosure:
        ratio = self.greatest_ratio(direction)
        if ratio is None:
            raise OutsideDomain("the pure loss is infinite: an output is possible under one law only.")
        return Enclosure.of(ratio - 1, precision=self.precision).log1p()

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        first, second = self._laws(direction)
        outputs = [(p, q) for p, q in zip(first, second, strict=True) if p]

        def at(level: Enclosure) -> Enclosure:
            factor = level.exp()
            zero = Enclosure.of(0, precision=level.precision)
            return sum(((p - factor * q).maximum(0) for p, q in outputs), zero)

        level = non_negative("epsilon", epsilon).at(max(self.precision, epsilon.precision))
        return decreasing(at, level).minimum(1)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        alpha = order_above_one(order)
        first, second = self._laws(direction)
        outputs = [(p / q, q) for p, q in zip(first, second, strict=True) if p]

        def log_moment(at: Enclosure) -> Enclosure:
            zero = Enclosure.of(0, precision=at.precision)
            moment = sum((Enclosure.of(r, precision=at.precision).power(alpha) * q for r, q in outputs), zero)
            return moment.log()

        return sharp(log_moment, alpha, self.precision).maximum(0) / (alpha - 1)


def _counts(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as an ordered sum of `kinds` whole numbers ≥ 0."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in _counts(total - first, kinds - 1):
            yield first, *others


def _multinomial(law: Table, count: tuple[int, ...]) -> Fraction:
    """The probability of these counts of outputs."""
    chance, left = Fraction(1), sum(count)
    for p, n in zip(law, count, strict=True):
        if n:
            chance *= comb(left, n) * p**n
            left -= n
    return chance
