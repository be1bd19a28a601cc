"""How often a run is repeated: random numbers whose law is public, and what they make of a dominating pair.

Legend: K is the number of repetitions, f(z) = E[z^K]. η is the shape of the negative binomial law, γ = e^−t the
probability with which it stops, k = η + 1. For the rest see `tilts`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias, final

from attrs import field, frozen

from ..draws.exact import LazyNumber
from ..draws.source import Source
from ..enclosures import Enclosure
from ..enclosures.roots import increasing_root
from ..errors import InvalidValue
from ..exact import Number
from ..pairs.smallest_epsilon import smallest_epsilon
from ..provenance import Public, declared_number
from .tilts import Line, Tilts

Profile: TypeAlias = Callable[[Enclosure], Enclosure]
"""δ(x) of the second of two laws from the first, at x ≥ 0: s' ≤ e^x·s + δ(x)."""

_WORD = 64
_ROOT_BITS = 28
_LONGEST = 2.0**10  # of t
_LARGE = 700.0  # e^700 is a binary64 number
_BISECTIONS = 200
_MOST = 10**9
_LARGEST_SHAPE = 10**6


def _public(value: Public[Number], name: str, admits: Callable[[Fraction], bool], admissible: str) -> Public[Fraction]:
    result = declared_number(value, admits, admissible, parameter=name)
    if not isinstance(result, Public):
        raise InvalidValue(name, value, "a Public value", "The law of the repetitions is fixed before the data")
    return result


def _times(value: Public[Number]) -> Public[Fraction]:
    admissible = f"a whole number from 1 to {_MOST}"
    return _public(value, "times", lambda times: times.denominator == 1 and 1 <= times <= _MOST, admissible)


def _mean_above_one(value: Public[Number]) -> Public[Fraction]:
    return _public(value, "mean", lambda mean: 1 < mean <= _MOST, f"a number above 1, at most {_MOST}")


def _mean(value: Public[Number]) -> Public[Fraction]:
    return _public(value, "mean", lambda mean: 0 < mean <= _MOST, f"a number above 0, at most {_MOST}")


def _shape(value: Public[Number]) -> Public[Fraction]:
    return _public(value, "shape", lambda shape: -1 < shape <= _LARGEST_SHAPE, "a number above -1, at most 1000000")


def _log_mean(t: float, shape: float) -> float:
    """About log E[K] of the negative binomial law."""
    grown = t + math.log(-math.expm1(-t))
    if not shape:
        return grown - math.log(t)
    exponent = -shape * t
    if exponent > _LARGE:
        return grown - exponent + math.log(-shape)
    return grown - math.log(math.expm1(exponent) / -shape)


class Repetitions(ABC):
    """The law of the number of repetitions; base class.

    Attributes:
        name: as on the command line.
    """

    name: ClassVar[str]

    @abstractmethod
    def drawn(self, source: Source) -> int:
        """A number of repetitions, of exactly this law given uniform bits."""


@final
@frozen(kw_only=True)
class FixedRepetitions(Repetitions):
    """A number that is fixed beforehand: what all repetitions tell together covers the best of them.

    Attributes:
        times: how many; a whole number from 1 to 10^9.

    Raises:
        InvalidValue: for anything else.
    """

    name = "fixed"

    times: Public[Fraction] = field(
        converter=_times,
        metadata={"help": "how many repetitions"},
    )

    def drawn(self, source: Source) -> int:
        """Return the number itself."""
        return int(self.times.value)

    def __str__(self) -> str:
        return f"{self.times.value} repetitions"


class RandomRepetitions(Repetitions):
    """A number that is drawn, and never told; base class.

    Attributes:
        mean: E[K], above 0.
    """

    mean: Public[Fraction]

    def mean_at(self, precision: int) -> Enclosure:
        """Return E[K], as stated."""
        return Enclosure.of(self.mean.value, precision=precision)

    @abstractmethod
    def none_at(self, precision: int) -> Enclosure:
        """Return the probability of no repetition."""

    @property
    @abstractmethod
    def level(self) -> float:
        """About the δ(x) below which the tilts stay near 1."""

    @abstractmethod
    def first(self, profile: Profile, precision: int) -> tuple[Fraction, Fraction]:
        """Some x, and a slope m with c ≥ m·a for all tilts: the largest but for rounding, which x gives."""

    @abstractmethod
    def steepness(self, x: float, delta: float, s: float) -> float:
        """About the slope of c over a at s, where s' = e^x·s + δ."""

    @abstractmethod
    def line(self, x: Fraction, delta: Enclosure, slope: Fraction) -> Line | None:
        """The highest line of this slope below c, where s' ≤ e^x·s + δ; None where no line below c is known."""

    def moment(self, order: Fraction, tilts: Tilts, profile: Profile) -> Enclosure:
        """The logarithm of the largest a^λ·c^(1−λ) at an order λ > 1, as an upper bound."""
        return tilts.moment(order)

    @abstractmethod
    def _least(self, precision: int) -> tuple[int, Enclosure]:
        """The least value of K, and its probability."""

    @abstractmethod
    def _ratio(self, count: int, precision: int) -> Enclosure:
        """P(K = count + 1)/P(K = count)."""

    def drawn(self, source: Source) -> int:
        """A number of repetitions, of exactly this law given uniform bits: the first whose P(K ≤ k) is above them.

        It takes a time that grows with the number.
        """
        number = LazyNumber(int(source.bits(1)[0]), _WORD, source)
        sums: dict[int, list[tuple[Enclosure, Enclosure]]] = {}
        count, _ = self._least(_WORD)
        least = count

        def below(precision: int) -> Enclosure:
            known = sums.setdefault(precision, [(first := self._least(precision)[1], first)])
            while len(known) <= count - least:
                term = known[-1][0] * self._ratio(least + len(known) - 1, precision)
                known.append((term, known[-1][1] + term))
            return known[count - least][1]

        while not number.below(below):
            count += 1
        return count


