"""(ε, δ) in whole units of probability: what two neighbouring rows of a table may differ by, in integers.

Legend: a probability is a whole number of units of 2^−K; G = N/2^K ≤ e^ε with N whole; Δ ≤ δ·2^K whole.

With Pr[T] ≤ G·Pr'[T] + Δ/2^K for every event T, (ε, δ)-DP holds, as G ≤ e^ε and Δ/2^K ≤ δ. Both sides are rational, so
the comparison is exact. K = 52 + ⌈log₂(1/δ)⌉ makes Δ at least 2^52 (rounding δ down costs at most 2^−52 of it), and G
with K fractional bits costs e^ε at most 2^−K, which over the at most 1/(2δ) steps of growth is again at most 2^−52.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import floor
from typing import final

from attrs import field, frozen

from ...enclosures import Enclosure
from ...enclosures.arguments import whole
from ...errors import InvalidValue
from ...units import Delta, Epsilon

_BITS = 52
_GUARD = 16
_LONGEST_SUBDIVISION = 64


@final
@frozen(kw_only=True)
class DyadicBudget:
    """ε and δ as whole numbers, rounded to the safe side.

    Args:
        epsilon: ε ≥ 0.
        delta: δ, above 0: at δ = 0 no key may ever be reported.
        subdivision: r ≥ 0, at most 64: each frequency brings 2^r tokens; units are 2^r times as fine.

    Raises:
        InvalidValue, InvalidType: at δ = 0, and for another subdivision.
    """

    epsilon: Epsilon
    delta: Delta
    subdivision: int = field(default=0)

    def __attrs_post_init__(self) -> None:
        if not self.delta.value:
            raise InvalidValue("delta", 0, "0 < δ ≤ 1", "At δ = 0 no key may ever be reported")
        if whole("subdivision", self.subdivision, 0) > _LONGEST_SUBDIVISION:
            raise InvalidValue("subdivision", self.subdivision, f"at most {_LONGEST_SUBDIVISION}")

    @property
    def tokens(self) -> int:
        """2^r: how many tokens each frequency brings."""
        return 1 << self.subdivision

    @cached_property
    def bits(self) -> int:
        """K: probabilities are whole numbers of 2^−K; 52 + ⌈log₂(1/δ)⌉ + r."""
        inverse = 1 / self.delta.value
        return _BITS + (-(-inverse.numerator // inverse.denominator) - 1).bit_length() + self.subdivision

    @property
    def certain(self) -> int:
        """How many units make the probability 1: 2^K."""
        return 1 << self.bits

    @cached_property
    def allowance(self) -> int:
        """Δ: δ in units, rounded down to a multiple of 2^r."""
        return floor(self.delta.value * (self.certain >> self.subdivision)) << self.subdivision

    @cached_property
    def growth(self) -> int:
        """N = G·2^K: e^ε rounded down to K fractional bits, and no larger than 2^K."""
        precision = 2 * self.bits + _GUARD
        largest = Fraction(self.bits)  # e^K > 2^K: from one unit everything may follow
        factor = Enclosure.of(min(self.epsilon.value, largest), precision=precision).exp().lower
        return min(floor(factor * self.certain), self.certain << self.bits)

    def grown(self, units: int) -> int:
        """The largest whole number of at most G·units."""
        return units * self.growth >> self.bits

    def shrunk(self, units: int) -> int:
        """The least whole number whose product with G is at least `units`."""
        return -((-units << self.bits) // self.growth)

    def beyond(self, one: int, other: int) -> int:
        """max(0, one − G·other), in units of 2^−2K."""
        return max(0, (one << self.bits) - self.growth * other)

    def reported(self, before: int, kept: int) -> int:
        """The most units that a key may be reported with at the next frequency (PWS Algorithm 3).

        Args:
            before: units it is reported with at this frequency.
            kept: units the sampler keeps it with at the next one.

        Guarantees:
            The largest R ≤ `kept` with R ≤ G·before + Δ and 2^K − before ≤ G·(2^K − R) + Δ.
        """
        withheld = self.shrunk(max(0, self.certain - before - self.allowance))
        return min(kept, self.grown(before) + self.allowance, self.certain - withheld)

    def ample(self, before: int, kept: int) -> bool:
        """Whether all that is kept may be reported with room for the rounding of both rates.

        Args:
            before: q_{i−1} in units, rounded down, all of which is reported.
            kept: q_i in units, rounded down.

        Guarantees:
            Where it is so, q_i − G·(q_{i−1} − 1) ≤ Δ and 1 − q_{i−1} + 1 − G·(1 − q_i) ≤ Δ in units, for the rates as
            real numbers.
        """
        upward = (kept + 1 - self.allowance << self.bits) <= self.growth * (before - 1)
        withheld = self.certain - before + 1 - self.allowance
        return upward and withheld << self.bits <= self.growth * (self.certain - kept - 1)

    def probability(self, units: int) -> Fraction:
        """Return the probability that is so many units, exactly."""
        return Fraction(units, self.certain)
