"""Enclosures of the sampled Gaussian's Rényi divergences, against Arb's certified quadrature and against laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from flint import acb, arb
from hypothesis import assume, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import sampled_gaussian_renyi as sampled_gaussian_renyi_module
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi, sampled_gaussian_renyi_add
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

LAWS = {"remove": sampled_gaussian_renyi, "add": sampled_gaussian_renyi_add}
CASES = [  # rate, shift, order
    (0.01, 1.0, "8"),
    (0.01, 1.0, "2.5"),
    (0.01, 1.0, "1.0001"),
    (1e-8, 0.02, "512"),
    (1e-8, 0.02, "511.5"),
    (0.5, 0.004, "100000.5"),
    (1e-6, 0.05, "10000.5"),
    (0.3, 2.0, "1.4"),
    (0.99, 0.7, "43"),
    (0.99, 0.7, "42.25"),
    (1e-4, 0.3, "800.3"),
    (1e-9, 0.01, "400000.3"),
    (1 - 2.0**-53, 0.7, "3.25"),
    (0.2, 6.0, "1.5"),
    (1e-40, 1e-3, "3.5"),
    (0.1, 0.1, "1001"),  # one peak, far out
    (0.2091796418936525, 0.041243590933982305, "1454.9"),  # peaks that nearly merge
]


def arb_divergence(rate: float, shift: float, order: Fraction, direction: str) -> arb:
    """log(1 + E[(1 + y)^γ − 1 − γ·y])/(α − 1), by adaptive quadrature with a proven error."""
    gamma = order if direction == "remove" else 1 - order
    q, s, g = acb(rate), acb(shift), acb(arb_of(gamma))

    def integrand(x: acb, analytic: bool) -> acb:
        density = 1 + q * ((s * (x - s / 2)).exp() - 1)
        power: acb = (density.log(analytic=analytic) * g - x * x / 2).exp()
        return power - (-x * x / 2).exp() * (1 + (density - 1) * g)

    low, high = -70.0 + min(0.0, float(gamma) * shift), 70.0 + max(0.0, float(gamma) * shift)
    integral: Any = acb.integral(integrand, low, high, rel_tol=arb(2) ** -110, eval_limit=10**6, depth_limit=10**4)
    excess = integral.real / (2 * arb.pi()).sqrt()
    divergence: arb = excess.log1p() / arb_of(order - 1)
    return divergence


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("rate", "shift", "order"), CASES)
def test_encloses_the_integral(rate: float, shift: float, order: str, direction: str) -> None:
    alpha = Fraction(order)
    flint.ctx.prec = 220 if rate > 1e-20 else 500
    true = arb_divergence(rate, shift, alpha, direction)
    found = LAWS[direction](Enclosure.of(rate), Enclosure.of(shift), alpha, precision=80)
    assert true.rel_accuracy_bits() > 60
    assert arb_of(found.lower) <= true + abs(true) * arb(2) ** -60
    assert arb_of(found.upper) >= true - abs(true) * arb(2) ** -60
    assert true.overlaps(arb_of(found.lower).union(arb_of(found.upper)))
    width = found.relative_width
    assert width is not None
    assert width < Fraction(1, 2**70)


RATES = st.floats(1e-12, 1.0, exclude_max=True)
SHIFTS = st.floats(1e-3, 3.0)
ORDERS = st.fractions(Fraction(11, 10), 60, max_denominator=50)


@pytest.mark.parametrize("direction", ["remove", "add"])
@examples(12)
@given(rate=RATES, shift=SHIFTS, order=ORDERS)
def test_encloses_the_integral_at_random(direction: str, rate: float, shift: float, order: Fraction) -> None:
    flint.ctx.prec = 250
    true = arb_divergence(rate, shift, order, direction)
    found = LAWS[direction](Enclosure.of(rate), Enclosure.of(shift), order, precision=64)
    assert true.overlaps(arb_of(found.lower).union(arb_of(found.upper)))
    width = found.relative_width
    assert width is not None
    assert width < Fraction(1, 2**55)


@pytest.mark.soundness
@pytest.mark.parametrize("direction", ["remove", "add"])
@examples(400)
@given(rate=RATES, shift=st.floats(1e-5, 8.0), order=st.fractions(Fraction(10, 9), 900, max_denominator=9))
def test_encloses_the_integral_at_many_more(direction: str, rate: float, shift: float, order: Fraction) -> None:
    flint.ctx.prec = 400
    true = arb_divergence(rate, shift, order, direction)
    found = LAWS[direction](Enclosure.of(rate), Enclosure.of(shift), order, precision=64)
    assert true.overlaps(arb_of(found.lower).union(arb_of(found.upper)))


def explicit_sum(rate: Fraction, shift: Fraction, order: int) -> arb:
    """Σ C(α, k)(1 − q)^(α−k) q^k e^(k(k−1)s²/2), as DPIS and Mironov et al. print it."""
    q, s = arb_of(rate), arb_of(shift)
    terms = (
        math.comb(order, k) * (1 - q) ** (order - k) * q**k * (s * s * (k * (k - 1)) / 2).exp()
        for k in range(order + 1)
    )
    return sum(terms, arb(0)).log() / (order - 1)


@pytest.mark.parametrize("order", [2, 3, 17, 64])
@pytest.mark.parametrize(("rate", "shift"), [("1/100", "1"), ("9/10", "1/3"), ("1/1000", "5/2"), ("1/2", "40")])
def test_integer_orders_are_the_binomial_sum(rate: str, shift: str, order: int) -> None:
    flint.ctx.prec = 300
    found = sampled_gaussian_renyi(Enclosure.of(rate), Enclosure.of(shift), Fraction(order))
    true = explicit_sum(Fraction(rate), Fraction(shift), order)
    assert true.overlaps(arb_of(found.lower).union(arb_of(found.upper)))
    assert found.upper - found.lower < found.upper / 2**80


@pytest.mark.parametrize("law", LAWS.values())
def test_ends_are_exact(law: Callable[..., Enclosure]) -> None:
    zero, one, third = Enclosure.of(0), Enclosure.of(1), Enclosure.of("0.375")
    for order in (Fraction(3, 2), Fraction(7)):
        assert law(zero, third, order) == Enclosure.of(0, precision=128)
        assert law(third, zero, order) == Enclosure.of(0, precision=128)
        found = law(one, third, order)
        assert found.is_point
        assert found.lower == order * Fraction(3, 8) ** 2 / 2


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values())
@pytest.mark.parametrize(
    ("rate", "shift", "order"),
    [
        (1e-300, 1.0, "5.5"),
        (5e-324, 1e-6, "2.5"),
        (0.1, 1000.0, "3.5"),
        (1e-5, 1000.0, "1.0001"),
        (0.5, 1e5, "1000000.5"),
        (0.5, 1e9, "1e30"),
        (0.5, 1.0, "1e400"),
        (0.01, 1.0, "1000000"),
        (1e-9, 0.05, "1000000"),
        (0.5, 1e-300, "2"),
        (1 - 2.0**-53, 100.0, "2.5"),
    ],
)
def test_corners_give_a_proven_answer(law: Callable[..., Enclosure], rate: float, shift: float, order: str) -> None:
    found = law(Enclosure.of(rate), Enclosure.of(shift), Fraction(order), precision=64)
    gaussian = Fraction(order) * Fraction(shift) ** 2 / 2
    assert 0 <= found.lower <= found.upper <= gaussian * (1 + Fraction(1, 2**60))


def test_tiny_divergences_keep_their_digits() -> None:
    """τ = α·q²·(e^(s²) − 1)/2 to the first order in q."""
    q, s, order = Fraction(1, 10**30), Fraction(1, 50), Fraction(7, 2)
    first = (Enclosure.of(s, precision=200).square().expm1() * (order * q * q / 2)).midpoint
    for law in LAWS.values():
        found = law(Enclosure.of(q), Enclosure.of(s), order)
        assert abs(found.midpoint / first - 1) < Fraction(1, 10**25)


@pytest.mark.parametrize("rate", ["1e-600", "1e-3000"])
@pytest.mark.parametrize("order", ["17/16", "5/2", "7", "401/2"])
@pytest.mark.parametrize("law", LAWS.values())
def test_rates_that_no_rule_can_resolve_are_answered_between_whole_orders(
    law: Callable[..., Enclosure], rate: str, order: str, counted: Callable[..., tuple[Enclosure, int]]
) -> None:
    """τ is near α·q²·(e^(s²) − 1)/2 also there, and the work does not grow as the rate falls."""
    q, s, alpha = Enclosure.of(rate), Enclosure.of("1/2"), Fraction(order)
    found, calls = counted(lambda: law(q, s, alpha))
    assert calls < 400_000
    first = (Enclosure.of("1/4", precision=200).expm1() * (alpha * Fraction(rate) ** 2 / 2)).midpoint
    assert found.lower <= first * (1 + Fraction(1, 10**9))
    assert first * (1 - Fraction(1, 10**9)) <= found.upper <= 2 * first


@pytest.mark.parametrize("rate", ["1e-100", "1e-330", "1e-450"])
@pytest.mark.parametrize("order", ["17/16", "5/2", "7", "401/2"])
@pytest.mark.parametrize("law", LAWS.values())
def test_no_more_bits_are_worked_with_as_the_rate_falls(
    law: Callable[..., Enclosure], rate: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There τ is α·q²·(e^(s²) − 1)/2 to the first order in q."""
    bits: list[int] = []
    by_rule = sampled_gaussian_renyi_module._trapezoid

    def recorded(moment: Any, plan: Any) -> Enclosure | None:
        bits.append(moment.precision)
        return by_rule(moment, plan)

    monkeypatch.setattr(sampled_gaussian_renyi_module, "_trapezoid", recorded)
    s, alpha = Enclosure.of("1/2"), Fraction(order)
    found = law(Enclosure.of(rate), s, alpha)
    assert max(bits, default=0) < 600
    first = (Enclosure.of("1/4", precision=200).expm1() * (alpha * Fraction(rate) ** 2 / 2)).midpoint
    assert abs(found.lower / first - 1) < Fraction(1, 10**24)
    assert abs(found.upper / first - 1) < Fraction(1, 10**24)


