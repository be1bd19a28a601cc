"""Draws whose distribution is exactly the one stated: uniform random bits and integer arithmetic, no floats.

After Canonne, Kamath, Steinke 2020 ("The discrete Gaussian for differential privacy", Algorithms 1 to 3): written
afresh, with comparisons of a lazily expanded uniform number in place of uniform integers where a ratio decides.
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

from ...accounting.draws.source import Source

_WORD = 64


@final
class ExactDraws:
    """Draws from a source of random bits.

    Args:
        source: where the bits come from.
        block: 64-bit words asked for at a time; at least 1.

    Guarantees:
        Given independent uniform bits, every method has exactly the distribution it states. How long a draw takes
        depends on its value: someone who can time single draws learns about them.
    """

    def __init__(self, source: Source, block: int) -> None:
        self._source = source
        self._block = block
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A uniform integer in {0, …, bound − 1}.

        Args:
            bound: at least 1.
        """
        length = (bound - 1).bit_length()
        while True:
            drawn = self._bits(length)
            if drawn < bound:
                return drawn

    def bernoulli(self, numerator: int, denominator: int) -> bool:
        """True with probability numerator/denominator.

        The expansion of a uniform number is compared with the ratio's, 64 bits at a time, until they differ.

        Args:
            numerator: at least 0 and at most the denominator.
            denominator: at least 1.
        """
        while True:
            rest = (numerator << _WORD) - self._word() * denominator
            if rest <= 0:
                return False
            if rest >= denominator:
                return True
            numerator = rest

    def bernoulli_exp(self, numerator: int, denominator: int) -> bool:
        """True with probability e^−γ, γ = numerator/denominator (Algorithm 1).

        Args:
            numerator: at least 0.
            denominator: at least 1.
        """
        whole, part = divmod(numerator, denominator)
        return all(self._bernoulli_exp_within_one(1, 1) for _ in range(whole)) and self._bernoulli_exp_within_one(
            part, denominator
        )

    def discrete_laplace(self, scale: Fraction) -> int:
        """An integer z with probability proportional to e^(−|z|/scale) (Algorithm 2).

        With scale = t/s: u + t·v has the law of ⌊an exponential variable of scale t⌋ when u < t is kept with
        probability e^(−u/t) and v is geometric with ratio e^−1; dividing by s coarsens it to ratio e^(−s/t).

        Args:
            scale: above 0.
        """
        top, bottom = scale.numerator, scale.denominator
        while True:
            fine = self.below(top)
            if not self.bernoulli_exp(fine, top):
                continue
            while self._bernoulli_exp_within_one(1, 1):
                fine += top
            magnitude, negative = fine // bottom, self._bits(1)
            if magnitude or not negative:  # 0 has one sign only
                return -magnitude if negative else magnitude

    def discrete_gaussian(self, scale: Fraction) -> int:
        """An integer z with probability proportional to e^(−z²/(2·scale²)) (Algorithm 3).

        A discrete Laplace y of scale t = ⌊scale⌋ + 1 is kept with probability e^(−(|y| − scale²/t)²/(2·scale²)).

        Args:
            scale: above 0; the standard deviation is at most this.
        """
        square = scale * scale
        top, bottom = square.numerator, square.denominator
        wide = scale.numerator // scale.denominator + 1
        denominator = 2 * top * bottom * wide * wide
        while True:
            drawn = self.discrete_laplace(Fraction(wide))
            distance = abs(drawn) * bottom * wide - top
            if self.bernoulli_exp(distance * distance, denominator):
                return drawn

    def _bernoulli_exp_within_one(self, numerator: int, denominator: int) -> bool:
        """True with probability e^−γ for γ ≤ 1: the first failure among trials γ/1, γ/2, γ/3, … has an odd number."""
        trials = 1
        while self.bernoulli(numerator, denominator * trials):
            trials += 1
        return trials % 2 == 1

    def _bits(self, length: int) -> int:
        drawn = 0
        for _ in range(-(-length // _WORD)):
            drawn = drawn << _WORD | self._word()
        return drawn >> -length % _WORD

    def _word(self) -> int:
        if not self._words:
            self._words = self._source.bits(self._block)[::-1].tolist()
        return self._words.pop()