@final
@frozen(kw_only=True)
class NegativeBinomialRepetitions(RandomRepetitions):
    """The truncated negative binomial law: P(K = k) ∝ (1 − γ)^k·∏_{l<k} (l + η)/(l + 1), k ≥ 1.

    Attributes:
        mean: E[K]; above 1, at most 10^9. It fixes γ.
        shape: η; above −1, at most 10^6. 1 is the geometric law, 0 the logarithmic one; smaller ones cost less at the
            same mean, and are more spread.

    Raises:
        InvalidValue: for other numbers, and for shapes so near −1 that γ is below e^−1024.

    Source: Papernot, Steinke 2022, Definition 1.
    """

    name = "negative-binomial"

    mean: Public[Fraction] = field(
        converter=_mean_above_one,
        metadata={"help": "mean number of repetitions, above 1"},
    )
    shape: Public[Fraction] = field(
        default=Public(Fraction(1)),
        converter=_shape,
        metadata={"help": "shape of the law: 1 is geometric, 0 logarithmic"},
    )

    def __attrs_post_init__(self) -> None:
        _ = self._guess

    @property
    def _power(self) -> Fraction:
        return self.shape.value + 1

    def _mean_of(self, t: Enclosure) -> Enclosure:
        """E[K] where γ = e^−t: it grows with t."""
        shape = self.shape.value
        return t.expm1() / t if not shape else t.expm1() * shape / -(t * -shape).expm1()

    @cached_property
    def _guess(self) -> float:
        """About t, by bisection."""
        mean, shape = float(self.mean.value), float(self.shape.value)

        def above(t: float) -> bool:
            return _log_mean(t, shape) > math.log(mean)

        low, high = 0.0, _LONGEST
        if not above(high):
            remedy = "Take a smaller mean, or a larger shape"
            raise InvalidValue("shape", float(shape), "one with which the mean is that of a stop above e^-1024", remedy)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if above(middle) else (middle, high)
        return high

    def stop_at(self, precision: int) -> Enclosure:
        """γ, the probability with which it stops."""
        mean = self.mean.value
        if self.shape.value == 1:
            return Enclosure.of(1 / mean, precision=precision)
        return (-self._exponent(precision)).exp()

    def _exponent(self, precision: int) -> Enclosure:
        """t."""
        if self.shape.value == 1:
            return Enclosure.of(self.mean.value, precision=precision).log()
        guess = self._guess

        def excess(t: Enclosure) -> Enclosure:
            return self._mean_of(t.at(2 * precision)) - self.mean.value

        root = increasing_root(excess, Fraction(guess) / 2, 2 * Fraction(guess), precision=precision, guess=guess)
        return root.at(precision)

    def none_at(self, precision: int) -> Enclosure:
        """Return 0: the law is truncated."""
        return Enclosure.of(0, precision=precision)

    @property
    def level(self) -> float:
        """Return γ: tilts are (γ/(γ + (1 − γ)s))^k."""
        return math.exp(-self._guess)

    def first(self, profile: Profile, precision: int) -> tuple[Fraction, Fraction]:
        """The least x with (1 − γ)·δ(x) ≤ γ·(e^x − 1): then γ + (1 − γ)s' ≤ e^x·(γ + (1 − γ)s), and m = e^−kx."""
        stop = self.stop_at(precision)

        def law(x: Enclosure) -> Enclosure:
            return (stop + (1 - stop) * profile(x)) * (-x).exp()

        x = smallest_epsilon(law, stop, precision=_ROOT_BITS).upper
        return x, (Enclosure.of(-x, precision=precision) * self._power).exp().lower

    def steepness(self, x: float, delta: float, s: float) -> float:
        """About the slope, e^x·(p/p')^(k+1) for p = γ + (1 − γ)s."""
        stop = self.level
        one, other = stop + (1 - stop) * s, stop + (1 - stop) * (math.exp(x) * s + delta)
        return math.exp(x + (float(self._power) + 1) * math.log(one / other))

    def line(self, x: Fraction, delta: Enclosure, slope: Fraction) -> Line | None:
        """The tangent: with p' ≤ αp + β, α = e^x, β < 0, c = (γ/p')^k is convex in a = (γ/p)^k.

        Its slope α(p/p')^(k+1) is m where p/p' = ρ = (m/α)^(1/(k+1)), at p = −ρβ/(ρα − 1).
        """
        bits, power = delta.precision, self._power
        stop = self.stop_at(bits)
        alpha = Enclosure.of(x, precision=bits).exp()
        beta = (1 - stop) * delta - stop * Enclosure.of(x, precision=bits).expm1()
        ratio = (Enclosure.of(slope, precision=bits) / alpha).power(1 / (power + 1))
        above = ratio * alpha - 1
        if beta.upper >= 0 or above.lower <= 0:
            return None
        touched = -ratio * beta / above
        a, c = (stop / touched).power(power), (stop * ratio / touched).power(power)
        return Line(slope, min((c - a * slope).lower, Fraction(0)), x)

    def _least(self, precision: int) -> tuple[int, Enclosure]:
        return 1, (-self._exponent(precision) * self._power).exp() * self.mean.value

    def _ratio(self, count: int, precision: int) -> Enclosure:
        return (1 - self.stop_at(precision)) * ((count + self.shape.value) / (count + 1))

    def __str__(self) -> str:
        return f"negative binomial repetitions of mean {self.mean.value}, shape {self.shape.value}"