@examples(15)
@given(rate=RATES, shift=SHIFTS, order=ORDERS, place=st.fractions(-8, 8, max_denominator=64))
def test_a_node_by_its_leading_term_holds_the_node(rate: float, shift: float, order: Fraction, place: Fraction) -> None:
    """Wherever the leading term is taken: also far sooner than where it is as good as the difference."""
    q, s = Enclosure.of(rate, precision=400), Enclosure.of(shift, precision=400)
    assume(0 < rate < 1 and shift)
    for gamma in (order, 1 - order):
        sharp = sampled_gaussian_renyi_module._Moment(gamma, q, s, 10_000).integrand(place)
        for close in (2, 4, 10, 40, 140):
            found = sampled_gaussian_renyi_module._Moment(gamma, q, s, close).integrand(place)
            assert found.lower <= sharp.upper
            assert sharp.lower <= found.upper


@examples(15)
@given(rate=RATES, shift=SHIFTS, order=ORDERS)
def test_between_whole_orders_lies_the_divergence(rate: float, shift: float, order: Fraction) -> None:
    q, s = Enclosure.of(rate), Enclosure.of(shift)
    for law in LAWS.values():
        sharp = law(q, s, order, precision=64)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sampled_gaussian_renyi_module, "_MOST_BITS", 0)
            assert law(q, s, order, precision=64).contains(sharp)


