"""Claims of PWS Section 4: reporting probabilities against Algorithm 3 in rationals and a linear programme.

Legend: g = e^ε, a rational number here; R = e^{εL}, rational with it; π_i the probability of reporting a key of
frequency i, q_i that of sampling it; κ = δ/(g − 1). Everything is decided without a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, log
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.keyed.key_sanitiser import (
    KeyReporting,
    algorithm_3,
    crossover,
    reporting_probability,
    withheld_probability,
)
from ...accounting.units import Delta, Epsilon
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles.linear_programmes import maximum
from ..oracles.sanitisers import algorithm_3 as recursion
from .enclosed import PRECISION, agrees, enclosed, enclosed_log
from .rates_of_keys import ascending_rates

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_AGREEMENT = Fraction(1, 2**96)
"""An enclosure must hold the exact number and be this narrow to be the same closed form."""
_BLUR = Fraction(1, 2**40)
_ONE = Fraction(1)

_Form: TypeAlias = Callable[[Fraction, Fraction, Fraction, int], Fraction]


def _power_at_crossover(growth: Fraction, delta: Fraction) -> Fraction:
    """Return the power R = e^{εL} of PWS Equation 3."""
    return (growth - 1 + 2 * delta) / (delta * (growth + 1))


def _least_exponent(growth: Fraction, value: Fraction) -> int:
    """The least whole m ≥ 0 with g^m ≥ value."""
    exponent, power = 0, _ONE
    while power < value:
        exponent, power = exponent + 1, power * growth
    return exponent


# Lemma 4.2


def _examine_lemma_4_2(case: Case) -> Finding:
    """The closed form, and its complement, against the recursion at q ≡ 1, in every case of L."""
    growth, delta, frequency = case["growth"], case["delta"], case["frequency"]
    exact = recursion(growth, delta, [_ONE] * frequency)[-1] if frequency else Fraction(0)
    epsilon, limit = enclosed_log(growth), enclosed(delta)
    reported = reporting_probability(epsilon, limit, frequency)
    withheld = withheld_probability(epsilon, limit, frequency)
    return Finding(
        holds=agrees(reported, exact) and withheld.contains(1 - exact) and withheld.width <= _AGREEMENT,
        closed_form=f"π = {reported}, 1 − π = {withheld}",
        independent=f"Algorithm 3: π = {exact} = {float(exact):.12g}",
    )


def _examine_interval(case: Case) -> Finding:
    """δ is only known to lie in an interval, within which ⌊L⌋ has two values."""
    growth, frequency = case["growth"], case["frequency"]
    ends = [_integral_delta(growth, case["steps"]) * (1 + sign * _BLUR) for sign in (-1, 1)]
    low, high = (recursion(growth, end, [_ONE] * frequency)[-1] for end in ends)
    epsilon, delta = enclosed_log(growth), Enclosure.between(*ends, precision=PRECISION)
    reported = reporting_probability(epsilon, delta, frequency)
    withheld = withheld_probability(epsilon, delta, frequency)
    return Finding(
        holds=reported.lower <= low
        and high <= reported.upper
        and withheld.lower <= 1 - high
        and 1 - low <= withheld.upper
        and reported.width <= _BLUR * 2**20,
        closed_form=f"π = {reported}, 1 − π = {withheld}",
        independent=f"Algorithm 3: π = {float(low):.12g} to {float(high):.12g}",
    )


def _examine_exact_epsilon(case: Case) -> Finding:
    """What is told at exact ε, against two recursions: e^ε is no rational number, but lies between two."""
    epsilon, delta = case["epsilon"], case["delta"]
    told = KeyReporting(epsilon=Epsilon(epsilon), delta=Delta(delta))
    ends = enclosed(epsilon).exp()
    runs = [_Run.of(growth, delta) for growth in (ends.lower, ends.upper)]
    first = runs[0].found.index(_ONE)
    chances = all(
        _between(told.probability(i), [run.reported(i) for run in runs])
        and _between(told.withheld(i), [1 - run.reported(i) for run in runs[::-1]])
        for i in (case["frequency"], first - 1, first, first + 1)
    )
    certain = told.probability(first).lower == 1
    crossing = told.crossover()
    power = (crossing * epsilon).exp() if epsilon else 2 * crossing + 1  # at ε = 0 the limit of the equation for L
    powers = [_power_at_crossover(run.growth, delta) if epsilon else 1 / delta for run in runs]
    steps = (told.growing_steps, told.certain_from, told.band)
    return Finding(
        holds=chances and certain and _between(power, powers) and all(run.steps == steps for run in runs),
        closed_form=f"L = {crossing}; ⌊L⌋ + 1, the first i with π_i = 1, 2⌈L⌉ = {steps}",
        independent=f"Algorithm 3: {runs[0].steps}",
    )


def _between(found: Enclosure, ends: Sequence[Fraction]) -> bool:
    """Whether an enclosure, as narrow as the same closed form's, meets these two numbers or what is between them."""
    low, high = ends
    return found.lower <= high and found.upper >= low and found.width <= 64 * _AGREEMENT * high


