"""Discrete Gaussian noise in the checker: what the comparison with normal noise costs, by the formulas in mpmath."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from mpmath import libmp, mp

from certdp.verification.checker.approximate import lattice as comparison
from certdp.verification.checker.approximate.factors import DISCRETE_GAUSSIAN, GAUSSIAN, PURE, REMOVE, Factor, Lattice
from certdp.verification.checker.approximate.lattice import compare
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import INFINITY, Arithmetic, Mpf
from certdp.verification.checker.verdict import Refused

LATTICE = Lattice(Fraction(400), 3, Fraction(4))
NOISE = Factor(DISCRETE_GAUSSIAN, Fraction(1, 2), Fraction(1, 10), 2, 5, LATTICE)
OTHER = NOISE._replace(lattice=Lattice(Fraction(100), 2, Fraction(3)), together=1)
ASKED = Fraction(7)


class Recording:
    """A δ(ε) of normal noise that keeps what it was asked about."""

    def __init__(self, answer: Mpf) -> None:
        self.answer = answer
        self.factors: Sequence[Factor] = ()
        self.epsilon = Fraction(0)

    def __call__(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        self.factors, self.epsilon = factors, epsilon
        return self.answer


def margin(factor: Factor) -> tuple[Any, Any, Any]:
    """The logarithm of the factor, what is taken from ε, and the chance of going beyond."""
    lattice, distance = factor.lattice, factor.parameter
    assert lattice is not None
    assert lattice.dimension is not None
    assert distance is not None
    releases = factor.together * factor.samples
    n = mpmath.mpf(releases * lattice.dimension)
    variance, t, shift = (mpmath.mpf(x.numerator) / x.denominator for x in (lattice.variance, lattice.spread, distance))
    reach = mpmath.sqrt(n * t) + mpmath.sqrt(n / variance) / 2 + mpmath.sqrt(releases) * shift
    raised = n / (24 * variance)
    lowered = reach**2 / (24 * variance) + 4 * n * mpmath.exp(-19 * variance)
    return raised, raised + lowered, mpmath.exp(-n * (t - 1 - mpmath.log(t)) / 2)


@pytest.mark.parametrize("factors", [[NOISE], [NOISE, OTHER], [OTHER._replace(rate=Fraction(1)), NOISE]])
def test_what_the_comparison_costs(factors: list[Factor]) -> None:
    delta = Recording(libmp.from_rational(1, 1000, 100))
    found = mp.make_mpf(compare(delta, factors, ASKED, REMOVE, Budget()))
    with mp.workprec(160):
        raised, shifted, beyond = (mp.fsum(column) for column in zip(*map(margin, factors), strict=True))
        assert mp.almosteq(mpmath.mpf(delta.epsilon.numerator) / delta.epsilon.denominator, 7 - shifted, 1e-40)
        assert mp.almosteq(found, mpmath.exp(raised) * (mpmath.mpf(1) / 1000 + beyond), 1e-25)
    assert list(delta.factors) == [f._replace(family=GAUSSIAN, lattice=None) for f in factors]


def test_nothing_is_lost_without_discrete_noise() -> None:
    others = [Factor(GAUSSIAN, Fraction(1), Fraction(1), 1, 1), Factor(PURE, Fraction(1), Fraction(1, 2), 1, 3)]
    delta, budget = Recording(libmp.fone), Budget(0)
    assert compare(delta, others, ASKED, REMOVE, budget) == libmp.fone
    assert (list(delta.factors), delta.epsilon) == (others, ASKED)


@pytest.mark.parametrize(
    "lattice",
    [None, LATTICE._replace(dimension=None), LATTICE._replace(variance=Fraction(799, 100))],
    ids=["none", "no dimension", "coarse"],
)
def test_what_cannot_be_compared_says_nothing(lattice: Lattice | None) -> None:
    assert compare(Recording(libmp.fzero), [NOISE._replace(lattice=lattice)], ASKED, REMOVE, Budget()) == INFINITY


def test_the_least_variance_is_compared() -> None:
    least = NOISE._replace(lattice=LATTICE._replace(variance=Fraction(8)))
    assert compare(Recording(libmp.fzero), [least], Fraction(100), REMOVE, Budget()) != INFINITY


def test_an_epsilon_that_is_used_up_says_nothing() -> None:
    """As does a δ that is not known."""
    assert compare(Recording(libmp.fzero), [NOISE], Fraction(1, 1000), REMOVE, Budget()) == INFINITY
    assert compare(Recording(INFINITY), [NOISE], ASKED, REMOVE, Budget()) == INFINITY


def test_the_work_is_paid_for_each_factor() -> None:
    compare(Recording(libmp.fzero), [NOISE, NOISE], ASKED, REMOVE, Budget(800_000))
    with pytest.raises(Refused, match="work budget"):
        compare(Recording(libmp.fzero), [NOISE, NOISE], ASKED, REMOVE, Budget(799_999))


def test_all_of_epsilon_may_be_taken() -> None:
    """What is left is then a level of 0, and nothing below."""
    delta = Recording(libmp.from_rational(1, 1000, 100))
    compare(delta, [NOISE], ASKED, REMOVE, Budget())
    taken, delta.epsilon = ASKED - delta.epsilon, ASKED
    assert compare(delta, [NOISE], taken, REMOVE, Budget()) != INFINITY
    assert delta.epsilon == 0
    assert compare(delta, [NOISE], taken - Fraction(1, 10**60), REMOVE, Budget()) == INFINITY


def test_the_least_term_of_the_comparison_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is far below the last bit of the others at the precision of a check."""
    monkeypatch.setattr(comparison, "_ARITHMETIC", Arithmetic(600))
    few = NOISE._replace(lattice=Lattice(Fraction(8), 3, Fraction(4)), together=1, samples=1)
    delta = Recording(libmp.from_rational(1, 1000, 100))
    compare(delta, [few], ASKED, REMOVE, Budget())
    with mp.workprec(500):
        _, shifted, _ = margin(few)
        taken = ASKED - delta.epsilon
        assert mp.almosteq(mpmath.mpf(taken.numerator) / taken.denominator, shifted, 1e-120)