@pytest.mark.slow
def test_grows_with_rate_shift_and_order() -> None:
    base = (Fraction(1, 20), Fraction(3, 4), Fraction(9, 2))
    more = [(Fraction(1, 19), *base[1:]), (base[0], Fraction(4, 5), base[2]), (*base[:2], Fraction(14, 3))]
    for law in LAWS.values():
        low = law(Enclosure.of(base[0]), Enclosure.of(base[1]), base[2])
        for q, s, order in more:
            assert law(Enclosure.of(q), Enclosure.of(s), order).lower > low.upper


@pytest.mark.slow
def test_ranges_of_rate_and_shift_are_covered() -> None:
    q, s, order = Enclosure.between("0.01", "0.02"), Enclosure.between("0.9", "1.1"), Fraction(5, 2)
    for law in LAWS.values():
        whole = law(q, s, order)
        for rate, shift in (("0.01", "0.9"), ("0.02", "1.1"), ("0.013", "1.02")):
            assert whole.contains(law(Enclosure.of(rate), Enclosure.of(shift), order).midpoint)


@examples(15)
@given(rate=RATES, shift=SHIFTS, order=ORDERS)
def test_remove_dominates_add(rate: float, shift: float, order: Fraction) -> None:
    """Mironov, Talwar, Zhang 2019, Theorem 5."""
    q, s = Enclosure.of(rate), Enclosure.of(shift)
    remove = sampled_gaussian_renyi(q, s, order, precision=64)
    assert sampled_gaussian_renyi_add(q, s, order, precision=64).lower <= remove.upper


@pytest.mark.parametrize("law", LAWS.values())
def test_bad_input_is_refused(law: Callable[..., Enclosure]) -> None:
    half = Enclosure.of("0.5")
    with pytest.raises(InvalidValue, match="order"):
        law(half, half, Fraction(1))
    with pytest.raises(InvalidValue, match="rate"):
        law(Enclosure.of("1.5"), half, Fraction(2))
    with pytest.raises(InvalidValue, match="shift"):
        law(half, Enclosure.of(-1), Fraction(2))
    with pytest.raises(InvalidType):
        law(0.5, half, Fraction(2))
    with pytest.raises(InvalidType):
        law(half, half, 2.5)
    with pytest.raises(InvalidValue, match="precision"):
        law(half, half, Fraction(2), precision=1)