@frozen
class _Run:
    """Algorithm 3 at q ≡ 1 up to where it reports with probability 1."""

    growth: Fraction
    delta: Fraction
    found: list[Fraction]

    @classmethod
    def of(cls, growth: Fraction, delta: Fraction) -> _Run:
        return cls(growth, delta, [Fraction(0), *recursion(growth, delta, [_ONE] * ceil(1 / delta))])

    def reported(self, frequency: int) -> Fraction:
        """Return π_i of a frequency i; it stays at 1."""
        return self.found[min(frequency, len(self.found) - 1)]

    @property
    def steps(self) -> tuple[int, int, int]:
        """⌊L⌋ + 1, the first i with π_i = 1, 2⌈L⌉: L steps lead to where the two limits meet."""
        meeting = (1 - self.delta) / (self.growth + 1)
        growing = sum(found <= meeting for found in self.found)
        return growing, self.found.index(_ONE), 2 * (growing - (meeting in self.found))


def _examine_crossover(case: Case) -> Finding:
    """At L the two limits of Algorithm 3, gπ + δ and 1 + (π + δ − 1)/g, are one: solved for π = κ(g^L − 1)."""
    growth, delta = case["growth"], case["delta"]
    epsilon = enclosed_log(growth)
    found = (epsilon * crossover(epsilon, enclosed(delta))).exp()
    meeting = (1 - delta) * (1 - 1 / growth) / (growth - 1 / growth)
    exact = 1 + meeting * (growth - 1) / delta
    return Finding(
        holds=agrees(found, exact) and exact == _power_at_crossover(growth, delta),
        closed_form=f"e^(εL) = {found}",
        independent=f"the limits meet at π = {meeting}, where e^(εL) = {exact}",
    )


def _integral_form(growth: Fraction, delta: Fraction, power: Fraction, frequency: int) -> Fraction:
    """PWS Equation 4 with the corrected middle branch, R = e^{εL} standing for L, so that L may be any number."""
    kappa = delta / (growth - 1)
    if growth ** (frequency - 1) <= power:
        return kappa * (growth**frequency - 1)
    if growth ** (frequency - 1) <= power**2:
        return 1 - kappa * (power**2 * growth ** (1 - frequency) - 1)
    return _ONE


def _printed_form(growth: Fraction, delta: Fraction, power: Fraction, frequency: int) -> Fraction:
    """PWS Equation 4 as printed: exponent 2L + 2 − i from L + 1 on, where it contradicts the first branch."""
    kappa = delta / (growth - 1)
    if growth**frequency <= power:
        return kappa * (growth**frequency - 1)
    if growth ** (frequency - 2) < power**2:
        return 1 - kappa * (power**2 * growth ** (2 - frequency) - 1)
    return _ONE


