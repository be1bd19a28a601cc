"""How likely a key may be reported under (ε, δ)-DP: the key sanitiser of PWS Section 4, per frequency.

Legend: i ≥ 0 is the frequency of a key, one element of which is the unit of privacy; q_i the probability with which
the sampler keeps the key; π_i the probability that it is kept and then reported; S_m = 1 + e^ε + … + e^{ε(m−1)}.

Under (ε, δ)-DP each of the two outcomes "reported" and "not reported" is compared at the frequencies i − 1 and i. With
A(π) = e^ε·π + δ and B(π) = 1 − e^−ε(1 − π − δ), both increasing, that is π_i ≤ A(π_{i−1}) and π_i ≤ B(π_{i−1}); the
two constraints the other way round are slack where π does not fall. PWS Algorithm 3 takes all three limits at once:
π_0 = 0, π_i = min(q_i, A(π_{i−1}), B(π_{i−1})).

Closed form at q ≡ 1, for every L (PWS Lemma 4.2 is stated for integral L, erratum PWS-L any L; the middle branch of the
printed Equation 4 is off by one, erratum PWS-L4.2). Derivation:

1. A(π) ≤ B(π) exactly where π ≤ (1 − δ)/(e^ε + 1), and A(π) ≤ 1 there.
2. n steps of A from 0 give δ·S_n. Hence step i is one of A exactly where i − 1 ≤ L, with e^{εL} =
   1 + (1/δ − 1)(e^ε − 1)/(e^ε + 1), which is Equation 3. As B(π) ≥ π for π ≤ 1, later steps are of B: A rules up to
   n = ⌊L⌋ + 1.
3. k steps of B turn 1 − π into e^{−εk}(1 − π − δ·S_k). So π_{n+k} = min(1, 1 − e^{−εk}(1 − δ(S_n + S_k))).
4. From Equation 3, δ(S_n + S_k) ≥ 1 exactly where e^{εn} + e^{εk} ≥ e^{εL} + e^{ε(L+1)}. For integral L, n = L + 1 and
   this begins at k = L: π_i = 1 from 2L + 1 on. Otherwise L < n < L + 1 < n + 1, so it begins at k = n or k = n + 1.
5. A and B are increasing, so any order of steps gives at least π_i: step 3 with another n bounds π_i from above.

Lemma 4.3 for every non-decreasing q: a step with π_i < q_i is F = min(A, B), any other one does not lower π. F is
increasing, so after m such steps π_i ≥ F^m(0), the π_m of q ≡ 1. As π_i < q_i ≤ 1, m is below the first frequency at
which that is 1: by step 4, m ≤ 2⌈L⌉.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil, floor
from typing import final

from attrs import frozen

from ..enclosures import DEFAULT_PRECISION, Enclosure, Truth, decide
from ..enclosures.arguments import whole
from ..errors import InvalidValue, OutsideDomain, Undecided
from ..units import Delta, Epsilon

_GUARD = 32
_FURTHER = 8
_CANDIDATES = 2
"""Known to within one, ⌊L⌋ has at most two values."""


def crossover(epsilon: Enclosure, delta: Enclosure) -> Enclosure:
    """L = (1/ε)·ln((e^ε − 1 + 2δ)/(δ(e^ε + 1))) (PWS Equation 3); its limit (1/δ − 1)/2 at ε = 0.

    Args:
        epsilon: enclosure of ε, above 0 or the point 0.
        delta: enclosure of δ in (0, 1].

    Raises:
        OutsideDomain: where δ reaches 0, or ε reaches 0 without being known to be 0.
    """
    odds = (1 / delta - 1).maximum(0)
    if _is_zero(epsilon):
        return odds / 2
    ratio = -(-epsilon).expm1() / ((-epsilon).exp() + 1)
    return (odds * ratio).log1p() / epsilon


def reporting_probability(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
    """π_i for a sampler that keeps every key, q ≡ 1 (PWS Lemma 4.2, for every L).

    Args:
        epsilon: enclosure of ε, above 0 or the point 0.
        delta: enclosure of δ in (0, 1].
        frequency: i ≥ 0, of any size.

    Guarantees:
        Holds π_i, relatively accurate for i ≤ ⌊L⌋; exactly 1 from 2⌊L⌋ + 3 on.

    Raises:
        InvalidValue, InvalidType: for a frequency that is no whole number ≥ 0.
        OutsideDomain: where δ reaches 0, or ε and δ do not tell ⌊L⌋ to within one.
    """
    steps = _growing_steps(epsilon, delta)
    if whole("frequency", frequency, 0) > 2 * steps[-1]:
        return Enclosure.of(1, precision=epsilon.precision)
    bounds = [_reported(epsilon, delta, min(n, frequency), frequency) for n in steps]
    return bounds[0].minimum(bounds[-1])


def withheld_probability(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
    """1 − π_i for a sampler that keeps every key; arguments and errors as for `reporting_probability`.

    Guarantees:
        Holds 1 − π_i, relatively accurate where 1 − π_i is small but far from 0; exactly 0 from 2⌊L⌋ + 3 on.
    """
    steps = _growing_steps(epsilon, delta)
    if whole("frequency", frequency, 0) > 2 * steps[-1]:
        return Enclosure.of(0, precision=epsilon.precision)
    bounds = [_withheld(epsilon, delta, min(n, frequency), frequency) for n in steps]
    return bounds[0].maximum(bounds[-1])


def algorithm_3(epsilon: Enclosure, delta: Enclosure, rates: Iterable[Enclosure]) -> list[Enclosure]:
    """π_1, π_2, … for a sampler that keeps a key of frequency i with probability q_i (PWS Algorithm 3, Lemma 4.1).

    Args:
        epsilon: enclosure of ε ≥ 0.
        delta: enclosure of δ in [0, 1].
        rates: enclosures of q_1 ≤ q_2 ≤ …, each in [0, 1].

    Guarantees:
        Each holds the largest π_i that (ε, δ)-DP admits, for all i at once.

    Raises:
        InvalidValue: where a rate lies below the one before.
        OutsideDomain: where ε reaches 2**62.
    """
    growth, decay = epsilon.exp(), (-epsilon).exp()
    found: list[Enclosure] = []
    before = reported = Enclosure.of(0, precision=epsilon.precision)
    for rate in rates:
        if rate.less(before) is Truth.TRUE:
            raise InvalidValue("rates", rate, f"at least the one before, {before}", "PWS needs non-decreasing rates")
        before = rate
        reported = rate.minimum(growth * reported + delta).minimum(1 - decay * (1 - reported - delta))
        found.append(reported)
    return found


@final
@frozen(kw_only=True)
class KeyReporting:
    """The optimal reporting probabilities for a sampler that keeps every key, q ≡ 1, at exact ε and δ.

    With a threshold sampler by ppswor and f(i) = i they hold up to where they reach q_i (PWS Lemma 4.4).

    Args:
        epsilon: ε ≥ 0.
        delta: δ, above 0: at δ = 0 no key may ever be reported.

    Raises:
        InvalidValue: at δ = 0.
    """

    epsilon: Epsilon
    delta: Delta

    def __attrs_post_init__(self) -> None:
        if not self.delta.value:
            raise InvalidValue("delta", 0, "0 < δ ≤ 1", "At δ = 0 no key may ever be reported")

    def crossover(self, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """L of PWS Equation 3, relatively accurate to about `precision` bits."""
        return self._accurate(crossover, precision)

    def probability(self, frequency: int, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """π_i, relatively accurate to about `precision` bits.

        Args:
            frequency: i ≥ 0, of any size.
            precision: bits of the ends.

        Raises:
            InvalidValue, InvalidType: for a frequency that is no whole number ≥ 0.
            Undecided: where no admissible working precision reaches that accuracy.
        """
        if whole("frequency", frequency, 0) >= self.certain_from:
            return Enclosure.of(1, precision=precision)
        return self._accurate(lambda e, d: reporting_probability(e, d, frequency), precision)

    def withheld(self, frequency: int, *, precision: int = DEFAULT_PRECISION) -> Enclosure:
        """1 − π_i, relatively accurate to about `precision` bits; as `probability` otherwise."""
        if whole("frequency", frequency, 0) >= self.certain_from:
            return Enclosure.of(0, precision=precision)
        return self._accurate(lambda e, d: withheld_probability(e, d, frequency), precision)

    @property
    def growing_steps(self) -> int:
        """⌊L⌋ + 1: up to this frequency π_i = δ·S_i.

        Decided: for rational ε > 0 and δ < 1 the equation e^{εL}δ(e^ε + 1) = e^ε − 1 + 2δ would make e^ε
        algebraic if L were whole, against Lindemann's theorem. At δ = 1 the enclosure of L is the point 0.

        Raises:
            Undecided: where L is too near a whole number for the admissible precisions.
        """
        if not self.epsilon.value:
            return floor((1 / self.delta.value - 1) / 2) + 1  # L is rational
        steps: list[int] = []

        def known(precision: int) -> Truth:
            epsilon, delta = self._enclosed(precision)
            try:
                steps[:] = _growing_steps(epsilon, delta)
            except OutsideDomain:
                return Truth.UNDECIDED
            return Truth.TRUE if steps[0] == steps[-1] else Truth.UNDECIDED

        decide(known)
        return steps[0]

    @property
    def certain_from(self) -> int:
        """The first frequency with π_i = 1; Undecided as for `growing_steps`."""
        epsilon, delta = self.epsilon.value, self.delta.value
        if not epsilon or delta == 1:
            return ceil(1 / delta)  # every step adds δ at ε = 0
        n = self.growing_steps

        def twice_reaches_one(precision: int) -> Truth:
            e, d = self._enclosed(precision)
            return (2 * d * _powers(e, n)).greater_equal(1)

        # a tie needs n = 1 and δ = ½, which is exact: otherwise e^ε would be algebraic
        return 2 * n if decide(twice_reaches_one) else 2 * n + 1

    @property
    def band(self) -> int:
        """2⌈L⌉: at most so many frequencies i ≥ 1 have π_i < q_i, whatever the non-decreasing q (PWS Lemma 4.3).

        The lemma says 2L + 1, which is short for L that is not integral (erratum PWS-L4.3). `certain_from` − 1 is the
        exact number at q ≡ 1. Undecided as for `growing_steps`.
        """
        if not self.epsilon.value or self.delta.value == 1:
            return 2 * ceil((1 / self.delta.value - 1) / 2)
        return 2 * self.growing_steps

    def _enclosed(self, precision: int) -> tuple[Enclosure, Enclosure]:
        epsilon, delta = (Enclosure.of(unit.value, precision=precision) for unit in (self.epsilon, self.delta))
        return epsilon, delta

    def _accurate(self, function: Callable[[Enclosure, Enclosure], Enclosure], precision: int) -> Enclosure:
        """The value of `function`, at whatever working precision makes it relatively accurate to `precision` bits."""
        working = precision + _GUARD
        for _ in range(_FURTHER):
            try:
                value = function(*self._enclosed(working))
            except OutsideDomain:  # L is not known to within one
                working *= 2
                continue
            width = value.relative_width
            if width is not None and width <= Fraction(1, 2**precision):
                return value.at(precision)
            working *= 2
        raise Undecided(
            f"{working // 2} bits do not tell the value for ε = {self.epsilon}, δ = {self.delta} to {precision} bits: "
            "ask for less precision, or call the function on enclosures, which gives an absolute bound."
        )


def _is_zero(epsilon: Enclosure) -> bool:
    return epsilon.is_point and epsilon.contains(0)


def _growing_steps(epsilon: Enclosure, delta: Enclosure) -> range:
    """The candidates for ⌊L⌋ + 1, one or two."""
    known = crossover(epsilon, delta)
    candidates = range(floor(known.lower) + 1, floor(known.upper) + 2)
    if candidates[-1] - candidates[0] >= _CANDIDATES:
        raise OutsideDomain(f"the crossover frequency of PWS Equation 3 is only known as {known}; raise the precision.")
    return candidates


def _powers(epsilon: Enclosure, count: int) -> Enclosure:
    """S_m = 1 + e^ε + … + e^{ε(m−1)}, exact for m ≤ 1 and at ε = 0."""
    if count <= 1 or _is_zero(epsilon):
        return Enclosure.of(count, precision=epsilon.precision)
    # not expm1(εm)/expm1(ε), which would overflow for huge ε
    return (epsilon * (count - 1)).exp() * ((-epsilon * count).expm1() / (-epsilon).expm1())


def _withheld(epsilon: Enclosure, delta: Enclosure, grown: int, frequency: int) -> Enclosure:
    """1 − π after `grown` steps of A and then steps of B (step 3 above); at most 1 − π_i (step 5)."""
    further = frequency - grown
    rest = 1 - delta * (_powers(epsilon, grown) + _powers(epsilon, further))
    return ((-epsilon * further).exp() * rest).maximum(0)


def _reported(epsilon: Enclosure, delta: Enclosure, grown: int, frequency: int) -> Enclosure:
    """π after `grown` steps of A and then steps of B; at least π_i. Relatively accurate where none is of B."""
    if grown == frequency:
        return (delta * _powers(epsilon, grown)).minimum(1)
    return 1 - _withheld(epsilon, delta, grown, frequency)