@final
@frozen(kw_only=True)
class PoissonRepetitions(RandomRepetitions):
    """The Poisson law; where no repetition is drawn, that is told, and nothing else.

    Attributes:
        mean: E[K]; above 0, at most 10^9.

    Raises:
        InvalidValue: for other numbers.

    Source: Papernot, Steinke 2022, Theorem 6; Koskela, Redberg, Wang 2024.
    """

    name = "poisson"

    mean: Public[Fraction] = field(
        converter=_mean,
        metadata={"help": "mean number of repetitions, above 0"},
    )

    def none_at(self, precision: int) -> Enclosure:
        """Return the probability of no repetition, e^−mean."""
        return (-self.mean_at(precision)).exp()

    @property
    def level(self) -> float:
        """Return one over the mean: tilts are e^(−mean·s)."""
        return float(1 / self.mean.value)

    def first(self, profile: Profile, precision: int) -> tuple[Fraction, Fraction]:
        """x = 0: s' ≤ s + δ(0), and m = e^(−mean·δ(0))."""
        most = profile(Enclosure.of(0, precision=precision)).upper
        return Fraction(0), Enclosure.of(-self.mean.value * most, precision=precision).exp().lower

    def steepness(self, x: float, delta: float, s: float) -> float:
        """α·e^(−mean·(δ + (α − 1)s)), α = e^x."""
        return math.exp(x - float(self.mean.value) * (delta + math.expm1(x) * s))

    def line(self, x: Fraction, delta: Enclosure, slope: Fraction) -> Line | None:
        """The tangent: c ≥ b·a^α with α = e^x > 1, b = e^(−mean·δ).

        Its slope αb·a^(α−1) is m at a = (m/(αb))^(1/(α−1)), where the line is lower by (1 − 1/α)·m·a than through 0.
        """
        if x <= 0:
            return None
        exponent = Enclosure.of(x, precision=delta.precision)
        grown = exponent.expm1()  # α − 1
        log_ratio = Enclosure.of(slope, precision=delta.precision).log() - exponent + delta * self.mean.value
        a = (log_ratio / grown).exp()
        return Line(slope, (a * slope * (-exponent).expm1()).lower, x)

    def moment(self, order: Fraction, tilts: Tilts, profile: Profile) -> Enclosure:
        """Also (λ − 1)·mean·δ(x) for x = log(λ/(λ − 1)): where c ≥ b·a^α, a's exponent is λ − (λ − 1)α, 0 there."""
        ratio = Enclosure.of(order / (order - 1), precision=tilts.precision)
        x = Enclosure.of(ratio.log().lower, precision=tilts.precision)  # for smaller ones it is above 0, and a ≤ 1
        return tilts.moment(order).minimum(profile(x) * (self.mean.value * (order - 1)))

    def _least(self, precision: int) -> tuple[int, Enclosure]:
        return 0, self.none_at(precision)

    def _ratio(self, count: int, precision: int) -> Enclosure:
        return Enclosure.of(self.mean.value / (count + 1), precision=precision)

    def __str__(self) -> str:
        return f"Poisson repetitions of mean {self.mean.value}"