def _integral_delta(growth: Fraction, steps: int) -> Fraction:
    """The δ at which L is the whole number `steps`."""
    return (growth - 1) / (growth**steps * (growth + 1) - 2)


def _examine_equation_4(case: Case) -> Finding:
    """The corrected Equation 4 at integral L."""
    growth, steps = case["growth"], case["steps"]
    return _compared(growth, _integral_delta(growth, steps), case["frequency"], _integral_form)


def _examine_printed(case: Case) -> Finding:
    """Equation 4 as printed, at integral L."""
    growth, steps = case["growth"], case["steps"]
    return _compared(growth, _integral_delta(growth, steps), case["frequency"], _printed_form)


def _examine_integral_only(case: Case) -> Finding:
    """The corrected Equation 4 where L need not be integral."""
    return _compared(case["growth"], case["delta"], case["frequency"], _integral_form)


def _compared(growth: Fraction, delta: Fraction, frequency: int, form: _Form) -> Finding:
    """One of the printed forms against the recursion at q ≡ 1."""
    exact = recursion(growth, delta, [_ONE] * frequency)[-1]
    power = _power_at_crossover(growth, delta)
    closed = form(growth, delta, power, frequency)
    return Finding(
        holds=closed == exact,
        closed_form=f"π = {closed} = {float(closed):.6g} with e^ε = {growth}, δ = {delta}, e^(εL) = {power}",
        independent=f"Algorithm 3: π = {exact} = {float(exact):.6g}",
    )


# Lemma 4.1: the linear programme of the DP constraints


def _constraints(
    growth: Fraction, delta: Fraction, rates: Sequence[Fraction]
) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """(ε, δ)-DP and π_i ≤ q_i for π_1, …, π_n ≥ 0: both outcomes of every two neighbouring frequencies, both ways."""
    count = len(rates)

    def row(*entries: tuple[int, Fraction]) -> tuple[Fraction, ...]:
        known = dict(entries)  # π_0 = 0 stands at −1 and is left out
        return tuple(known.get(index, Fraction(0)) for index in range(count))

    limits = [(row((index, _ONE)), rate) for index, rate in enumerate(rates)]
    for one, other in [*pairwise(range(-1, count)), *((b, a) for a, b in pairwise(range(-1, count)))]:
        limits.append((row((one, _ONE), (other, -growth)), delta))  # Pr[reported]
        limits.append((row((one, -_ONE), (other, growth)), delta + growth - 1))  # Pr[not reported]
    return limits


def _examine_lemma_4_1(case: Case) -> Finding:
    """Algorithm 3 satisfies every constraint, and no feasible π is larger at the frequency asked for."""
    growth, delta, rates, index = case["growth"], case["delta"], case["rates"], case["index"]
    found = algorithm_3(enclosed_log(growth), enclosed(delta), map(enclosed, rates))
    exact = recursion(growth, delta, rates)
    constraints = _constraints(growth, delta, rates)
    feasible = all(sum(a * b for a, b in zip(row, exact, strict=True)) <= limit for row, limit in constraints)
    objective = [Fraction(position == index) for position in range(len(rates))]
    largest = maximum(objective, constraints)
    return Finding(
        holds=feasible
        and all(map(agrees, found, exact))
        and agrees(found[index], largest)
        and all(a <= b for a, b in pairwise(exact)),
        closed_form=f"π_{index + 1} = {found[index]}",
        independent=f"the linear programme's maximum is {largest}; Algorithm 3 is {'' if feasible else 'not '}feasible",
    )


# Lemma 4.3


def _examine_lemma_4_3(case: Case) -> Finding:
    """At most 2⌈L⌉ frequencies lose to privacy."""
    growth, delta = case["growth"], case["delta"]
    power = _power_at_crossover(growth, delta)
    least = _least_exponent(growth, power)
    # an enclosure that holds a whole number holds L itself: other L are much farther from one here
    told = ceil(crossover(enclosed_log(growth), enclosed(delta)).lower)
    lost = _lost(growth, delta, case["rates"], least)
    return Finding(
        holds=lost <= 2 * told and told == least,
        closed_form=f"2⌈L⌉ = {2 * told}",
        independent=f"{lost} frequencies with π < q; ⌈L⌉ = {least}",
    )


