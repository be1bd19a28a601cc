"""Claims of discrete noise against continuous noise: each by the run's own laws, summed lattice point by lattice point.

The direct sums are of terms of one sign in binary64, and right to about 1e-12; what lies beyond thirteen standard
deviations is left out, which makes them smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...accounting.accountants import LOSS_DISTRIBUTION, ROUNDED_NORMAL, WorstPairs
from ...accounting.enclosures import Enclosure
from ...accounting.pairs import DiscreteGaussianVectorPair, LaplacePair, Pair
from ...accounting.pairs.rounded_normal import compared
from ...accounting.relations import Direction
from ...plugins.contract import Case, Claim, Expectation, Finding

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    Masses: TypeAlias = NDArray[np.float64]

_REACH = 13
_ROUND_OFF = 1e-9
_UNTOLD = 1e-200  # no smaller δ is summed


def _gaussian_laws(case: Case) -> tuple[Masses, Masses]:
    """The laws of one release with and without the record, on a box of the lattice."""
    variance, shift = case["variance"], case["shift"]
    reach = sum(shift) + math.ceil(_REACH * math.sqrt(variance))
    axis = np.arange(-reach, reach + 1)
    weights = np.exp(-(axis**2) / (2 * variance))
    present = absent = np.ones(1)
    for steps in shift:
        moved = np.exp(-((axis - steps) ** 2) / (2 * variance))
        present = np.multiply.outer(present, moved / weights.sum()).ravel()
        absent = np.multiply.outer(absent, weights / weights.sum()).ravel()
    rate = float(case["rate"])
    return (1 - rate) * absent + rate * present, absent


def _largest(first: Masses, second: Masses, times: int, epsilon: float) -> float:
    """The larger δ of both directions after so many releases."""
    here, there = first, second
    for _ in range(times - 1):
        here, there = np.multiply.outer(here, first).ravel(), np.multiply.outer(there, second).ravel()
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((here, there), (there, here)))


def _run(case: Case) -> Pair:
    length = Enclosure.of(sum(steps**2 for steps in case["shift"])).sqrt()
    one = DiscreteGaussianVectorPair(Fraction(case["variance"]), length, len(case["shift"]))
    return one.sampled(Enclosure.of(case["rate"])).repeated(case["times"])


def _by_comparison(pair: Pair, epsilon: Fraction) -> float:
    found = ROUNDED_NORMAL.delta(WorstPairs((pair,), ()), Enclosure.of(epsilon))
    return 1.0 if found is None else found.bounds.enclosure.upper_float


def _without_margin(pair: Pair, epsilon: Fraction) -> float:
    """A wrong form: discrete noise hides as much as normal noise."""
    found = LOSS_DISTRIBUTION.delta(WorstPairs((compared(pair).pair,), ()), Enclosure.of(epsilon))
    assert found is not None
    return found.bounds.enclosure.upper_float


def _examine_gaussian(case: Case, bound: Callable[[Pair, Fraction], float]) -> Finding:
    """Whether a bound of δ is at least the run's own."""
    direct = _largest(*_gaussian_laws(case), case["times"], float(case["epsilon"]))
    found = bound(_run(case), case["epsilon"])
    return Finding(
        holds=direct < _UNTOLD or direct * (1 - _ROUND_OFF) <= found,
        closed_form=f"δ({case['epsilon']}) ≤ {found!r}",
        independent=f"{direct!r}",
    )


def _dominating(steps: int, unit: Fraction) -> Fraction:
    return steps * unit + unit**2 / 4


def _same_shift(steps: int, unit: Fraction) -> Fraction:
    """A wrong form: the shift of the discrete pair itself."""
    return steps * unit


def _examine_laplace(case: Case, shift: Callable[[int, Fraction], Fraction]) -> Finding:
    """Whether a Laplace pair with this shift hides no more than the discrete one, at an ε of their own range."""
    steps, unit = case["steps"], case["unit"]
    epsilon = case["share"] * steps * unit
    reach = steps + math.ceil(700 / float(unit)) if unit > Fraction(1, 10) else steps + 8000
    axis = np.arange(-reach, reach + steps + 1)
    share = math.tanh(float(unit) / 2)
    present, absent = (share * np.exp(-float(unit) * np.abs(axis - centre)) for centre in (steps, 0))
    direct = _largest(present, absent, 1, float(epsilon))
    found = LaplacePair(Enclosure.of(shift(steps, unit))).delta(Enclosure.of(epsilon), Direction.REMOVE)
    return Finding(
        holds=direct * (1 - _ROUND_OFF) <= found.upper_float,
        closed_form=f"δ({float(epsilon)!r}) ≤ {found.upper_float!r}",
        independent=f"{direct!r}",
    )


def _gaussian_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    steps = st.integers(1, 8)
    once_or_twice = st.tuples(st.tuples(steps), st.integers(1, 2))
    in_two_dimensions = st.tuples(st.tuples(steps, steps), st.just(1))
    return st.builds(
        lambda variance, run, rate, epsilon: {
            "variance": variance,
            "shift": run[0],
            "times": run[1],
            "rate": rate,
            "epsilon": epsilon,
        },
        st.integers(8, 60),
        once_or_twice | in_two_dimensions,
        st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)]),
        st.fractions(0, 6, max_denominator=8),
    )


def _laplace_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "steps": st.integers(1, 20),
            "unit": st.fractions(Fraction(1, 10), 4, max_denominator=40),
            "share": st.fractions(0, 1, max_denominator=30),
        }
    )


CLAIMS: Sequence[Claim] = (
    Claim(
        id="accounting/rounded-normal",
        statement="comparison of discrete Gaussian noise with rounded normal noise",
        says="δ(ε) ≤ e^a·(δ_normal(ε − a − b) + P(χ² beyond)), a = n/24σ², b = r²/24σ² + nξ",
        cases=_gaussian_cases,
        examine=lambda case: _examine_gaussian(case, _by_comparison),
    ),
    Claim(
        id="accounting/rounded-normal-without-margin",
        statement="comparison of discrete Gaussian noise with rounded normal noise, a wrong form",
        says="δ(ε) ≤ δ_normal(ε)",
        cases=_gaussian_cases,
        examine=lambda case: _examine_gaussian(case, _without_margin),
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/discrete-laplace-by-laplace",
        statement="discrete Laplace noise dominated by Laplace noise",
        says="k steps of unit u are dominated by a Laplace pair with the shift ku + u²/4",
        cases=_laplace_cases,
        examine=lambda case: _examine_laplace(case, _dominating),
    ),
    Claim(
        id="accounting/discrete-laplace-by-laplace-same-shift",
        statement="discrete Laplace noise dominated by Laplace noise, a wrong form",
        says="k steps of unit u are dominated by a Laplace pair with the shift ku",
        cases=_laplace_cases,
        examine=lambda case: _examine_laplace(case, _same_shift),
        expectation=Expectation.REJECTED,
    ),
)