def _printed_band(growth: Fraction, power: Fraction, lost: int) -> bool:
    """Whether `lost` ≤ 2L + 1, that is g^(lost − 1) ≤ R²."""
    return growth ** (lost - 1) <= power**2


def _examine_printed_band(case: Case) -> Finding:
    """The band 2L + 1 as printed, at any L."""
    growth, delta = case["growth"], case["delta"]
    power = _power_at_crossover(growth, delta)
    lost = _lost(growth, delta, case["rates"], _least_exponent(growth, power))
    return Finding(
        holds=_printed_band(growth, power, lost),
        closed_form=f"2L + 1 = {2 * log(power) / log(growth) + 1:.6g} with e^(εL) = {power}, e^ε = {growth}",
        independent=f"{lost} frequencies with π < q",
    )


def _lost(growth: Fraction, delta: Fraction, rates: Sequence[Fraction], least: int) -> int:
    """How many frequencies have π_i < q_i where q stays at its last value; enough of them to see an excess."""
    everything = [*rates, *[rates[-1]] * (2 * least + 2)]
    return sum(found < rate for found, rate in zip(recursion(growth, delta, everything), everything, strict=True))


# Cases


def _growths(least: Fraction = _ONE) -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(least, 6, max_denominator=8)


def _deltas(least: Fraction = Fraction(1, 1000)) -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(least, 1, max_denominator=1000)


def _small_deltas() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return _deltas() | st.integers(1, 12).map(lambda digits: Fraction(1, 10**digits))


def _frequency_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    free = st.fixed_dictionaries({"growth": _growths(), "delta": _small_deltas(), "frequency": st.integers(0, 60)})
    return free | _integral_cases().map(
        lambda case: {
            "growth": case["growth"],
            "delta": _integral_delta(case["growth"], case["steps"]),
            "frequency": case["frequency"],
        }
    )


def _parameter_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    large = st.fractions(Fraction(1, 2), 1, max_denominator=12)  # L below 1
    return st.fixed_dictionaries({"growth": _growths(Fraction(9, 8)), "delta": _small_deltas() | large})


def _halves(most: int) -> SearchStrategy[Fraction]:
    """δ with 1/δ whole or half of an odd number."""
    from hypothesis import strategies as st

    return st.integers(2, 2 * most).map(lambda count: Fraction(2, count))


def _exact_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "epsilon": st.integers(1, 20).map(lambda tenths: Fraction(tenths, 10)),
            "delta": _halves(30) | st.sampled_from([_ONE, Fraction(1, 2), Fraction(1, 9)]),
            "frequency": st.integers(0, 12),
        }
    )


def _unamplified_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"epsilon": st.just(Fraction(0)), "delta": _halves(12), "frequency": st.integers(0, 12)}
    )


def _integral_cases() -> SearchStrategy[Case]:
    return _integral_cases_from(0)


def _beyond_one_step_cases() -> SearchStrategy[Case]:
    return _integral_cases_from(1)  # L = 0 means δ = 1: nothing is hidden there


def _integral_cases_from(least: int) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.integers(least, 9).flatmap(
        lambda steps: st.fixed_dictionaries(
            {
                "growth": _growths(Fraction(9, 8)),
                "steps": st.just(steps),
                "frequency": st.integers(1, 2 * steps + 3),
            }
        )
    )


def _any_crossover_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"growth": _growths(Fraction(9, 8)), "delta": _deltas(), "frequency": st.integers(1, 20)}
    )


def _programme_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return ascending_rates(1, 5).flatmap(
        lambda rates: st.fixed_dictionaries(
            {
                "growth": _growths(),
                "delta": st.fractions(0, 1, max_denominator=50),
                "rates": st.just(rates),
                "index": st.integers(0, len(rates) - 1),
            }
        )
    )


def _band_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"growth": _growths(Fraction(3, 2)), "delta": _deltas(), "rates": ascending_rates(1, 8)}
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pws/equation-3",
        statement="PWS Equation 3",
        says="e^{εL} = (e^ε − 1 + 2δ)/(δ(e^ε + 1))",
        cases=_parameter_cases,
        examine=_examine_crossover,
    ),
    Claim(
        id="pws/lemma-4.1",
        statement="PWS Lemma 4.1",
        says="Algorithm 3 gives the largest π_i of the linear programme of the DP constraints, at every i at once",
        cases=_programme_cases,
        examine=_examine_lemma_4_1,
    ),
    Claim(
        id="pws/lemma-4.2",
        statement="PWS Lemma 4.2, for every L",
        says="the closed form at q ≡ 1 is what Algorithm 3 computes",
        cases=_frequency_cases,
        examine=_examine_lemma_4_2,
    ),
    Claim(
        id="pws/lemma-4.2-interval",
        statement="PWS Lemma 4.2, for every L",
        says="where δ is known to within 2^−40 and L about a whole number, the closed form holds π of each such δ",
        cases=_beyond_one_step_cases,
        examine=_examine_interval,
    ),
    Claim(
        id="pws/lemma-4.2-exact",
        statement="PWS Lemmas 4.2 and 4.3, for every L",
        says="at exact ε, π_i, 1 − π_i, ⌊L⌋ + 1, the first i with π_i = 1 and 2⌈L⌉ are those of Algorithm 3",
        cases=_exact_cases,
        examine=_examine_exact_epsilon,
    ),
    Claim(
        id="pws/lemma-4.2-epsilon-0",
        statement="PWS Lemmas 4.2 and 4.3, in the limit",
        says="the same at ε = 0",
        cases=_unamplified_cases,
        examine=_examine_exact_epsilon,
    ),
    Claim(
        id="pws/equation-4",
        statement="PWS Equation 4, corrected",
        says="for integral L the middle branch is 1 − κ(e^{ε(2L+1−i)} − 1), and π = 1 from 2L + 1 on",
        cases=_integral_cases,
        examine=_examine_equation_4,
    ),
    Claim(
        id="pws/equation-4-printed",
        statement="PWS Equation 4, as printed",
        says="the middle branch is 1 − κ(e^{ε(2L+2−i)} − 1), and π = 1 from 2L + 2 on",
        cases=_beyond_one_step_cases,
        examine=_examine_printed,
        expectation=Expectation.REJECTED,
        erratum="PWS-L4.2",
        witness={"growth": Fraction(2), "steps": 1, "frequency": 2},
    ),
    Claim(
        id="pws/equation-4-any-crossover",
        statement="PWS Equation 4, corrected, for every L",
        says="the form for integral L holds for every L",
        cases=_any_crossover_cases,
        examine=_examine_integral_only,
        expectation=Expectation.REJECTED,
        erratum="PWS-L any L",
        witness={"growth": Fraction(2), "delta": Fraction(1, 8), "frequency": 3},
    ),
    Claim(
        id="pws/lemma-4.3",
        statement="PWS Lemma 4.3, corrected",
        says="at most 2⌈L⌉ frequencies have π_i < q_i, whatever the non-decreasing q",
        cases=_band_cases,
        examine=_examine_lemma_4_3,
    ),
    Claim(
        id="pws/lemma-4.3-printed",
        statement="PWS Lemma 4.3, for every L",
        says="at most 2L + 1 frequencies have π_i < q_i",
        cases=_band_cases,
        examine=_examine_printed_band,
        expectation=Expectation.REJECTED,
        erratum="PWS-L4.3",
        witness={"growth": Fraction(4), "delta": Fraction(1, 50), "rates": (Fraction(1),)},
    ),
)
